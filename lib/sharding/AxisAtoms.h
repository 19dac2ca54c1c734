// Axes cut into the parts that two layouts tell apart, so that sets and orders of axes are those of
// small numbers.
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::sharding {

using Atoms = llvm::SmallVector<uint8_t, 4>;

// x:8 in {x} and {x:(1)2} is cut into atoms x:(1)2 and x:(2)4.
class AxisAtoms {
public:
  // With `primes`, atoms are cut further, to prime sizes.
  AxisAtoms(const Mesh &mesh, llvm::ArrayRef<AxisRef> refs, bool primes);

  bool valid() const {
    return ok;
  } // false when parts overlap without dividing one another, as x:(1)2 and x:(1)3
  size_t count() const { return atoms.size(); }
  int64_t size(uint8_t atom) const { return atoms[atom].size; }
  int64_t shards(llvm::ArrayRef<uint8_t> of) const;
  Atoms cut(llvm::ArrayRef<AxisRef> refs) const; // parts of size 1 vanish
  AxisRefs refs(llvm::ArrayRef<uint8_t> of) const;

private:
  llvm::SmallVector<AxisRef> atoms;
  bool ok = true;
};

} // namespace tessera::sharding
