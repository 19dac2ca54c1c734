#include "lib/sharding/ProductResults.h"

#include "lib/sharding/ReshardSearch.h"

#include "llvm/ADT/STLExtras.h"
#include <memory>

namespace tessera::sharding {
namespace {

bool mayMove(const PropagatedValue &annotated) {
  return annotated.group < 0 &&
         llvm::all_of(
             annotated.sharding.dims,
             [](const DimSharding &dim) { return dim.axes.empty() && !dim.closed; }) &&
         annotated.sharding.replicated.empty() && annotated.sharding.unreduced.empty();
}

// Where the operands make the result, partial as it is; none where they disagree along a factor.
std::optional<TensorSharding> madeBy(const PropagationGraph &graph, const PropagatedOp &op) {
  RuledOp ruled;
  ruled.rule = graph.rules[op.rule];
  for (int32_t v : op.operands)
    ruled.operands.push_back(graph.values[v].shape);
  for (int32_t v : op.results)
    ruled.results.push_back(graph.values[v].shape);
  FactorAxes axes(ruled);
  for (auto [i, v] : llvm::enumerate(op.operands))
    axes.claimOperand(i, withoutUnitAxes(graph.values[v].sharding));
  TensorSharding made = axes.resultSharding(0);
  if (made.unreduced.empty() || axes.reduction() != ReductionKind::Sum)
    return std::nullopt;
  return made;
}

double bytesOf(ReshardPlanner &planner, const PropagatedValue &value, const TensorSharding &from,
               const TensorSharding &to) {
  return planner
      .plan(value.shape, value.elementBytes, canonicalLayout(value.shape, from),
            canonicalLayout(value.shape, to))
      .wireBytes;
}

} // namespace

int64_t reduceWhereMade(PropagationGraph &graph, const PropagationGraph &annotated,
                        llvm::ArrayRef<const Mesh *> meshes, const cost::Topology &topology) {
  std::vector<std::unique_ptr<ReshardPlanner>> planners;
  for (const Mesh *mesh : meshes)
    planners.push_back(std::make_unique<ReshardPlanner>(*mesh, topology));
  int64_t changed = 0;
  for (auto [index, op] : llvm::enumerate(graph.ops)) {
    if (!op.contraction)
      continue;
    PropagatedValue &value = graph.values[op.results[0]];
    if (value.mesh < 0 || !mayMove(annotated.values[op.results[0]]) ||
        llvm::any_of(op.operands, [&](int32_t v) { return graph.values[v].mesh != value.mesh; }))
      continue;
    std::optional<TensorSharding> partial = madeBy(graph, op);
    if (!partial)
      continue;
    TensorSharding made = *partial, wanted = withoutUnitAxes(value.sharding);
    made.unreduced.clear();
    if (sameAxes(made, wanted))
      continue;
    ReshardPlanner &planner = *planners[value.mesh];
    double atOnce = bytesOf(planner, value, *partial, wanted);
    double after = bytesOf(planner, value, *partial, made) + bytesOf(planner, value, made, wanted);
    if (after >= atOnce)
      continue;
    for (auto [d, dim] : llvm::enumerate(value.sharding.dims)) {
      dim.axes = made.dims[d].axes;
      if (graph.recordSteps && !dim.axes.empty())
        for (int32_t v : op.operands)
          if (llvm::any_of(graph.values[v].sharding.dims, [&](const DimSharding &other) {
                return overlap(other.axes, dim.axes);
              })) {
            graph.steps.push_back({op.results[0], static_cast<int32_t>(index), v, dim.axes});
            break;
          }
    }
    ++changed;
  }
  return changed;
}

} // namespace tessera::sharding
