// What a collective moves, as strided copies: plain data that every communicator carries out in its
// own way.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::runtime {

// An n-dimensional block of bytes: rows of `row` bytes, one for each index below `extent`.
struct Block {
  int64_t row = 0;
  std::vector<int64_t> extent, from,
      to; // strides in bytes; neighbours that are contiguous in both are merged
  int64_t bytes() const;
};

// Whether the rows of a block lie one behind the other, by its strides on one side.
bool isCompact(const Block &block, const std::vector<int64_t> &strides);

// Calls f(offset in the source, offset in the target, bytes) for each contiguous run of bytes
// [begin, end) of the block, counted in row-major order.
template <class F> void forEachRun(const Block &block, int64_t begin, int64_t end, F f) {
  if (begin >= end)
    return;
  if (block.extent.empty())
    return f(begin, begin, end - begin);
  size_t last = block.extent.size() - 1;
  int64_t row = begin / block.row, inside = begin % block.row;
  int64_t inner = row % block.extent[last], outer = row / block.extent[last];
  for (; begin < end; inner = 0, ++outer) {
    int64_t from = 0, to = 0, rest = outer;
    for (size_t i = last; i-- > 0; rest /= block.extent[i]) {
      from += rest % block.extent[i] * block.from[i];
      to += rest % block.extent[i] * block.to[i];
    }
    for (; inner < block.extent[last] && begin < end; ++inner, inside = 0) {
      int64_t bytes = std::min(block.row - inside, end - begin);
      f(from + inner * block.from[last] + inside, to + inner * block.to[last] + inside, bytes);
      begin += bytes;
    }
  }
}

// Copies bytes [begin, end) of the block. `skipped`: bytes of the target before `to`.
void copyBlock(const Block &block, const char *from, char *to, int64_t begin, int64_t end,
               int64_t skipped = 0);

// One operand of a collective: the block that rank s gives to rank d starts at fromStep * d in s's
// operand and at toStep * s in d's result.
//
//   all_gather 2 ranks, [2,3] along dim 1      all_to_all 2 ranks, [4] -> [4]
//   block [2 rows of 3], toStep 3              block [2], fromStep 2, toStep 2
//   result rows: s0 s0 s0 s1 s1 s1             d0 gets s0[0:2] s1[0:2]
struct Transfer {
  Block block;
  int64_t fromStep = 0, toStep = 0;
  int64_t operandBytes = 0, resultBytes = 0;
};

// Which rank each rank of a group receives from: a shift, or pairs. Takes memory in what a program
// says, not in the size of the group.
class Permutation {
public:
  Status read(const program::Collective &collective, uint32_t groupSize);
  int64_t sourceOf(uint32_t rank) const { // -1: none
    if (pairs_.empty()) {
      int64_t source = rank - shift_;
      if (wrap_ && source < 0)
        source += size_;
      return source >= 0 && source < size_ ? source : -1;
    }
    auto pair = std::lower_bound(pairs_.begin(), pairs_.end(), std::pair(rank, uint32_t{0}));
    return pair == pairs_.end() || pair->first != rank ? -1 : int64_t{pair->second};
  }

private:
  int64_t size_ = 1, shift_ = 0; // 0 <= shift_ < size_ with wrap_, else -size_ <= shift_ <= size_
  bool wrap_ = false;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_; // (target, source), by target
};

class Route;

// A collective as every communicator sees it; or one end of a channel, which is one operand that is
// sent or received.
struct CollectivePlan {
  program::Collective::Kind kind;
  program::Collective::Reduction reduction;
  program::ElementType type;
  uint32_t site = 0;
  uint32_t location = 0;
  uint32_t groupSet = 0; // index of the axes (or tables) that it runs over
  uint32_t groupSize = 1;
  // The parts of mesh axes that its groups lie along; none with explicit groups.
  struct AxisPart {
    uint32_t axis;
    int64_t preSize, size;
  };
  std::vector<AxisPart> axes;
  std::vector<Transfer> transfers; // one an operand
  Permutation permutation;         // of PERMUTE
  int64_t shift = 0;               // of a PERMUTE to the rank so many after each
  int64_t bytes = 0; // as reports count them: results, or operands of a reduce-scatter

  const Route *route = nullptr; // of a send or a receive on a channel; null: a collective
  bool sends = false;

  bool reduces() const {
    return kind == program::Collective::ALL_REDUCE || kind == program::Collective::REDUCE_SCATTER;
  }
  // Whether rank s's operand reaches rank d's result.
  bool moves(uint32_t s, uint32_t d) const {
    switch (kind) {
    case program::Collective::PERMUTE:
      return permutation.sourceOf(d) == s;
    case program::Collective::BROADCAST:
      return s == 0;
    default:
      return true;
    }
  }
};

const char *nameOf(program::Collective::Kind kind);
const char *nameOf(const CollectivePlan &plan); // "send" and "receive" too

// Checks shapes, dimensions and pairs; sizes of buffers are the caller's to check against the
// transfers.
Result<CollectivePlan> planCollective(const program::Collective &collective, uint32_t groupSize);

} // namespace tessera::runtime
