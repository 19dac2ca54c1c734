#include "compiler/plan/CompiledStep.h"

#include "compiler/ExplainMemory.h"
#include "compiler/Phases.h"
#include "compiler/source/Diagnostics.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/tessera/Marks.h"
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/Passes.h"
#include "passes/package/StepWork.h"
#include "passes/plan/ShortProgram.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <map>

namespace tessera::planning {

using namespace mlir;

namespace {

// Phases behind one and before another.
void addPhasesBetween(StringRef first, StringRef last, OpPassManager &passes) {
  bool isBetween = false;
  for (const Phase &phase : phases()) {
    isBetween &= phase.name != last;
    if (isBetween)
      phase.build(passes);
    isBetween |= phase.name == first;
  }
}

// Whether a program with buffers fits into what there is. It is changed for that.
bool fits(ModuleOp module, int64_t bytes) {
  codegen::KernelScratch scratch;
  FailureOr<MemoryFigures> figures = fuse::figuresWithScratch(module, scratch);
  return succeeded(figures) && figures->total() <= bytes;
}

// A program on the road from where it is propagated to where it has buffers.
class Compilation {
public:
  Compilation(OwningOpRef<ModuleOp> propagated, bool triesLeast)
      : triesLeast(triesLeast), module(std::move(propagated)),
        quiet(module->getContext(), [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && step.error.empty())
            step.error = oneLine(diagnostic.str());
          return success();
        }) {}

  CompiledStep &run() {
    auto toBuffers = [](OpPassManager &passes) {
      buildAfterRematerialize(passes);
      addPhasesBetween("fuse", "codegen", passes);
    };
    if (!runPasses([&](OpPassManager &passes) {
          addPhasesBetween("propagate", "fuse", passes);
          buildBeforeRematerialize(passes);
        }))
      return step;
    // Most plans fit with nothing computed again: whether this one does is seen when it has buffers.
    std::optional<int64_t> asked = scheduleOf(*module).memory;
    OwningOpRef<ModuleOp> unformed = asked ? module->clone() : nullptr;
    if (!runPasses(toBuffers))
      return step;
    read();
    if (!asked || fits(*module, *asked))
      return step;
    module = std::move(unformed);
    step.computesAgain = true;
    if (runPasses([&](OpPassManager &passes) {
          passes.addPass(createRematerialize({triesLeast}));
          toBuffers(passes);
        }))
      read();
    else if (int64_t needed = scheduleOf(*module).memory.value_or(0); needed > *asked)
      step.leastBytes = needed;
    else
      step.isTooLarge = !triesLeast;
    return step;
  }

  ModuleOp getModule() { return *module; }
  const MemoryFigures &getMemory() const { return memory; }

private:
  bool runPasses(llvm::function_ref<void(OpPassManager &)> add) {
    PassManager passes(module->getContext());
    passes.enableVerifier(false); // the phases verify themselves
    add(passes);
    bool ran = succeeded(passes.run(*module));
    if (!ran && step.error.empty())
      step.error = "a phase failed and did not say why: a mistake in Tessera";
    return ran;
  }

  void read() {
    ModulePrediction predicted = predictModule(*module);
    memory = predicted.memory;
    step.time = predicted.time;
    step.peakBytes = memory.total();
    step.givenBytes = memory.arguments + memory.outputs;
    for (auto program : module->getOps<exec::ProgramOp>())
      step.atPeak = memoryOf(program).atPeak;
  }

  bool triesLeast;
  OwningOpRef<ModuleOp> module;
  CompiledStep step;
  MemoryFigures memory;
  ScopedDiagnosticHandler quiet;
};

} // namespace

CompiledStep compiledWhole(OwningOpRef<ModuleOp> propagated, bool triesLeast) {
  return std::move(Compilation(std::move(propagated), triesLeast).run());
}

