// Extends the annotations to all values. Dimensions stay open where they were;
// tessera-finalize-shardings closes them.
//
// The module becomes a graph of plain data, lib/sharding decides, and the result is written back.
//
// As it stands where the larger tensor decides conflicts, as in Shardy, and where the predicted time
// of an op does; and where the program's state (weights and moments, which it takes and gives back)
// waits until its other inputs have gone as far as they go. Of those that differ, copies are
// resharded: what is best for an op, or for the state to follow, is kept only where it is no worse
// for the program, in time and in bytes (Trials.h). Of large programs copies are made of what stands
// around the values that differ (Surroundings.h). Arrays that loops go along are tried sharded along
// another dimension (ScannedDims.h). Passes.td shows an example.
#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/TesseraDialect.h"
#include "lib/cost/Topology.h"
#include "passes/propagate/ModuleGraph.h"
#include "passes/propagate/Origins.h"
#include "passes/propagate/Passes.h"
#include "passes/propagate/ScannedDims.h"
#include "passes/propagate/Trials.h"

namespace tessera {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

using Values = std::vector<sharding::PropagatedValue>;

// Those that lie otherwise.
std::vector<int32_t> differing(const Values &a, const Values &b) {
  std::vector<int32_t> values;
  for (auto [number, x, y] : llvm::enumerate(a, b))
    if (!llvm::equal(x.sharding.dims, y.sharding.dims,
                     [](const auto &p, const auto &q) { return p.axes == q.axes; }))
      values.push_back(int32_t(number));
  return values;
}

// What propagation decides, and what that moves once it has been asked for. The graph's ops and rules, which
// are most of it, stay what they are.
struct Candidate {
  Values values;
  std::vector<sharding::PropagationStep> steps;
  std::optional<std::optional<Movement>> moves;

  const std::optional<Movement> &movement(ModuleOp original) {
    if (!moves)
      moves = reshardsWith(values, original);
    return *moves;
  }
};

// Where annotations lead to, of each value; `seconds`: what decides conflicts.
Candidate propagated(sharding::PropagationGraph &graph, Values annotated,
                     sharding::GraphSeconds seconds) {
  graph.values = std::move(annotated);
  graph.steps.clear();
  graph.seconds = std::move(seconds);
  sharding::propagate(graph);
  graph.seconds = nullptr;
  return {std::exchange(graph.values, {}), std::exchange(graph.steps, {}), {}};
}

struct PropagateShardings : impl::PropagateShardingsBase<PropagateShardings> {
  using impl::PropagateShardingsBase<PropagateShardings>::PropagateShardingsBase;

  void runOnOperation() override {
    ModuleGraph module(getOperation());
    bool explain = wantsReasons(getOperation());
    module.graph.recordSteps = recordOrigins || explain;
    cost::Topology topology = topologyOf(getOperation());
    if (bySize)
      sharding::propagate(module.graph);
    else
      propagateByCost(module, topology);
    module.writeBack();
    if (module.graph.recordSteps)
      attachOrigins(module, explain ? 6 : 0);
  }

  void propagateByCost(ModuleGraph &module, const cost::Topology &topology) {
    sharding::PropagationGraph &graph = module.graph;
    Values annotated = graph.values;
    module.decideByCost(topology);
    int64_t decided = 0;
    sharding::GraphSeconds byTime =
        [&decided, seconds = graph.seconds](int32_t op, int32_t mesh,
                                            llvm::ArrayRef<sharding::TensorSharding> tensors) {
          ++decided;
          return seconds(op, mesh, tensors);
        };
    Candidate best = propagated(graph, std::move(graph.values), byTime);
    if (decided) {
      Candidate timed = std::exchange(best, propagated(graph, annotated, nullptr));
      keepBetter(module, best, std::move(timed), /*orEqual=*/true);
    }
    bool scans = hasLoops(module);
    graph.values = scans ? Values(annotated) : std::move(annotated);
    if (module.postponeState())
      keepBetter(module, best, propagated(graph, std::move(graph.values), byTime),
                 /*orEqual=*/false);
    if (scans)
      tryScansAcross(module, annotated, byTime, best);
    graph.values = std::move(best.values);
    graph.steps = std::move(best.steps);
  }

  void tryScansAcross(ModuleGraph &module, const Values &annotated,
                      const sharding::GraphSeconds &byTime, Candidate &best) {
    sharding::PropagationGraph &graph = module.graph;
    std::optional<ScansAcross> ways[] = {
        withScansAcross(module, annotated, best.values, /*preferWhole=*/false),
        withScansAcross(module, annotated, best.values, /*preferWhole=*/true)};
    for (std::optional<ScansAcross> &across : ways)
      if (across) {
        for (auto [op, factor] : across->blocked)
          graph.ops[op].blocked.push_back(factor);
        keepFaster(best, propagated(graph, std::move(across->values), byTime));
        for (auto [op, factor] : llvm::reverse(across->blocked))
          graph.ops[op].blocked.pop_back();
      }
  }

  // A candidate's reshards must take no longer than those of the best so far, and send no more bytes. Where one
  // has it in time and the other in bytes, the step is asked, as latencies may be shared, and hidden, or not.
  // Of a large program those are looked at that stand around what lies otherwise.
  void keepBetter(const ModuleGraph &module, Candidate &best, Candidate other, bool orEqual) {
    std::vector<int32_t> values = differing(best.values, other.values);
    if (values.empty())
      return;
    std::optional<Surroundings> around =
        module.graph.ops.size() > largeFrom
            ? Surroundings::of(module, best.values, getOperation(), values)
            : std::nullopt;
    auto movement = [&](Candidate &each) {
      return around ? reshardsWith(each.values, *around) : each.movement(getOperation());
    };
    std::optional<Movement> one = movement(other), now = movement(best);
    if (!one)
      return;
    bool isNoSlower = !now || one->seconds <= now->seconds;
    bool sendsNoMore = !now || one->wireBytes <= now->wireBytes;
    bool sendsLess = !now || one->wireBytes < now->wireBytes;
    bool isBetter = isNoSlower != sendsNoMore ? hasFasterStep(other, best)
                                              : isNoSlower && (orEqual || sendsLess);
    if (isBetter)
      best = std::move(other);
  }

  bool hasFasterStep(const Candidate &one, const Candidate &other) {
    std::optional<double> seconds = stepSecondsWith(one.values, getOperation());
    std::optional<double> others = stepSecondsWith(other.values, getOperation());
    return seconds && others && *seconds < *others;
  }

  // Of one that splits work otherwise, what is computed counts as well.
  void keepFaster(Candidate &best, Candidate other) {
    const std::optional<Movement> &one = other.movement(getOperation());
    const std::optional<Movement> &now = best.movement(getOperation());
    if (one && now && one->seconds + one->computing < now->seconds + now->computing)
      best = std::move(other);
  }
};

} // namespace
} // namespace tessera
