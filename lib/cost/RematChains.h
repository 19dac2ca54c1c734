// Values that are computed again, and whose copies need one another.
#pragma once

#include "lib/cost/Remat.h"

namespace tessera::cost {

// Their copies are there at the same time: sets of those, with their bytes.
class RematChains {
public:
  explicit RematChains(const RematProgram &program);

  void add(const Recompute &value) { chosen[offsets[value.block] + value.storage] = 1; }
  std::vector<char> choices() const { return chosen; }
  void restore(std::vector<char> choices) { chosen = std::move(choices); }

  // Of the chain that a value would be a part of, without it; up to a length.
  int64_t bytesAround(const Recompute &value) const;

private:
  const RematProgram &program;
  std::vector<int> offsets;
  std::vector<char> chosen;
  std::vector<llvm::SmallVector<int, 2>> readers; // what is computed from it
};

} // namespace tessera::cost
