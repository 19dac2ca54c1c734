#include "lib/plan/Search.h"

#include "lib/plan/Formulation.h"
#include "lib/plan/Memory.h"
#include "lib/solver/Solve.h"

namespace tessera::plan {
namespace {

// Plans that people know are where a search begins. Each takes a walk of the program, so of large ones
// few are made.
constexpr size_t kMostSteps = 400000;

solver::Choices bestStart(const Program &program, const sharding::Mesh &mesh,
                          const KnownPlans &known, const Formulation &problem, int64_t capacity) {
  solver::Choices best;
  double least = 0;
  bool fits = false;
  auto consider = [&](const Assignment &assignment) {
    solver::Choices choices = problem.encode(assignment);
    double cost = solver::costOf(problem.graph, choices);
    bool fitsNow = capacity == 0 || peakBytes(program, assignment) <= double(capacity);
    if (best.empty() || fitsNow > fits || (fitsNow == fits && cost < least)) {
      best = std::move(choices);
      least = cost;
      fits = fitsNow;
    }
  };
  consider(known.annotated());
  size_t most = std::max<size_t>(3, kMostSteps / (program.graph.ops.size() + 1));
  for (const AxisRoles &roles : known.on(mesh)) {
    if (most-- == 0)
      break;
    if (std::optional<Assignment> start = known.assignment(mesh, roles))
      consider(*start);
  }
  return best;
}

} // namespace

Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &options) {
  AssignmentPrices prices(program, mesh, topology);
  return planOnMesh(KnownPlans(program), prices, options);
}

Plan planOnMesh(const KnownPlans &known, AssignmentPrices &prices, const Options &options) {
  const Program &program = prices.getProgram();
  sharding::ReshardPlanner &planner = prices.getPlanner();
  Formulation problem(program, planner);
  if (options.memory)
    problem.addHolds();
  solver::Options limits;
  limits.capacity = options.memory;
  limits.effort = options.effort;
  limits.gap = 1e-3;
  limits.start = bestStart(program, planner.getMesh(), known, problem, options.memory);
  solver::Solution solution = solver::solve(problem.graph, limits);
  Plan plan;
  plan.values = problem.decode(solution.choices.empty() ? limits.start : solution.choices);
  plan.seconds = prices.seconds(plan.values);
  // Copies that several ops share may make the start the better plan.
  if (!solution.choices.empty()) {
    Assignment start = problem.decode(limits.start);
    double seconds = prices.seconds(start);
    bool fits = options.memory == 0 || peakBytes(program, start) <= double(options.memory);
    if (fits && seconds < plan.seconds) {
      plan.values = std::move(start);
      plan.seconds = seconds;
    }
  }
  // The search's own sum has each reader of a value pay for its copy, where the road shares copies:
  // what is proven of that sum is said of this one in proportion.
  double most = std::max(solution.cost, solution.lowerBound);
  plan.lowerBound = most > 0 && solution.lowerBound > 0
                        ? std::min(1.0, plan.seconds / most) * solution.lowerBound
                        : 0;
  plan.lowerBound = std::min(plan.lowerBound, plan.seconds);
  plan.peakBytes = peakBytes(program, plan.values);
  return plan;
}

} // namespace tessera::plan
