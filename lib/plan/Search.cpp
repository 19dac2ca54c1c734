#include "lib/plan/Search.h"

#include "lib/plan/Folded.h"
#include "lib/plan/Formulation.h"
#include "lib/plan/Memory.h"
#include "lib/solver/Solve.h"

namespace tessera::plan {
namespace {

// Plans that people know are where a search begins. Each takes a walk of the program, so of large ones
// few are made.
constexpr size_t kMostSteps = 400000;

// The search, and the proof of what it found.
class PlanSearch {
public:
  PlanSearch(AssignmentPrices &prices, const Options &options)
      : program(prices.getProgram()), prices(prices), effort(options.effort) {
    limits.capacity = options.memory;
    // Without a capacity little is left to branch over, and rounds go on where this one ends.
    limits.effort = std::max(1, options.effort - (options.memory ? 0 : 1));
    limits.gap = kClose;
  }

  PlansOnMesh run(const KnownPlans &known) {
    startFrom(known);
    // Parts of copies as the best plan known reads them make the sum equal to what that takes. Then
    // they go to who used copies in the last solution and paid too little for them.
    SharedCopies copies(prices.getTables());
    copies.share(uses);
    Formulation problem(prices.getTables(), copies);
    if (limits.capacity)
      problem.addHolds();
    int64_t rounds = roundsFor(problem.graph);
    double stride = 1, least = plan.seconds, lastGap = 1;
    int64_t gained = 0; // the last round that did
    for (int64_t round = 0;; ++round) {
      limits.start = problem.encode(plan.values);
      solver::Solution solution = solver::solve(problem.graph, limits);
      if (!solution.choices.empty())
        consider(problem.decode(solution.choices));
      if (solution.cost == solver::forbidden) // nothing is within the capacity, or was found
        break;
      stride *= round == 0 ? 1 : solution.lowerBound > plan.lowerBound ? kLonger : kShorter;
      plan.lowerBound = std::max(plan.lowerBound, solution.lowerBound);
      Uses used = problem.uses(solution.choices);
      double unpaid = copies.unpaid(used);
      least = std::min({least, plan.seconds, solution.cost + unpaid});
      double gap = 1 - plan.lowerBound / plan.seconds;
      if (gap < kGained * lastGap) {
        lastGap = gap;
        gained = round;
      }
      if (round == rounds || gap <= kProven || unpaid <= kClose * solution.cost ||
          round - gained == kInVain)
        break;
      copies.shift(used, stride * (least - solution.cost));
      problem.build();
      limits.effort = 1;
      limits.gap = std::max(kClose, gap / 8);
    }
    // A plan below the bound is none that the graph has: nothing is proven then.
    bool isBound = plan.lowerBound <= (1 + kRounding) * plan.seconds;
    plan.lowerBound = isBound ? std::min(plan.lowerBound, plan.seconds) : 0;
    return {std::move(plan), std::move(starts)};
  }

private:
  static constexpr double kRounding = 1e-6;              // of sums in another order
  static constexpr double kClose = 1e-3;                 // each solution to the least of its graph
  static constexpr double kProven = 7e-3;                // a proof that is good enough
  static constexpr double kGained = 0.95;                // of the gap before: this one is less
  static constexpr int64_t kInVain = 2;                  // rounds that gained nothing
  static constexpr double kLonger = 1.2, kShorter = 0.6; // the next step, if this one got somewhere

  // What all rounds together may look at.
  int64_t roundsFor(const solver::Graph &graph) const {
    constexpr int64_t kMostEntries = 1'000'000;
    return std::min<int64_t>(2 * effort + 2,
                             effort * kMostEntries / (solver::entriesOf(graph) + 1));
  }

  void startFrom(const KnownPlans &known) {
    start({}, known.annotated());
    size_t most = std::max<size_t>(3, kMostSteps / (program.graph.ops.size() + 1));
    const sharding::Mesh &mesh = prices.getPlanner().getMesh();
    for (const AxisRoles &roles : known.on(mesh)) {
      if (most-- == 0)
        break;
      if (std::optional<Assignment> values = known.assignment(mesh, roles))
        start(roles, std::move(*values));
    }
  }

  void start(AxisRoles roles, Assignment values) {
    double seconds = consider(values);
    starts.push_back({std::move(roles), std::move(values), seconds});
  }

  double consider(Assignment values) {
    double peak = peakBytes(program, values), seconds = prices.seconds(values);
    bool fits = limits.capacity == 0 || peak <= double(limits.capacity);
    if (!plan.values.empty() && (fits == isFit ? seconds >= plan.seconds : isFit))
      return seconds;
    plan.values = std::move(values);
    plan.seconds = seconds;
    plan.peakBytes = peak;
    isFit = fits;
    uses = prices.getUses();
    return seconds;
  }

  const Program &program;
  AssignmentPrices &prices;
  int effort;
  solver::Options limits;
  Plan plan;
  std::vector<KnownPlan> starts;
  Uses uses; // the plan's
  bool isFit = false;
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

PlansOnMesh plansOnMesh(const KnownPlans &known, AssignmentPrices &prices, const Options &options) {
  return PlanSearch(prices, options).run(known);
}

} // namespace tessera::plan
