#include "test/gpu/emulator/BlockRun.h"

#include <algorithm>
#include <numeric>

namespace tessera::emulator {

std::string Machine::run(const Kernel &kernel, const Shape &shape, const uint8_t *parameters,
                         uint32_t launch, Counts &counts) {
  ++counts.launches;
  counts.blocks += shape.blocks;
  if (sample_ && counts.launches > 1)
    return "";
  std::vector<uint32_t> blocks(shape.blocks);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random_);
  // Of a sample all blocks of a small launch: which sectors it touches at all is known then. Of long blocks, as products
  // have, two are enough.
  constexpr uint64_t kFew = 4, kMostInstructions = 1 << 20, kFewest = 2, kLong = 1 << 22;
  bool isSmall = blocks.size() <= kFew * sample_;
  uint64_t before = counts.instructions, done = 0;
  Sectors sectors;
  try {
    for (uint32_t block : blocks) {
      uint64_t executed = counts.instructions - before;
      if (sample_ && ((done >= sample_ && (!isSmall || executed > kMostInstructions)) ||
                      (done >= kFewest && executed > kLong)))
        break;
      ++done;
      BlockRun(kernel, shape, parameters, launch, block, memory_, globals_, module_, random_,
               counts, sectors, /*notesBanks=*/block == blocks.front())
          .run();
    }
  } catch (const Wrong &wrong) {
    return "kernel " + kernel.name + ", " + wrong.what();
  }
  counts.carriedOut += done;
  counts.leastSectorsRead += sectors.read.size();
  counts.leastSectorsWritten += sectors.written.size();
  return "";
}

} // namespace tessera::emulator
