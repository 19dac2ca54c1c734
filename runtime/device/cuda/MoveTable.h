// What a collective moves between devices of one memory, as numbers that its kernel reads: plain
// data. Words of 64 bits:
//
//   parts p     first block of part 0 .. p - 1, blocks in all     offset in bytes of part 0 .. p - 1
//   a part:     elements in all, of a job, sources s, targets t of a job, elements of a row, dimensions
//               extent, step in the source, in the target of each dimension, innermost first
//               addresses of s sources and t targets of each job
//
// A job reduces its sources, element by element and in their order, into each of its targets. A part
// is an operand of the collective.
#pragma once

#include "runtime/program/Blocks.h"
#include <functional>

namespace tessera::runtime::device::cuda {

struct Fill {
  uint64_t address, bytes;
  bool operator==(const Fill &) const = default;
};

struct MoveTable {
  std::vector<uint64_t> words; // empty: nothing moves
  uint32_t blocks = 0;         // that the kernel is launched with
  uint32_t unit = 0;           // bytes of an element
  std::vector<Fill> zeros;     // what becomes zero beside
};

// One operand's share: jobs that move blocks of one shape.
struct MovePart {
  Block block;
  uint64_t jobs = 0, sources = 1, targets = 1;
  std::vector<uint64_t> addresses; // by job: sources, then targets
};

// Of parts that are reduced by `unit` bytes, or, with 0, copied by as many as all of them allow.
MoveTable moveTable(std::vector<MovePart> parts, uint32_t unit);
// `buffer(rank, i)`: operands, then results.
MoveTable moveTable(const CollectivePlan &plan,
                    const std::function<uint64_t(uint32_t rank, size_t i)> &buffer);

} // namespace tessera::runtime::device::cuda
