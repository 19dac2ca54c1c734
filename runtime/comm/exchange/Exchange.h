// What the ranks of a group give each other, as plain data: a piece for each operand, from each rank
// to each. An all-reduce is two exchanges: slice q of the operand goes to rank q, which reduces what
// it got; then the reduced slice goes to all.
//
//   all-reduce of [4] on 2 ranks       phase 0: r0 -> r1 a[2:4], r1 -> r0 b[0:2]
//   r0 a, r1 b                         phase 1: r0 -> r1 (a+b)[0:2], r1 -> r0 (a+b)[2:4]
#pragma once

#include "runtime/program/Blocks.h"

namespace tessera::runtime {

// Of rank `rank`, which has `buffers`: operands, then results.
struct Exchange {
  // From here on pieces travel apart from the header, from where they lie to where they belong.
  static constexpr int64_t kApart = 32 << 10;

  const CollectivePlan &plan;
  uint32_t rank;
  int phase;
  void *const *buffers;

  // Whether what comes is reduced before it is a result.
  bool reducesNext() const { return plan.reduces() && phase == 0; }
  bool sends(uint32_t from, uint32_t to) const { return from != to && plan.moves(from, to); }
  int64_t bytes(size_t i, uint32_t from, uint32_t to) const;
  int64_t bytes(uint32_t from, uint32_t to) const; // of all pieces
  bool isApart(uint32_t from, uint32_t to) const { return bytes(from, to) >= kApart; }

  // Where the piece for `to` lies, and where that of `from` belongs. Null where it is not in one
  // piece, where operand and result overlap otherwise than element by element, or where what comes
  // is reduced.
  const char *source(size_t i, uint32_t to) const;
  char *target(size_t i, uint32_t from) const;
  // For the others.
  void pack(size_t i, uint32_t to, char *message) const;
  void unpack(size_t i, uint32_t from, const char *message) const;

  // What stays with this rank.
  void keepOwn() const;
  struct Range {
    int64_t begin, end;
  };
  Range sliceOf(size_t i, uint32_t r) const; // of an all-reduce: what rank r reduces
  const char *operand(size_t i) const { return static_cast<const char *>(buffers[i]); }
  char *result(size_t i) const { return static_cast<char *>(buffers[plan.transfers.size() + i]); }
  bool overlaps(size_t i) const; // otherwise than element by element

  // Reduces the pieces that came, `sources` by operand and rank, with this rank's own, in rank order.
  void reduce(const std::vector<std::vector<const char *>> &sources) const;
};

} // namespace tessera::runtime
