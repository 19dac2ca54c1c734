// How a collective of one process is cut into units of work, which idle workers take.
#pragma once

#include "runtime/comm/Reduce.h"
#include "runtime/program/Blocks.h"
#include <cstdint>
#include <vector>

namespace tessera::runtime {

// Unit u of an operand moves piece u % pieces of one (target, source), of all sources, or of all of
// both (`byRows`): ranks take turns row by row where rows of one lie between those of others, so that what
// a core reads and writes lies one after the other.
//
//   all_gather of columns, 2 ranks    one rank after the other    by rows
//   result  a a b b                   1 2 5 6                     1 2 3 4
//           a a b b                   3 4 7 8                     5 6 7 8
//
// There can be more units than a job's cells, which have 32 bits (16 arrays gathered from 16,384
// devices are 2^32): they are carried out in jobs of at most kMostCells.
struct Work {
  static constexpr uint64_t kMostCells = uint64_t{1} << 30;

  struct Operand {
    uint64_t firstUnit = 0, pieces = 0;
    int64_t pieceBytes = 0;
    bool byRows = false;
  };
  std::vector<Operand> operands;
  uint64_t units = 0;
  uint32_t chunk = 1; // units that a worker takes at a time
  bool wakes = false; // worth waking sleeping workers for
  ReduceFunction reduce = nullptr;
};

Work makeWork(const CollectivePlan &plan);

} // namespace tessera::runtime
