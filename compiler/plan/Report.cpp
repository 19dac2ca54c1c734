#include "compiler/plan/Report.h"

#include "compiler/Report.h"
#include "compiler/explanation/Explanation.h"
#include "compiler/mends/Change.h"
#include "compiler/source/SourcePlaces.h"
#include "lib/mends/SpecText.h"
#include "lib/plan/Launches.h"
#include "lib/plan/Meshes.h"
#include "lib/text/Quantity.h"
#include "passes/memory/ParameterNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::planning {

using namespace mlir;

namespace {

// What a step takes whatever the plan is: to begin and end, and to launch kernels. Where a compiled
// program has fewer of these than the search counts, which are then in its bounds: how much less.
struct Steady {
  double seconds = 0, launches = 0, fewer = 0;

  explicit Steady(const Candidate &candidate) {
    const OnMesh &mesh = *candidate.onMesh;
    double counted =
        plan::launchSeconds(mesh.folded(), mesh.topology(), mesh.getMesh().numDevices());
    launches = std::min(counted, candidate.leastOverhead);
    fewer = counted - launches;
    seconds = mesh.topology().device.stepSeconds;
  }
};

} // namespace

// Messages that the search counts one by one may travel together. Where first readers wait that is more than
// the program takes, and so may the bound be of others: then it proves nothing.
static bool isCountedTooLong(const Candidate &candidate) {
  Steady steady(candidate);
  return candidate.waiting.time.seconds() + steady.seconds - steady.fewer >
         candidate.tried.time.seconds;
}

std::optional<Proof> proofOf(const Candidate &candidate) {
  if (candidate.seconds <= 0)
    return std::nullopt;
  const cost::StepTime &time = candidate.tried.time;
  Steady steady(candidate);
  std::optional<Proof> best;
  auto consider = [&](Proof proof) {
    if (proof.lowerBound <= 0)
      return;
    proof.seconds += steady.seconds;
    proof.lowerBound += steady.seconds;
    // Of what a step takes; without what hides, sums are above it.
    if (proof.of != Proof::All && proof.lowerBound > time.seconds)
      return;
    if (!best || proof.gap() < best->gap())
      best = proof;
  };
  // Nothing is known below where the bound of a search is 0.
  auto above = [](double bound, double more) { return bound > 0 ? bound + more : 0; };
  consider({Proof::All, candidate.seconds + steady.launches,
            above(candidate.lowerBound, steady.launches)});
  consider({Proof::Hiding, candidate.hiding.time.seconds() - steady.fewer,
            above(candidate.hiding.bound, -steady.fewer)});
  if (!isCountedTooLong(candidate))
    consider({Proof::Hiding, candidate.waiting.time.seconds() - steady.fewer,
              above(candidate.waiting.bound, -steady.fewer)});
  if (!candidate.tried.computesAgain)
    consider({Proof::Computing,
              candidate.computing + std::max(0.0, time.seconds - time.compute - steady.seconds),
              above(candidate.leastComputing, steady.launches)});
  return best;
}

// Whether the compiled program takes less than what no plan should be below.
static bool refutesHiding(const Candidate &candidate) {
  Steady steady(candidate);
  return candidate.hiding.bound > 0 &&
         candidate.hiding.bound + steady.seconds - steady.fewer > candidate.tried.time.seconds;
}

static llvm::json::Object jsonOf(const Hiding &hiding, bool isProven) {
  return llvm::json::Object{{"computing", hiding.time.computing + hiding.time.launches},
                            {"exposed", hiding.time.exposed},
                            {"hidden", hiding.time.hidden},
                            {"seconds", hiding.time.seconds()},
                            {"lower_bound", isProven ? llvm::json::Value(hiding.bound) : nullptr}};
}

// The source line of an op, or what its result is called in the text.
static std::string whereIs(Operation *op) {
  SourcePlace place = placeOf(op->getLoc());
  std::string where = explain::whereText(place.frames);
  return where.empty() ? place.name : where;
}

