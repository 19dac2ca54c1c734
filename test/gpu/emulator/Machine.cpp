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
  if (sample_ && sample_ < blocks.size())
    blocks.resize(sample_);
  counts.carriedOut += blocks.size();
  try {
    for (uint32_t block : blocks)
      BlockRun(kernel, shape, parameters, launch, block, memory_, globals_, module_, random_,
               counts, /*notesBanks=*/block == blocks.front())
          .run();
  } catch (const Wrong &wrong) {
    return "kernel " + kernel.name + ", " + wrong.what();
  }
  return "";
}

} // namespace tessera::emulator
