#include "lib/plan/StepBill.h"

#include "lib/sharding/ReshardPrice.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

namespace tessera::plan {

using sharding::ReshardKind;

namespace {

// "" of what stays on the device.
llvm::StringRef nameOf(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::AllGather:
    return "all-gather";
  case ReshardKind::AllToAll:
    return "all-to-all";
  case ReshardKind::AllReduce:
    return "all-reduce";
  case ReshardKind::ReduceScatter:
    return "reduce-scatter";
  case ReshardKind::Broadcast:
    return "broadcast";
  case ReshardKind::Permute:
  case ReshardKind::Retile:
  case ReshardKind::Exchange:
    return "permute";
  case ReshardKind::Slice:
  case ReshardKind::View:
    return "";
  }
  return "";
}

double bytesOf(const sharding::LocalLayout &layout, int64_t elementBytes) {
  double bytes = double(elementBytes);
  for (int64_t tile : localShape(layout))
    bytes *= double(tile);
  return bytes;
}

struct Totals {
  double count = 0, seconds = 0;
};
using ByKind = std::map<std::string, Totals>;

// Seconds that the price of a single step does not say (rows of neighbours) are those that are left.
double addSteps(const Movement &movement, const sharding::PropagatedValue &value,
                sharding::ReshardPlanner &planner, ByKind &into) {
  auto from = canonicalLayout(value.shape, movement.from);
  const sharding::ReshardPlan &plan = planner.plan(value.shape, value.elementBytes, from,
                                                   canonicalLayout(value.shape, movement.to));
  double before = bytesOf(from, value.elementBytes), left = plan.seconds;
  Totals *open = nullptr;
  for (const sharding::ReshardStep &step : plan.steps) {
    double after = bytesOf(step.after, value.elementBytes);
    llvm::StringRef name = nameOf(step.kind);
    bool isLocal = name.empty() || (step.axes.empty() && step.kind != ReshardKind::Exchange);
    if (!isLocal) {
      Totals &totals = into[name.str()];
      totals.count += movement.times;
      if (step.kind == ReshardKind::Retile || step.kind == ReshardKind::Exchange) {
        open = &totals;
      } else {
        double seconds =
            priceOf(step.kind, before, after, step.axes, planner.getMesh(), planner.getTopology())
                .seconds;
        totals.seconds += movement.times * seconds;
        left -= seconds;
      }
    }
    before = after;
  }
  if (open)
    open->seconds += movement.times * std::max(0.0, left);
  return movement.times * plan.seconds;
}

std::vector<CollectiveBill> listOf(const ByKind &kinds) {
  std::vector<CollectiveBill> list;
  for (const auto &[kind, totals] : kinds)
    list.push_back({kind, totals.count, totals.seconds});
  return list;
}

} // namespace

std::vector<CollectiveBill> collectivesOf(AssignmentPrices &prices,
                                          llvm::ArrayRef<Movement> movements) {
  ByKind kinds;
  for (const Movement &each : movements)
    addSteps(each, prices.getProgram().graph.values[each.value], prices.getPlanner(), kinds);
  return listOf(kinds);
}

StepBill billOf(AssignmentPrices &prices, const Assignment &assignment) {
  const Program &program = prices.getProgram();
  StepParts parts;
  StepBill bill;
  bill.seconds = prices.seconds(assignment, &parts);
  bill.computing = parts.computing + parts.crossing;
  bill.byOp.assign(program.graph.ops.size(), 0);
  ByKind kinds;
  for (const Movement &each : parts.movements) {
    double seconds = addSteps(each, program.graph.values[each.value], prices.getPlanner(), kinds);
    if (each.op >= 0)
      bill.byOp[each.op] += seconds;
  }
  bill.collectives = listOf(kinds);
  return bill;
}

BillDifference differenceOf(const StepBill &first, const StepBill &second) {
  BillDifference difference;
  difference.seconds = second.seconds - first.seconds;
  difference.computing = second.computing - first.computing;
  ByKind kinds;
  for (const CollectiveBill &each : second.collectives)
    kinds[each.kind] = {each.count, each.seconds};
  for (const CollectiveBill &each : first.collectives) {
    Totals &totals = kinds[each.kind];
    totals.count -= each.count;
    totals.seconds -= each.seconds;
  }
  std::erase_if(kinds, [](const auto &each) {
    return each.second.count == 0 && std::abs(each.second.seconds) < 1e-12;
  });
  difference.collectives = listOf(kinds);
  llvm::stable_sort(difference.collectives, [](const auto &a, const auto &b) {
    return std::abs(a.seconds) > std::abs(b.seconds);
  });
  double most = 0;
  for (auto [op, a, b] : llvm::enumerate(first.byOp, second.byOp))
    if (std::abs(b - a) > most) {
      most = std::abs(b - a);
      difference.op = int32_t(op);
    }
  return difference;
}

} // namespace tessera::plan
