// Programs that hold less than another: the steps that a search for one that fits goes.
#include "dialects/tessera/Marks.h"
#include "passes/fuse/CopyCheap.h"
#include "passes/fuse/EarlySums.h"
#include "passes/fuse/FormAttention.h"
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/NarrowStacks.h"
#include "passes/fuse/RematCopies.h"
#include "passes/fuse/RematStacks.h"

using namespace mlir;

namespace tessera::fuse {

constexpr int kSteps = 6;        // straight to a peak
constexpr size_t kBelowPeak = 3; // steps at a way's end that leave the peak as it was
constexpr int kPart = 8;         // of a peak: a small step

// Forms kernels on trial.
MemoryBound::Lowered MemoryBound::tried(OwningOpRef<ModuleOp> module) {
  auto program = std::make_unique<LowerProgram>();
  FailureOr<RematTrial> trial = tryKernels(*module, scratch);
  if (failed(trial))
    return failure();
  Stacks(*module).describe(*trial);
  program->peak = cost::peakOf(trial->program);
  program->trial = std::move(*trial);
  program->module = std::move(module);
  return program;
}

MemoryBound::Lowered MemoryBound::withPlan(const LowerProgram &from, const RematTrial &trial,
                                           const cost::RematPlan &plan) {
  if (plan.values.empty() && plan.stacks.empty())
    return std::unique_ptr<LowerProgram>();
  OwningOpRef<ModuleOp> made = ModuleOp(*from.module).clone();
  auto stacks = std::make_unique<Stacks>(*made);
  copyValues(*made, trial, plan.values);
  // A stack may be filled with a copy now, and others be made of what it was filled with: of these values the next
  // plan can say.
  bool takesValues = stacks->canDrop(plan.stacks);
  if (!takesValues) {
    made = ModuleOp(*from.module).clone();
    stacks = std::make_unique<Stacks>(*made);
    if (!stacks->canDrop(plan.stacks))
      return std::unique_ptr<LowerProgram>();
  }
  stacks->drop(plan.stacks);
  Lowered program = tried(std::move(made));
  if (succeeded(program))
    (*program)->computedAgain =
        from.computedAgain +
        static_cast<int>((takesValues ? plan.values.size() : 0) + plan.stacks.size());
  return program;
}

// The next one for a peak; null where nothing lowers it. Kernels may come out otherwise than planned:
// where what should be a part of its reader's kernel was none, nothing is taken for that. Attention
// that reads another array than its gradient does has scores in memory: what both read is kept, too.
MemoryBound::Lowered MemoryBound::lowerThan(const LowerProgram &from, int64_t target,
                                            bool makesLater) {
  cost::RematProgram program = from.trial.program;
  auto planned = [&] {
    return withPlan(from, from.trial, cost::planRemat(program, target, {.makesLater = makesLater}));
  };
  Lowered best = planned();
  auto isEnough = [&](const Lowered &next) {
    return failed(next) || (*next && (*next)->peak <= target);
  };
  auto keepLower = [&](Lowered next) {
    if (failed(next) || !*best || (*next && (*next)->peak < (*best)->peak))
      best = std::move(next);
  };
  if (!isEnough(best) && !from.trial.ofScores.empty()) {
    for (auto [block, storage] : from.trial.ofScores)
      program.blocks[block].makers[storage].again = false;
    keepLower(planned());
  }
  if (failed(best) || (*best && (*best)->peak < from.peak))
    return best;
  for (cost::RematBlock &block : program.blocks)
    block.joins.clear();
  best = planned();
  if (succeeded(best) && *best && (*best)->peak >= from.peak)
    best->reset();
  return best;
}

// Where nothing lowers the peak of the program's own order, another order may.
MemoryBound::Lowered MemoryBound::lowerBelowPeak(const LowerProgram &from) {
  int64_t target = from.peak - from.peak / kPart;
  Lowered next = withPlan(
      from, from.trial,
      cost::planRemat(from.trial.program, target, {.makesLater = true, .goesBelowPeaks = true}));
  if (succeeded(next) && *next && (*next)->peak > from.peak)
    next->reset();
  return next;
}

// By what lives at the peak of the order that was chosen for a program, of which that is another one than
// the trial's. Attention that reads another array than its gradient does has scores in memory: what both read
// is kept.
MemoryBound::Lowered MemoryBound::lowerInOrder(const LowerProgram &from, RematTrial trial,
                                               int64_t target) {
  for (auto [block, storage] : trial.ofScores)
    trial.program.blocks[block].makers[storage].again = false;
  cost::RematPlan plan = cost::planRemat(trial.program, target);
  if (plan.peakBytes > target) {
    cost::RematPlan other = cost::planRemat(trial.program, target, {.makesLater = true});
    if (other.peakBytes < plan.peakBytes)
      plan = std::move(other);
  }
  return withPlan(from, trial, plan);
}

static size_t countTasks(const RematTrial &trial) {
  size_t count = 0;
  for (const TrialBlock &block : trial.blocks)
    count += block.tasks.size();
  return count;
}

// The program as it is, but for stacks in the type in which they are computed, and sums that are added to
// early.
LogicalResult MemoryBound::findNarrow() {
  if (narrowed)
    return success();
  narrowed.emplace();
  OwningOpRef<ModuleOp> made = module.clone();
  int changed = narrowStacks(*made);
  changed += addEarly(*made);
  if (changed == 0)
    return success();
  Lowered program = tried(std::move(made));
  if (failed(program))
    return failure();
  (*program)->computedAgain = changed;
  narrowed = std::move(*program);
  return success();
}

// What all begins with, changed; null where nothing is, by the number of changes.
MemoryBound::Lowered MemoryBound::withChanges(llvm::function_ref<int(ModuleOp)> change) {
  const LowerProgram &from = start();
  OwningOpRef<ModuleOp> made = ModuleOp(*from.module).clone();
  int changes = change(*made);
  if (changes == 0)
    return std::unique_ptr<LowerProgram>();
  Lowered program = tried(std::move(made));
  if (succeeded(program))
    (*program)->computedAgain = from.computedAgain + changes;
  return program;
}

// What is cheap computed in loops, and small attention as one kernel; null where there is none.
MemoryBound::Lowered MemoryBound::withSmallAttention() {
  FailureOr<const LowerProgram *> inLoops = onTheWay(ways[kInLoops], 0);
  if (failed(inLoops))
    return failure();
  const LowerProgram &from = *inLoops ? **inLoops : start();
  OwningOpRef<ModuleOp> made = ModuleOp(*from.module).clone();
  cost::ScheduleOptions schedule = scheduleOf(*made);
  schedule.smallAttention = true;
  setSchedule(*made, schedule);
  Lowered program = tried(std::move(made));
  if (failed(program))
    return failure();
  size_t arrays = countTasks(from.trial), fewer = countTasks((*program)->trial);
  if (fewer >= arrays)
    return std::unique_ptr<LowerProgram>();
  (*program)->computedAgain = from.computedAgain + static_cast<int>(arrays - fewer);
  return program;
}

// In a small step, as kernels come out otherwise than before; or in a larger one.
MemoryBound::Lowered MemoryBound::stepDown(Way &way) {
  if (way.ofResults && way.steps.empty())
    return withChanges([](ModuleOp made) { return replaceSoftmaxSums(made); });
  if (way.inLoops && way.steps.empty())
    return way.smallAttention ? withSmallAttention() : withChanges(copyIntoLoops);
  const LowerProgram &from = way.steps.empty() ? start() : *way.steps.back();
  for (int64_t target :
       {from.peak - from.peak / kPart, from.peak - 2 * from.peak / kPart, int64_t(0)}) {
    Lowered next = lowerThan(from, target, way.makesLater);
    if (failed(next) || *next)
      return next;
  }
  if (!way.makesLater || way.belowPeak == kBelowPeak)
    return std::unique_ptr<LowerProgram>();
  ++way.belowPeak;
  return lowerBelowPeak(from);
}

// The program after this step; null behind the last one.
FailureOr<const LowerProgram *> MemoryBound::onTheWay(Way &way, size_t step) {
  while (way.steps.size() <= step && !way.isWhole) {
    Lowered next = stepDown(way);
    if (failed(next))
      return failure();
    way.isWhole = !*next || way.steps.size() + 1 == kWay;
    if (*next)
      way.steps.push_back(std::move(*next));
  }
  return step < way.steps.size() ? way.steps[step].get() : nullptr;
}

// Straight to a peak, or as far as it goes.
FailureOr<const LowerProgram *> MemoryBound::straightTo(int64_t target) {
  const LowerProgram *at = &start();
  for (int step = 0; step < kSteps && at->peak > target; ++step) {
    Lowered next = lowerThan(*at, target, /*makesLater=*/false);
    if (failed(next))
      return failure();
    if (!*next)
      break;
    aimed.push_back(std::move(*next));
    at = aimed.back().get();
  }
  return at;
}

} // namespace tessera::fuse
