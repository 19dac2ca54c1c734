#include "lib/cost/RematChains.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::cost {

constexpr size_t kLongest = 32;

RematChains::RematChains(const RematProgram &program) : program(program), offsets{0} {
  for (const RematBlock &block : program.blocks)
    offsets.push_back(offsets.back() + static_cast<int>(block.storages.size()));
  chosen.assign(offsets.back(), 0);
  readers.resize(offsets.back());
  for (auto [b, block] : llvm::enumerate(program.blocks))
    for (auto [s, maker] : llvm::enumerate(block.makers))
      for (int read : maker.reads)
        readers[offsets[b] + read].push_back(static_cast<int>(s));
}

int64_t RematChains::bytesAround(const Recompute &value) const {
  const RematBlock &block = program.blocks[value.block];
  int offset = offsets[value.block];
  llvm::SmallVector<int, kLongest> seen{value.storage};
  int64_t bytes = 0;
  auto visit = [&](int s) {
    if (!chosen[offset + s] || llvm::is_contained(seen, s))
      return;
    bytes += block.storages[s].bytes;
    seen.push_back(s);
  };
  for (size_t i = 0; i < seen.size() && seen.size() < kLongest; ++i) {
    llvm::for_each(block.makers[seen[i]].reads, visit);
    llvm::for_each(readers[offset + seen[i]], visit);
  }
  return bytes;
}

} // namespace tessera::cost
