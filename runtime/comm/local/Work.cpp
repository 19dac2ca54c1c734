#include "runtime/comm/local/Work.h"
#include "lib/steps/SharedExchange.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/local/ScatteredRows.h"
#include <algorithm>

namespace tessera::runtime {

using program::Collective;

// About this much is read and written for a unit.
static constexpr int64_t kUnitTraffic = 128 << 10;
// A row that is shorter takes as long as so many bytes.
static constexpr int64_t kRowTraffic = 32;

static bool goesByRows(const CollectivePlan &plan, const Transfer &transfer) {
  if (plan.kind == Collective::ALL_GATHER || plan.kind == Collective::ALL_TO_ALL)
    return !isCompact(transfer.block, transfer.block.to);
  return plan.kind == Collective::REDUCE_SCATTER && hasScatteredRows(transfer, plan.groupSize);
}

Work makeWork(const CollectivePlan &plan) {
  Work work;
  int64_t g = plan.groupSize, traffic = 0, smallest = INT64_MAX;
  if (plan.reduces())
    work.reduce = reduceFunction(plan.type, plan.reduction);
  bool fromAll = plan.kind == Collective::ALL_GATHER || plan.kind == Collective::ALL_TO_ALL;
  for (const Transfer &transfer : plan.transfers) {
    const Block &block = transfer.block;
    Work::Operand operand{.firstUnit = work.units, .byRows = goesByRows(plan, transfer)};
    // A piece is moved for so many (target, source), or targets, of which a unit has one or all of a rank.
    int64_t moves = plan.kind == Collective::ALL_REDUCE ? 1
                    : fromAll                           ? g * g
                                                        : g,
            movesOfUnit = operand.byRows ? g : 1;
    // A unit touches `touched` times its piece.
    int64_t touched = movesOfUnit * (plan.kind == Collective::ALL_REDUCE       ? 2 * g
                                     : plan.kind == Collective::REDUCE_SCATTER ? g + 1
                                                                               : 2);
    operand.pieceBytes =
        std::max<int64_t>(operand.byRows ? 256 : 4096, kUnitTraffic / touched / 256 * 256);
    if (!fromAll && operand.byRows) // whole rows
      operand.pieceBytes = std::max<int64_t>(operand.pieceBytes / block.row, 1) * block.row;
    int64_t bytes = block.bytes(), pieces = (bytes + operand.pieceBytes - 1) / operand.pieceBytes;
    int64_t units = pieces * moves / movesOfUnit;
    operand.pieces = static_cast<uint64_t>(pieces);
    work.operands.push_back(operand);
    work.units += static_cast<uint64_t>(units);
    int64_t ofUnit = std::min(bytes, operand.pieceBytes) * touched;
    if (!block.extent.empty() && block.row > 0)
      ofUnit *= std::max<int64_t>(kRowTraffic / block.row, 1);
    traffic += units * ofUnit;
    if (units)
      smallest = std::min(smallest, ofUnit);
  }
  auto cells = static_cast<int64_t>(std::min(work.units, Work::kMostCells));
  steps::SharedExchange shared{static_cast<double>(traffic)};
  auto part = static_cast<int64_t>(steps::SharedExchange::kPart);
  work.chunk = static_cast<uint32_t>(
      shared.isOfOne() ? cells
                       : std::clamp<int64_t>(part / std::max<int64_t>(smallest, 1), 1, cells));
  work.wakes = shared.wakes();
  return work;
}

} // namespace tessera::runtime