namespace {

// Enough that what stands at either end is far from what is left out; two more on either side of that.
constexpr size_t kFew = 4, kMore = 8;
constexpr int kRounds = 3; // in which few layers come to what many fit by

cost::StepTime extended(const cost::StepTime &few, const cost::StepTime &more, double by) {
  cost::StepTime time;
  for (double cost::StepTime::*part :
       {&cost::StepTime::seconds, &cost::StepTime::compute, &cost::StepTime::communication,
        &cost::StepTime::exposed, &cost::StepTime::overhead, &cost::StepTime::flops})
    time.*part = std::max(0.0, more.*part + by * (more.*part - few.*part));
  for (size_t kind = 0; kind < cost::kComputeKinds; ++kind)
    time.byKind[kind] =
        std::max(0.0, more.byKind[kind] + by * (more.byKind[kind] - few.byKind[kind]));
  return time;
}

class ByLayers {
public:
  ByLayers(ModuleOp whole, bool triesLeast)
      : triesLeast(triesLeast), whole(whole), asked(scheduleOf(whole).memory) {}

  std::optional<CompiledStep> run() {
    auto main = whole.lookupSymbol<func::FuncOp>("main");
    plan::Line line = lineOf(main);
    std::optional<plan::LayersOf> found = plan::withFewerLayers(line, {kFew, kMore});
    if (!found || !isWorthIt(*found, line.ops.size()))
      return std::nullopt;
    layers = found->layers;
    few = shortened(whole, line, found->fewer[0]);
    more = shortened(whole, line, found->fewer[1]);
    if (!few || !more)
      return std::nullopt;
    number(*few, found->fewer[0]);
    number(*more, found->fewer[1]);
    findSides(line, found->fewer[0], found->fewer[1]);
    // The bound is one for all layers. What fits without it is not changed by it.
    constexpr int64_t kAny = int64_t(1) << 60;
    CompiledStep step = compiled(kAny, kAny);
    if (!step.error.empty() || !asked || step.peakBytes <= *asked)
      return step;
    // What all layers hold for later is what can be computed again; a layer or two have theirs at any time.
    double fixed = others + 2 * perLayer, target = double(*asked);
    for (int round = 0; round < kRounds; ++round) {
      double each = (target - fixed) / double(layers);
      if (each <= 0)
        return std::nullopt;
      auto within = [&](size_t count) { return int64_t(fixed + each * double(count)); };
      step = compiled(within(kFew), within(kMore));
      if (!step.error.empty() || step.peakBytes <= *asked)
        break;
      target -= double(step.peakBytes - *asked);
    }
    return step;
  }

private:
  // Both programs together are smaller by far than the whole.
  static bool isWorthIt(const plan::LayersOf &found, size_t ops) {
    size_t kept = 0;
    for (const plan::FewerLayers &fewer : found.fewer)
      kept += size_t(llvm::count(fewer.keeps, true));
    return 4 * kept <= 3 * ops;
  }

  // Locations are kept all along the road: there an op has its number in the line.
  static void number(ModuleOp module, const plan::FewerLayers &fewer) {
    auto next = module.lookupSymbol<func::FuncOp>("main").front().begin();
    for (size_t number = 0; number < fewer.keeps.size(); ++number)
      if (fewer.keeps[number])
        setNumber(&*next++, NumberedAfter::Reshard, int32_t(number));
  }

  // Of arrays that each layer has: those of two of the layers that `few` has not, the first and the last. What
  // both hold is held for later: there are others between them.
  void findSides(const plan::Line &line, const plan::FewerLayers &less,
                 const plan::FewerLayers &rest) {
    std::map<int32_t, std::vector<int32_t>> byKind;
    for (auto [number, op] : llvm::enumerate(line.ops))
      if (rest.keeps[number] && !less.keeps[number])
        byKind[op.kind].push_back(int32_t(number));
    for (const auto &[kind, numbers] : byKind)
      for (auto [i, number] : llvm::enumerate(numbers))
        if (size_t side = i * (kMore - kFew) / numbers.size(); side == 0)
          sideOf[number] = 0;
        else if (side == kMore - kFew - 1)
          sideOf[number] = 1;
  }

