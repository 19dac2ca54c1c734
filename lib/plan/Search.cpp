#include "lib/plan/Search.h"

#include "lib/plan/Folded.h"
#include "lib/plan/Ties.h"

namespace tessera::plan {
namespace {

// Plans that people know are where a search begins. Each takes a walk of the program, so of large ones
// few are made.
constexpr size_t kMostSteps = 400000;

RoundLimits limitsOf(const Rounds &rounds, const Options &options) {
  constexpr int64_t kMostEntries = 1'000'000; // of matrices, in all rounds
  RoundLimits limits;
  // Without a capacity little is left to branch over, and rounds go on where this one ends.
  limits.effort = std::max(1, options.effort - (options.memory ? 0 : 1));
  limits.most =
      std::min<int64_t>(2 * options.effort + 2, options.effort * kMostEntries / rounds.entries());
  return limits;
}

class PlanSearch {
public:
  PlanSearch(AssignmentPrices &prices, const Options &options, bool breaksTies)
      : prices(prices), options(options), breaksTies(breaksTies), rounds(prices, options.memory) {}

  PlansOnMesh run(const KnownPlans &known) {
    startFrom(known);
    rounds.share(best.uses);
    rounds.run(limitsOf(rounds, options), best);
    if (breaksTies)
      takeSimplestTies(prices, rounds, best);
    return {{std::move(best.values), best.seconds, best.lowerBound, best.peakBytes},
            std::move(starts)};
  }

private:
  void startFrom(const KnownPlans &known) {
    start({}, known.annotated());
    size_t most = std::max<size_t>(3, kMostSteps / (prices.getProgram().graph.ops.size() + 1));
    const sharding::Mesh &mesh = prices.getPlanner().getMesh();
    for (const AxisRoles &roles : known.on(mesh)) {
      if (most-- == 0)
        break;
      if (std::optional<Assignment> values = known.assignment(mesh, roles))
        start(roles, std::move(*values));
    }
  }

  void start(AxisRoles roles, Assignment values) {
    rounds.consider(values, best);
    starts.push_back({std::move(roles), std::move(values)});
  }

  AssignmentPrices &prices;
  const Options &options;
  bool breaksTies;
  Rounds rounds;
  BestFound best;
  std::vector<KnownPlan> starts;
};

} // namespace

Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &options) {
  Folded folded = foldedProgram(program);
  AssignmentPrices prices(folded.program, mesh, topology);
  Plan plan = plansOnMesh(KnownPlans(folded.program), prices, options).best;
  plan.values = folded.unfolded(plan.values);
  return plan;
}

static double wantedGap(const Program &program) {
  constexpr size_t kSmall = 400; // ops
  return program.graph.ops.size() <= kSmall ? 1e-3 : RoundLimits().proven;
}

bool isProven(const Program &program, double seconds, double lowerBound) {
  return seconds - lowerBound <= wantedGap(program) * seconds;
}

static RoundLimits thoroughLimits(AssignmentPrices &prices, const Rounds &rounds,
                                  const Options &options) {
  constexpr int64_t kMostRounds = 32, kMostEntries = 4'000'000; // of matrices, in all rounds
  RoundLimits limits;
  limits.effort = options.effort;
  limits.most = std::min(kMostRounds, options.effort * kMostEntries / 3 / rounds.entries());
  limits.proven = wantedGap(prices.getProgram());
  limits.isThorough = true;
  return limits;
}

BestFound refined(AssignmentPrices &prices, const Assignment &plan, double lowerBound,
                  const Options &options) {
  BestFound best;
  Rounds rounds(prices, options.memory);
  rounds.consider(plan, best);
  rounds.share(best.uses);
  if (!isProven(prices.getProgram(), best.seconds, lowerBound))
    rounds.run(thoroughLimits(prices, rounds, options), best);
  takeSimplestTies(prices, rounds, best);
  return best;
}

BestFound bestFrom(AssignmentPrices &prices, llvm::ArrayRef<const Assignment *> known,
                   const Options &options, bool isThorough) {
  BestFound best;
  Rounds rounds(prices, options.memory);
  for (const Assignment *each : known)
    rounds.consider(*each, best);
  rounds.share(best.uses);
  RoundLimits limits =
      isThorough ? thoroughLimits(prices, rounds, options) : limitsOf(rounds, options);
  limits.proven = wantedGap(prices.getProgram());
  rounds.run(limits, best);
  return best;
}

PlansOnMesh plansOnMesh(const KnownPlans &known, AssignmentPrices &prices, const Options &options,
                        bool breaksTies) {
  return PlanSearch(prices, options, breaksTies).run(known);
}

} // namespace tessera::plan
