#include "passes/fuse/MemoryBound.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/OpsWithin.h"
#include "passes/codegen/BoundScratch.h"
#include "passes/codegen/Passes.h"
#include "passes/fuse/FormKernels.h"
#include "passes/fuse/RematCopies.h"
#include "passes/fuse/RematStacks.h"
#include "passes/memory/Passes.h"
#include "passes/order/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace tessera::fuse {

constexpr int kMeasured = 2;     // programs that are measured for one bound, from the one as it is
constexpr int kSteps = 6;        // to each of them
constexpr size_t kWay = 24;      // steps down to the least
constexpr size_t kLowest = 3;    // of which the last are measured in any case
constexpr size_t kBelowPeak = 3; // behind those, that leave the peak as it was
constexpr int kParts = 8;        // of the peak, of which all but the last two are aimed at
constexpr size_t kStraight = 4;  // programs of these that are measured
constexpr int kTried = 3;        // bounds that the least is tried with
constexpr int kMargin = 64;      // part of the arena that a target stays below
constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max() / 2;

FailureOr<MemoryFigures> figuresWithScratch(ModuleOp module, codegen::KernelScratch &scratch) {
  scratch.describe(module);
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createPlaceScratch());
  auto programs = module.getOps<exec::ProgramOp>();
  if (failed(passes.run(module)) || programs.empty())
    return failure();
  return memoryFigures(*programs.begin());
}

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

MemoryBound::Lowered MemoryBound::withPlan(const LowerProgram &from, const cost::RematPlan &plan) {
  if (plan.values.empty() && plan.stacks.empty())
    return std::unique_ptr<LowerProgram>();
  OwningOpRef<ModuleOp> made = ModuleOp(*from.module).clone();
  Stacks stacks(*made);
  copyValues(*made, from.trial, plan.values);
  stacks.drop(plan.stacks);
  Lowered program = tried(std::move(made));
  if (succeeded(program))
    (*program)->computedAgain =
        from.computedAgain + static_cast<int>(plan.values.size() + plan.stacks.size());
  return program;
}