std::string constraintText(Operation *op) {
  return "the result of " + op->getName().stripDialect().str() + " at " + whereIs(op);
}

namespace {

struct NamedSharding {
  std::string name; // for people
  int32_t index;    // of the argument
  const sharding::TensorSharding *sharding;
};

std::vector<NamedSharding> argumentsOf(const Candidate &candidate, ModuleOp read) {
  std::vector<NamedSharding> all;
  auto main = read.lookupSymbol<func::FuncOp>("main");
  plan::Planned values = candidate.onMesh->unfolded(candidate.folded);
  for (auto [value, facts] : llvm::enumerate(candidate.onMesh->program().values))
    if (int32_t index = facts.argument; index >= 0)
      all.push_back(
          {argumentName(placeOf(main.getArgument(index).getLoc()), index), index, &values[value]});
  return all;
}

struct Constraint {
  std::string location, what;
  const sharding::TensorSharding *sharding;
};

// Those of one source line, and of one sharding, are one.
std::vector<std::pair<Constraint, int>> constraintsOf(const Candidate &candidate, ModuleOp read) {
  std::vector<Operation *> ops = mends::numberedOps(read);
  std::vector<std::pair<Constraint, int>> all;
  for (const Annotation &each : candidate.tried.annotations) {
    if (each.kind != plan::AnnotationPlace::Inside)
      continue;
    Operation *op = ops[each.spot.at];
    Constraint constraint{whereIs(op), op->getName().stripDialect().str(), &each.sharding};
    auto same = llvm::find_if(all, [&](const auto &other) {
      return other.first.location == constraint.location && other.first.what == constraint.what &&
             plan::liesAlike(*other.first.sharding, *constraint.sharding);
    });
    if (same == all.end())
      all.push_back({constraint, 1});
    else
      ++same->second;
  }
  return all;
}

std::string percent(double fraction) { return llvm::formatv("{0:F1}%", 100 * fraction).str(); }

} // namespace

std::string planJson(const Planned &planned, ModuleOp read) {
  const Candidate &best = *planned.best;
  const sharding::Mesh &mesh = best.onMesh->getMesh();
  llvm::json::Object axes, arguments;
  for (const sharding::MeshAxis &axis : mesh.axes)
    axes[axis.name] = axis.size;
  // By the program's own names for them, not by those of its text, %x, which people read.
  std::vector<std::string> names = memory::argumentNames(read.lookupSymbol<func::FuncOp>("main"));
  for (const NamedSharding &each : argumentsOf(best, read)) {
    llvm::json::Array dims;
    for (const sharding::DimSharding &dim : each.sharding->dims) {
      llvm::json::Array axes;
      for (const sharding::AxisRef &axis : dim.axes)
        axes.push_back(mends::axisText(mesh, axis));
      dims.push_back(std::move(axes));
    }
    arguments[names[each.index]] = std::move(dims);
  }
  llvm::json::Array constraints, alternatives;
  for (const auto &[constraint, count] : constraintsOf(best, read))
    constraints.push_back(llvm::json::Object{{"location", llvm::json::fixUTF8(constraint.location)},
                                             {"value", constraint.what},
                                             {"spec", mends::specText(mesh, *constraint.sharding)},
                                             {"count", count}});
  for (const Candidate *other : planned.others)
    alternatives.push_back(llvm::json::Object{{"kind", other->kind},
                                              {"mesh", plan::meshText(other->onMesh->getMesh())},
                                              {"seconds", other->tried.time.seconds},
                                              {"peak_bytes", other->tried.peakBytes}});
  const cost::StepTime &time = best.tried.time;
  llvm::json::Object report{{"kind", best.kind},
                            {"mesh", std::move(axes)},
                            {"axes", plan::meshText(mesh)},
                            {"predicted", llvm::json::Object{{"seconds", time.seconds},
                                                             {"compute", time.compute},
                                                             {"communication", time.communication},
                                                             {"exposed", time.exposed},
                                                             {"overhead", time.overhead},
                                                             {"peak_bytes", best.tried.peakBytes}}},
                            {"differing_values", int64_t(best.tried.others)},
                            {"search_seconds", planned.searchSeconds},
                            {"arguments", std::move(arguments)},
                            {"constraints", std::move(constraints)},
                            {"alternatives", std::move(alternatives)},
                            {"decisions", explain::decisionsJson(planned.decisions)}};
  std::optional<Proof> proof = proofOf(best);
  if (best.hiding.bound > 0)
    report["hiding"] = jsonOf(best.hiding, !refutesHiding(best));
  if (best.waiting.bound > 0)
    report["waiting"] = jsonOf(best.waiting, !isCountedTooLong(best));
  report["planned_seconds"] = best.seconds > 0 ? llvm::json::Value(best.seconds) : nullptr;
  report["proven_of"] = proof ? llvm::json::Value(proof->seconds) : nullptr;
  report["lower_bound"] = proof ? llvm::json::Value(proof->lowerBound) : nullptr;
  report["gap"] = proof ? llvm::json::Value(proof->gap()) : nullptr;
  return reportText(std::move(report)) + "\n";
}

