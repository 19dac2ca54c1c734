// How a collective of one process is cut into units of work, which idle workers take.
#pragma once

#include "runtime/comm/Reduce.h"
#include "runtime/program/Blocks.h"
#include <cstdint>
#include <vector>

namespace tessera::runtime {

// Unit u of operand i moves piece u % pieces of one (target, source). There can be more units than
// a job's cells, which have 32 bits (16 arrays gathered from 16,384 devices are 2^32): they are
// carried out in jobs of at most kMostCells.
struct Work {
  static constexpr uint64_t kMostCells = uint64_t{1} << 30;

  std::vector<uint64_t> firstUnit, pieces; // by operand
  int64_t pieceBytes = 0;
  uint64_t units = 0;
  uint32_t chunk = 1; // units that a worker takes at a time
  bool wakes = false; // worth waking sleeping workers for
  ReduceFunction reduce = nullptr;
};

Work makeWork(const CollectivePlan &plan);

} // namespace tessera::runtime
