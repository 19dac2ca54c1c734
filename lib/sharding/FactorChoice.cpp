#include "lib/sharding/FactorChoice.h"

#include "lib/sharding/CrossingRows.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::sharding {
namespace {

class Chooser {
public:
  Chooser(const PlacedOp &op, ReshardPlanner &planner, MoveSeconds moves)
      : placed(op), planner(planner), moves(moves) {}

  FactorChoice choose() {
    if (std::optional<FactorAxes> agreed = agreement())
      return {*agreed, 0};
    for (const FactorAxes &axes : candidates())
      consider(axes);
    // Releasing one factor's axes, then giving them to other tensors' wishes, escapes most poor
    // starts.
    for (int round = 0; round < 2; ++round) {
      FactorAxes from = best->axes;
      for (size_t f = 0; f < from.size(); ++f) {
        if (from[f].empty())
          continue;
        FactorAxes without = from;
        without.release(f);
        consider(without);
        consider(filled(without, /*resultsFirst=*/true));
      }
      if (best->axes == from)
        break;
    }
    return *best;
  }

private:
  // Where nothing has to move there is nothing to weigh.
  std::optional<FactorAxes> agreement() {
    FactorAxes axes = filled(FactorAxes(placed.op), true);
    for (size_t i = 0; i < placed.operands.size(); ++i)
      if (!placed.operands[i].free &&
          !sameAxes(axes.operandSharding(i), placed.operands[i].sharding))
        return std::nullopt;
    for (size_t i = 0; i < placed.results.size(); ++i)
      if (!sameAxes(axes.resultSharding(i), placed.results[i].sharding))
        return std::nullopt;
    return axes;
  }

  FactorAxes filled(FactorAxes axes, bool resultsFirst) const {
    auto results = [&] {
      for (size_t i = 0; i < placed.results.size(); ++i)
        axes.claimResult(i, placed.results[i].sharding);
    };
    if (resultsFirst)
      results();
    for (size_t i = 0; i < placed.operands.size(); ++i)
      if (!placed.operands[i].free)
        axes.claimOperand(i, placed.operands[i].sharding);
    if (!resultsFirst)
      results();
    return axes;
  }

  // What an operand has along a dimension that is needed whole, or whose rows cross shards, may go
  // to another dimension instead of being gathered: operands [{}, {"x"}] of a concatenation along
  // dimension 1 become [{"x"}, {}].
  void moveAside(size_t operand, std::vector<FactorAxes> &list) const {
    const FactorRule &rule = placed.op.rule;
    const TensorFactors &factors = rule.operands[operand];
    const TensorSharding &sharding = placed.operands[operand].sharding;
    auto passes = [&](const DimFactors &dim) {
      return !dim.empty() && llvm::all_of(dim, [&](int32_t f) {
        return rule.factors[f].kind == FactorKind::PassThrough;
      });
    };
    for (size_t d = 0; d < factors.size(); ++d) {
      bool stays = llvm::none_of(factors[d], [&](int32_t f) {
        return rule.factors[f].kind == FactorKind::NeedReplication ||
               rule.factors[f].kind == FactorKind::Permutation;
      });
      // Of fewer rows than shards most would travel as padding.
      if (stays || sharding.dims[d].axes.empty() ||
          placed.op.operands[operand][d] < shardCount(sharding.dims[d].axes))
        continue;
      for (size_t other = 0; other < factors.size(); ++other) {
        if (!passes(factors[other]))
          continue;
        TensorSharding moved = sharding;
        moved.dims[other].axes.append(sharding.dims[d].axes);
        moved.dims[d].axes.clear();
        FactorAxes axes(placed.op);
        axes.claimOperand(operand, moved);
        list.push_back(axes);
        list.push_back(filled(axes, true));
      }
    }
  }

  std::vector<FactorAxes> candidates() const {
    std::vector<FactorAxes> list{FactorAxes(placed.op), filled(FactorAxes(placed.op), true)};
    for (size_t i = 0; i < placed.operands.size(); ++i) {
      if (placed.operands[i].free)
        continue;
      FactorAxes axes(placed.op);
      axes.claimOperand(i, placed.operands[i].sharding);
      list.push_back(axes);
      list.push_back(filled(axes, true));
      list.push_back(filled(axes, false));
      moveAside(i, list);
    }
    for (size_t i = 0; i < placed.results.size(); ++i) {
      FactorAxes axes(placed.op);
      axes.claimResult(i, placed.results[i].sharding);
      list.push_back(axes);
    }
    return list;
  }

  double moving(const Shape &shape, const PlacedTensor &tensor, const TensorSharding &from,
                const TensorSharding &to, ReductionKind reduction) {
    if (moves)
      return moves(shape, tensor.elementBytes, from, to);
    LocalLayout source = canonicalLayout(shape, from), target = canonicalLayout(shape, to);
    source.reduction = target.reduction = reduction;
    return planner.plan(shape, tensor.elementBytes, source, target).seconds;
  }

  void consider(const FactorAxes &axes) {
    if (llvm::is_contained(seen, axes))
      return;
    seen.push_back(axes);
    double seconds = crossingSeconds(placed, axes, planner), touched = 0;
    for (size_t i = 0; i < placed.operands.size(); ++i) {
      const PlacedTensor &operand = placed.operands[i];
      TensorSharding needed = axes.operandSharding(i);
      bool there = operand.free || llvm::any_of(operand.copies, [&](const TensorSharding &copy) {
                     return sameAxes(copy, needed);
                   });
      if (!there)
        seconds += operand.share * moving(placed.op.operands[i], operand, operand.sharding, needed,
                                          operand.reduction);
    }
    for (size_t i = 0; i < placed.results.size(); ++i) {
      TensorSharding made = axes.resultSharding(i);
      TensorSharding wanted = placed.results[i].sharding;
      seconds += moving(placed.op.results[i], placed.results[i], made, wanted, axes.reduction());
      touched += 2 * localBytes(placed.op.results[i], placed.results[i].elementBytes, made);
    }
    seconds += cost::computeSeconds(planner.getTopology(), planner.getMesh(),
                                    placed.flops / double(axes.shards()), touched);
    if (!best || seconds < best->seconds)
      best = FactorChoice{axes, seconds};
  }

  const PlacedOp &placed;
  ReshardPlanner &planner;
  MoveSeconds moves;
  std::vector<FactorAxes> seen;
  std::optional<FactorChoice> best;
};

} // namespace

FactorChoice chooseFactorAxes(const PlacedOp &op, ReshardPlanner &planner, MoveSeconds moves) {
  return Chooser(op, planner, moves).choose();
}

} // namespace tessera::sharding