std::string planText(const Planned &planned, ModuleOp read, bool all) {
  const Candidate &best = *planned.best;
  const sharding::Mesh &mesh = best.onMesh->getMesh();
  const cost::StepTime &time = best.tried.time;
  std::string text = planned.name + ": " + text::counted(uint64_t(mesh.numDevices()), "device") +
                     ", mesh " + plan::meshText(mesh) +
                     (best.kind == kSearch ? "" : ": " + best.kind) + "\n";
  text += "a step: " + text::seconds(time.seconds) + " predicted, compute " +
          text::seconds(time.compute) + ", communication " + text::seconds(time.communication) +
          " (waited for: " + text::seconds(time.exposed) + "), overhead " +
          text::seconds(time.overhead) + "; " + text::bytes(uint64_t(best.tried.peakBytes)) +
          " a device at the peak\n";
  if (std::optional<Proof> proof = proofOf(best))
    text += "proven: no plan on this mesh saves more than " + percent(proof->gap()) + " of the " +
            text::seconds(proof->seconds) +
            (proof->of == Proof::Computing ? " of computing and waiting\n"
             : proof->of == Proof::Hiding
                 ? " that the search counts, where communication hides behind computing\n"
                 : " that the search counts\n");
  if (refutesHiding(best))
    text += "not proven: where communication hides behind computing, the search counts " +
            text::seconds(best.hiding.bound) + " at least, more than what is compiled takes\n";
  text += "\narguments\n";
  std::vector<NamedSharding> arguments = argumentsOf(best, read);
  size_t width = 0;
  for (const NamedSharding &each : arguments)
    width = std::max(width, std::min<size_t>(each.name.size(), 48));
  for (const NamedSharding &each : arguments)
    text += "  " + each.name + std::string(width - std::min(width, each.name.size()) + 2, ' ') +
            mends::specText(mesh, *each.sharding) + "\n";
  if (auto constraints = constraintsOf(best, read); !constraints.empty()) {
    text += "\nconstraints\n";
    for (const auto &[constraint, count] : constraints)
      text += "  " + mends::specText(mesh, *constraint.sharding) + "  on the result of " +
              constraint.what + " at " + constraint.location +
              (count > 1 ? " (" + std::to_string(count) + " times)" : "") + "\n";
  }
  if (!planned.decisions.empty())
    text += "\ndecisions, and what other ones would cost of the " + text::seconds(best.seconds) +
            "\n" + explain::decisionsText(planned.decisions, all);
  if (!planned.others.empty()) {
    text += "\nothers\n";
    for (const Candidate *other : planned.others)
      text += "  " + text::seconds(other->tried.time.seconds) + ", " +
              text::bytes(uint64_t(other->tried.peakBytes)) + "  " + other->kind + ", mesh " +
              plan::meshText(other->onMesh->getMesh()) + "\n";
  }
  return text;
}

} // namespace tessera::planning