// The next one for a peak; null where nothing lowers it. Kernels may come out otherwise than planned:
// where what should be a part of its reader's kernel was none, nothing is taken for that. Attention
// that reads another array than its gradient does has scores in memory: what both read is kept, too.
MemoryBound::Lowered MemoryBound::lowerThan(const LowerProgram &from, int64_t target,
                                            bool makesLater) {
  cost::RematProgram program = from.trial.program;
  auto planned = [&] {
    return withPlan(from, cost::planRemat(program, target, {.makesLater = makesLater}));
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
  int64_t target = from.peak - from.peak / kParts;
  Lowered next = withPlan(from, cost::planRemat(from.trial.program, target,
                                                {.makesLater = true, .goesBelowPeaks = true}));
  if (succeeded(next) && *next && (*next)->peak > from.peak)
    next->reset();
  return next;
}

// In a small step, as kernels come out otherwise than before; or in a larger one.
MemoryBound::Lowered MemoryBound::stepDown(Way &way) {
  const LowerProgram &from = way.steps.empty() ? *first : *way.steps.back();
  for (int64_t target : {from.peak - from.peak / 8, from.peak - from.peak / 4, int64_t(0)}) {
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

FailureOr<MeasuredProgram> MemoryBound::measure(const LowerProgram &program,
                                                std::optional<int64_t> allowed) {
  OwningOpRef<ModuleOp> copy = ModuleOp(*program.module).clone();
  if (allowed || scratchWithin) {
    cost::ScheduleOptions schedule = scheduleOf(module);
    if (allowed)
      schedule.memory = std::max<int64_t>(*allowed, 1);
    schedule.scratchWithin = scratchWithin;
    setSchedule(*copy, schedule);
  }
  if (failed(verify(*copy)) || failed(formAllKernels(*copy)))
    return failure();
  sizeScratch(*copy, scratch);
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // what is chosen goes the same way once more
  buildOrderPipeline(passes);
  buildMemoryPipeline(passes);
  if (failed(passes.run(*copy)))
    return failure();
  if (failed(boundScratch(*copy, scratch)))
    return failure();
  FailureOr<MemoryFigures> figures = figuresWithScratch(*copy, scratch);
  if (failed(figures))
    return failure();
  arguments = figures->arguments, outputs = figures->outputs;
  MeasuredProgram measured{&program, figures->total(), allowed};
  measured.scratchWithin = scratchWithin;
  if (predicts)
    measured.seconds = predictStep(*copy->getOps<exec::ProgramOp>().begin(), topologyOf(*copy),
                                   sdy::MeshTable(*copy).main())
                           .time.seconds;
  return measured;
}

LogicalResult MemoryBound::begin() {
  Lowered asItIs = tried(module.clone());
  if (failed(asItIs))
    return failure();
  first = std::move(*asItIs);
  return success();
}

int64_t MemoryBound::mostScratch() const {
  int64_t most = 0;
  for (auto [described, block] : llvm::zip(first->trial.program.blocks, first->trial.blocks))
    for (auto [task, back] : llvm::zip(described.tasks, block.tasks))
      if (back.isKernel)
        most = std::max(most, task.inside);
  return most;
}

// From the program as it is straight to a peak, or as far as it goes.
FailureOr<const LowerProgram *> MemoryBound::straightTo(int64_t target) {
  const LowerProgram *at = first.get();
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

// The order for a bound, or the one that tries hardest, where that needs less.
FailureOr<MeasuredProgram> MemoryBound::measureWithin(const LowerProgram &program,
                                                      int64_t mostBytes) {
  FailureOr<MeasuredProgram> measured = measure(program, mostBytes);
  if (failed(measured) || measured->bytes <= mostBytes)
    return measured;
  FailureOr<MeasuredProgram> hardest = measure(program, arguments + outputs);
  return failed(hardest) || hardest->bytes < measured->bytes ? hardest : measured;
}

// Straight to a peak, which follows what came of the one before.
FailureOr<std::optional<MeasuredProgram>> MemoryBound::aim(int64_t mostBytes, double ratio) {
  auto wanted = static_cast<double>(mostBytes - arguments);
  for (int i = 0; i < kMeasured; ++i) {
    auto target = static_cast<int64_t>(wanted / ratio * (1 - 1.0 / kMargin));
    FailureOr<const LowerProgram *> reached = straightTo(target);
    if (failed(reached))
      return failure();
    const LowerProgram *at = *reached;
    if (at->peak > target)
      break;
    FailureOr<MeasuredProgram> measured = measureWithin(*at, mostBytes);
    if (failed(measured))
      return failure();
    if (measured->bytes <= mostBytes)
      return std::optional(*measured);
    ratio *= static_cast<double>(measured->bytes - arguments) / wanted;
  }
  return std::optional<MeasuredProgram>();
}

// Step by step, until one fits: those that should, and the last ones.
FailureOr<std::optional<MeasuredProgram>> MemoryBound::descend(Way &way, int64_t mostBytes,
                                                               double ratio) {
  auto wanted = static_cast<double>(mostBytes - arguments);
  std::vector<const LowerProgram *> last;
  for (size_t step = 0; true; ++step) {
    FailureOr<const LowerProgram *> at = onTheWay(way, step);
    if (failed(at))
      return failure();
    bool isEnd = !*at;
    if (!isEnd)
      last.push_back(*at);
    if (!isEnd && static_cast<double>((*at)->peak) * ratio > wanted)
      continue;
    for (const LowerProgram *program :
         llvm::ArrayRef(last).take_back(isEnd ? kLowest + way.belowPeak : 1)) {
      FailureOr<MeasuredProgram> measured = measureWithin(*program, mostBytes);
      if (failed(measured))
        return failure();
      if (measured->bytes <= mostBytes)
        return std::optional(*measured);
      ratio = static_cast<double>(measured->bytes - arguments) / static_cast<double>(program->peak);
    }
    if (isEnd)
      return std::optional<MeasuredProgram>();
  }
}

FailureOr<std::optional<MeasuredProgram>> MemoryBound::fitInto(int64_t mostBytes) {
  int64_t bytes = 0;
  for (int64_t allowed : {mostBytes, kNoBound}) {
    FailureOr<MeasuredProgram> asItIs = measure(*first, allowed);
    if (failed(asItIs))
      return failure();
    if (asItIs->bytes <= mostBytes)
      return std::optional(*asItIs);
    if (hasNoRoom(mostBytes))
      return std::optional<MeasuredProgram>();
    bytes = std::max(bytes, asItIs->bytes);
  }
  if (first->peak == 0)
    return std::optional<MeasuredProgram>();
  double ratio = static_cast<double>(bytes - arguments) / static_cast<double>(first->peak);
  FailureOr<std::optional<MeasuredProgram>> found = aim(mostBytes, ratio);
  for (Way &way : ways)
    if (succeeded(found) && !*found)
      found = descend(way, mostBytes, ratio);
  return found;
}

// The program as it is, the last ones on each way, and the lowest of those that lead straight to a part
// of the peak: which of them lies in least memory only their layout tells.
FailureOr<std::vector<const LowerProgram *>> MemoryBound::lowOnes() {
  std::vector<const LowerProgram *> low{first.get()}, straight;
  for (const Way &way : ways)
    for (const auto &program : llvm::ArrayRef(way.steps).take_back(kLowest + way.belowPeak))
      low.push_back(program.get());
  for (int part = 0; part < kParts - 2; ++part) {
    FailureOr<const LowerProgram *> at = straightTo(first->peak / kParts * part);
    if (failed(at))
      return failure();
    bool isNew = llvm::none_of(straight, [&](const LowerProgram *other) {
      return other->peak == (*at)->peak && other->computedAgain == (*at)->computedAgain;
    });
    if (isNew && *at != first.get())
      straight.push_back(*at);
  }
  llvm::stable_sort(straight, [](const auto *a, const auto *b) { return a->peak < b->peak; });
  straight.resize(std::min(straight.size(), kStraight));
  llvm::append_range(low, straight);
  return low;
}

// The program as it is, or straight down as far as it goes.
FailureOr<MeasuredProgram> MemoryBound::leastOfTwo() {
  FailureOr<const LowerProgram *> lower = straightTo(0);
  if (failed(lower))
    return failure();
  FailureOr<MeasuredProgram> asItIs = measure(*first, arguments + outputs);
  if (failed(asItIs) || *lower == first.get())
    return asItIs;
  FailureOr<MeasuredProgram> measured = measure(**lower, arguments + outputs);
  return failed(measured) || measured->bytes < asItIs->bytes ? measured : asItIs;
}

// An order is chosen by an estimate: one that was asked for less may hold more than another.
FailureOr<MeasuredProgram> MemoryBound::least(int64_t wanted) {
  if (hasNoRoom(wanted) && countOps(module) > large)
    return leastOfTwo();
  for (Way &way : ways)
    if (failed(onTheWay(way, kWay)))
      return failure();
  FailureOr<MeasuredProgram> lowest = measure(*first, kNoBound);
  if (failed(lowest))
    return failure();
  FailureOr<std::vector<const LowerProgram *>> low = lowOnes();
  if (failed(low))
    return failure();
  for (const LowerProgram *program : *low) {
    int64_t bound = arguments + outputs;
    for (int k = 0; k < kTried; ++k) {
      FailureOr<MeasuredProgram> measured = measure(*program, bound);
      if (failed(measured))
        return failure();
      bool isMet = measured->bytes <= bound;
      bound = measured->bytes;
      if (measured->bytes < lowest->bytes)
        lowest = *measured;
      if (isMet)
        break;
    }
  }
  return lowest;
}

// What libraries take is their own.
bool fitsAnyway(ModuleOp module, int64_t bound) {
  constexpr int64_t padding = 64, panels = 1 << 20;
  int64_t bytes = 0;
  bool callsLibrary = false;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += byteSize(tensor) + padding;
  };
  module.walk([&](Operation *op) {
    callsLibrary |= isa<LibraryCallOpInterface>(op);
    llvm::for_each(op->getResultTypes(), add);
    if (isa<func::ReturnOp>(op)) // outputs are arrays of their own, also of one value twice
      llvm::for_each(op->getOperandTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
  return !callsLibrary && bytes + std::max(bytes, panels) <= bound;
}

void sizeScratch(ModuleOp module, codegen::KernelScratch &scratch) {
  std::optional<int64_t> bound = scheduleOf(module).memory;
  if (bound && !fitsAnyway(module, *bound))
    scratch.describeFused(module);
}

std::vector<PeakValue> valuesAtPeak(const LowerProgram &program) {
  std::vector<PeakValue> values;
  std::vector<Operation *> ops = numberedOps(ModuleOp(*program.module));
  for (auto [block, storage] : cost::liveAtPeak(program.trial.program)) {
    Numbered value = program.trial.blocks[block].values[storage];
    if (value.op >= 0)
      values.push_back({ops[value.op]->getLoc(), ops[value.op]->getName().stripDialect().str(),
                        program.trial.program.blocks[block].storages[storage].bytes});
  }
  llvm::stable_sort(values, [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  return values;
}

} // namespace tessera::fuse
