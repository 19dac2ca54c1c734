#include "lib/sharding/AxisAtoms.h"

#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

namespace tessera::sharding {

static int64_t smallestPrime(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

AxisAtoms::AxisAtoms(const Mesh &mesh, llvm::ArrayRef<AxisRef> refs, bool primes) {
  std::map<int32_t, std::set<int64_t>> cuts;
  for (const AxisRef &ref : refs)
    if (ref.size > 1)
      cuts[ref.axis].insert({ref.preSize, ref.preSize * ref.size});
  for (auto &[axis, points] : cuts) {
    int64_t previous = 0;
    for (int64_t point : points) {
      if (previous) {
        if (point % previous != 0) {
          ok = false;
          return;
        }
        while (previous < point) {
          int64_t size = primes ? smallestPrime(point / previous) : point / previous;
          atoms.push_back({axis, previous, size});
          previous *= size;
        }
      }
      previous = point;
    }
  }
}

int64_t AxisAtoms::shards(llvm::ArrayRef<uint8_t> of) const {
  int64_t n = 1;
  for (uint8_t atom : of)
    n *= atoms[atom].size;
  return n;
}

Atoms AxisAtoms::cut(llvm::ArrayRef<AxisRef> refs) const {
  Atoms out;
  for (const AxisRef &ref : refs)
    for (size_t i = 0; i < atoms.size(); ++i) // atoms of an axis are in order, major to minor
      if (overlap(ref, atoms[i]))
        out.push_back(i);
  return out;
}

AxisRefs AxisAtoms::refs(llvm::ArrayRef<uint8_t> of) const {
  AxisRefs out;
  for (uint8_t atom : of)
    out.push_back(atoms[atom]);
  return normalized(out);
}

} // namespace tessera::sharding
