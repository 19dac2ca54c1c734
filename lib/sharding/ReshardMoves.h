// The moves of the search for a reshard: from one layout to those that one collective, or none,
// leads to.
#pragma once

#include "lib/sharding/AxisAtoms.h"
#include "lib/sharding/ReshardSearch.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>

namespace tessera::sharding {

// Few atoms, in place: a search copies states a lot.
class AtomList {
public:
  static constexpr size_t kMost = 31; // each halves the devices at least

  AtomList() = default;
  AtomList(std::initializer_list<uint8_t> some) { append(some.begin(), some.end()); }
  AtomList(const uint8_t *from, const uint8_t *to) { append(from, to); }
  AtomList(llvm::ArrayRef<uint8_t> some) : AtomList(some.begin(), some.end()) {}

  const uint8_t *begin() const { return at; }
  const uint8_t *end() const { return at + count; }
  uint8_t *begin() { return at; }
  uint8_t *end() { return at + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  uint8_t front() const { return at[0]; }
  uint8_t operator[](size_t i) const { return at[i]; }
  uint8_t &operator[](size_t i) { return at[i]; }
  void push_back(uint8_t atom) { at[count++] = atom; }
  void append(const uint8_t *from, const uint8_t *to) {
    for (; from != to; ++from)
      push_back(*from);
  }
  void clear() { count = 0; }
  void truncate(size_t to) { count = uint8_t(to); }
  llvm::ArrayRef<uint8_t> all() const { return {at, count}; }
  operator llvm::ArrayRef<uint8_t>() const { return all(); }
  bool operator==(const AtomList &other) const {
    return count == other.count && std::equal(begin(), end(), other.begin());
  }

private:
  uint8_t count = 0, at[kMost];
};

// A layout in atoms. Partial atoms are a set: their order means nothing.
struct ReshardState {
  llvm::SmallVector<AtomList, 4> dims;
  llvm::SmallVector<int64_t, 4> tiles;
  uint64_t partial = 0;
  bool operator==(const ReshardState &) const = default;
};

struct ReshardMove {
  ReshardKind kind;
  int32_t dim = -1, fromDim = -1;
  AtomList atoms;
};

// Only moves that may lead to `goal` at least cost, or at all: parts of its axes where a dimension
// begins as it does, its tiles where they are known.
class ReshardMoves {
public:
  using AddMove = llvm::function_ref<void(const ReshardState &next, const ReshardMove &move)>;

  // All are kept by reference.
  ReshardMoves(llvm::ArrayRef<int64_t> shape, const AxisAtoms &atoms, const ReshardState &goal)
      : shape(shape), atoms(atoms), goal(goal) {}

  void from(const ReshardState &state, AddMove then);

private:
  void reductions(const ReshardState &s);
  void gathers(const ReshardState &s);
  void slices(const ReshardState &s);
  void allToAlls(const ReshardState &s);
  void permutes(const ReshardState &s);
  void retiles(const ReshardState &s);
  // The tile that leads to the goal's once `dim` has `shards` shards; 0 when nothing tells.
  int64_t neededTile(int32_t dim, int64_t shards) const;
  bool split(ReshardState &s, int32_t dim, llvm::ArrayRef<uint8_t> by) const;
  uint64_t used(const ReshardState &s) const;
  bool prefixOfGoal(const ReshardState &s, int32_t d) const {
    return s.dims[d].size() <= goal.dims[d].size() &&
           std::equal(s.dims[d].begin(), s.dims[d].end(), goal.dims[d].begin());
  }

  llvm::ArrayRef<int64_t> shape;
  const AxisAtoms &atoms;
  const ReshardState &goal;
  AddMove add = nullptr;
};

ReshardState toState(const LocalLayout &layout, const AxisAtoms &atoms);
LocalLayout toLayout(const ReshardState &state, const AxisAtoms &atoms, ReductionKind reduction);

// The axes that either layout speaks of.
llvm::SmallVector<AxisRef> allRefs(const LocalLayout &a, const LocalLayout &b);

} // namespace tessera::sharding