  CompiledStep compiled(int64_t fewBytes, int64_t moreBytes) {
    Compilation one(bounded(*few, fewBytes), triesLeast);
    CompiledStep fewStep = std::move(one.run());
    Compilation other(bounded(*more, moreBytes), triesLeast);
    CompiledStep step = std::move(other.run());
    if (step.error.empty())
      step.error = fewStep.error;
    double by = double(layers - kMore) / double(kMore - kFew);
    auto extendedBytes = [&](int64_t fewer, int64_t bytes) {
      return int64_t(double(bytes) + by * double(bytes - fewer));
    };
    step.layers = int64_t(layers);
    step.compiledLayers = {int64_t(kFew), int64_t(kMore)};
    step.isTooLarge |= fewStep.isTooLarge;
    step.computesAgain |= fewStep.computesAgain;
    step.time = extended(fewStep.time, step.time, by);
    if (step.leastBytes && fewStep.leastBytes)
      step.leastBytes = extendedBytes(fewStep.leastBytes, step.leastBytes);
    step.givenBytes = extendedBytes(fewStep.givenBytes, step.givenBytes);
    if (step.error.empty()) {
      step.peakBytes = peakOf(one, other, by);
    }
    return step;
  }

  static OwningOpRef<ModuleOp> bounded(ModuleOp module, int64_t bytes) {
    OwningOpRef<ModuleOp> copy = module.clone();
    cost::ScheduleOptions schedule = scheduleOf(module);
    schedule.memory = bytes;
    setSchedule(*copy, schedule);
    return copy;
  }

  // Where most is held is not the same for few layers and for many: what each instruction finds held grows by
  // what both of the layers around those that are left out hold then.
  int64_t peakOf(Compilation &one, Compilation &other, double by) {
    auto programs = other.getModule().getOps<exec::ProgramOp>();
    exec::ProgramOp program = *programs.begin();
    auto heldBy = [&](int side) {
      return heldOver(program, [&](Operation *first) {
        auto it = sideOf.find(placeOf(first->getLoc()).number);
        return side < 0 || (it != sideOf.end() && it->second == side);
      });
    };
    std::vector<int64_t> held = heldBy(-1), before = heldBy(0), behind = heldBy(1);
    double now = 1, all = 1;
    perLayer = others = 0;
    for (size_t i = 0; i < held.size(); ++i) {
      double stored = double(std::min(before[i], behind[i])), here = double(held[i]);
      now = std::max(now, here);
      all = std::max(all, here + double(layers - kMore) * stored);
      perLayer = std::max(perLayer, stored);
      others = std::max(others, here - double(kMore) * stored);
    }
    const MemoryFigures &less = one.getMemory(), &rest = other.getMemory();
    auto extendedBytes = [&](int64_t fewer, int64_t more) {
      return double(more) + by * double(more - fewer);
    };
    double beside = all * double(rest.outputs + rest.arena) / now; // with what lies free between
    others += extendedBytes(less.arguments, rest.arguments);
    return int64_t(extendedBytes(less.arguments, rest.arguments) +
                   std::max(extendedBytes(less.outputs, rest.outputs), beside));
  }

  bool triesLeast;
  ModuleOp whole;
  std::optional<int64_t> asked;
  size_t layers = 0;
  OwningOpRef<ModuleOp> few, more;
  std::map<int32_t, int> sideOf; // by number in the line
  double perLayer = 0,
         others = 0; // bytes that a layer holds for later, and most that is held besides
};

} // namespace

std::optional<CompiledStep> compiledByLayers(ModuleOp propagated, bool triesLeast) {
  return ByLayers(propagated, triesLeast).run();
}

} // namespace tessera::planning
