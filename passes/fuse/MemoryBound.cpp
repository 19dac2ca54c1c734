#include "passes/fuse/MemoryBound.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/OpsWithin.h"
#include "passes/codegen/BoundScratch.h"
#include "passes/codegen/Passes.h"
#include "passes/fuse/FormKernels.h"
#include "passes/fuse/TrialInOrder.h"
#include "passes/memory/Passes.h"
#include "passes/order/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace tessera::fuse {

constexpr int kMeasured = 2;    // programs that are measured for one bound, from the one as it is
constexpr size_t kLowest = 3;   // of the steps on a way, that are measured in any case
constexpr int kParts = 8;       // of the peak, of which all but the last two are aimed at
constexpr size_t kStraight = 4; // programs of these that are measured
constexpr int kTried = 3;       // bounds that the least is tried with
constexpr int kMargin = 64;     // part of the arena that a target stays below
constexpr size_t kStarts = 3;   // of the lowest, that go down further by their own order
constexpr int kInOrder = 8;     // steps of each
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

cost::ScheduleOptions MemoryBound::scheduleFor(const LowerProgram &program,
                                               std::optional<int64_t> allowed) const {
  cost::ScheduleOptions schedule = scheduleOf(*program.module);
  if (allowed)
    schedule.memory = std::max<int64_t>(*allowed, 1);
  schedule.scratchWithin = scratchWithin;
  return schedule;
}

FailureOr<MeasuredProgram> MemoryBound::measure(const LowerProgram &program,
                                                std::optional<int64_t> allowed) {
  OwningOpRef<ModuleOp> copy = ModuleOp(*program.module).clone();
  if (allowed || scratchWithin)
    setSchedule(*copy, scheduleFor(program, allowed));
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
  note(measured);
  return measured;
}

// Of each program with the order that needs least.
void MemoryBound::note(const MeasuredProgram &measured) {
  auto same = llvm::find_if(
      lowest, [&](const MeasuredProgram &other) { return other.program == measured.program; });
  if (same == lowest.end())
    lowest.push_back(measured);
  else if (measured.bytes < same->bytes)
    *same = measured;
  llvm::stable_sort(lowest, [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  lowest.resize(std::min(lowest.size(), kStarts));
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

// The order for a bound, or the one that tries hardest, where that needs less.
FailureOr<MeasuredProgram> MemoryBound::measureWithin(const LowerProgram &program,
                                                      int64_t mostBytes) {
  FailureOr<MeasuredProgram> measured = measure(program, mostBytes);
  if (failed(measured) || measured->bytes <= mostBytes || hasNoRoom(mostBytes))
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

// By what is live at the peak of its order, and so on from what that gives.
FailureOr<MeasuredProgram> MemoryBound::lowerInOrder(MeasuredProgram from, int64_t mostBytes) {
  constexpr int step = 16, margin = 256; // parts of the peak
  constexpr int part = 4;                // of the arena, that an order saves for where it can
  for (int round = 0; round < kInOrder && from.bytes > mostBytes; ++round) {
    OwningOpRef<ModuleOp> copy = ModuleOp(*from.program->module).clone();
    setSchedule(*copy, scheduleFor(*from.program, from.allowed));
    FailureOr<RematTrial> trial = tryInOrder(*copy, scratch);
    if (failed(trial))
      return failure();
    int64_t peak = cost::peakOf(trial->program);
    int64_t target = peak - std::min(from.bytes - mostBytes, peak / step) - peak / margin;
    Lowered next = lowerInOrder(*from.program, std::move(*trial), target);
    if (failed(next))
      return failure();
    if (!*next)
      break;
    aimed.push_back(std::move(*next));
    int64_t allowed = std::max(mostBytes, from.bytes - (from.bytes - callersBytes()) / part);
    FailureOr<MeasuredProgram> measured = measureWithin(*aimed.back(), allowed);
    if (failed(measured))
      return failure();
    if (measured->bytes >= from.bytes)
      break;
    from = *measured;
  }
  return from;
}

// From each of the lowest that were measured: the first that fits, or the one that needs least.
FailureOr<MeasuredProgram> MemoryBound::lowestInOrder(int64_t mostBytes) {
  std::vector<MeasuredProgram> starts = lowest;
  MeasuredProgram best = starts.front();
  for (const MeasuredProgram &start : starts) {
    FailureOr<MeasuredProgram> lower = lowerInOrder(start, mostBytes);
    if (failed(lower) || lower->bytes <= mostBytes)
      return lower;
    if (lower->bytes < best.bytes)
      best = *lower;
  }
  return best;
}

// In the order for a bound, and in the one without: the first that fits, or the one that takes more.
FailureOr<MeasuredProgram> MemoryBound::measureTwice(const LowerProgram &program,
                                                     int64_t mostBytes) {
  FailureOr<MeasuredProgram> within = measure(program, mostBytes);
  if (failed(within) || within->bytes <= mostBytes || hasNoRoom(mostBytes))
    return within;
  FailureOr<MeasuredProgram> without = measure(program, kNoBound);
  return failed(without) || without->bytes <= mostBytes || without->bytes > within->bytes ? without
                                                                                          : within;
}

FailureOr<std::optional<MeasuredProgram>> MemoryBound::fitInto(int64_t mostBytes) {
  lowest.clear();
  FailureOr<MeasuredProgram> begun = measureTwice(*first, mostBytes);
  if (succeeded(begun) && begun->bytes > mostBytes && !hasNoRoom(mostBytes)) {
    if (failed(findNarrow()))
      return failure();
    if (narrow())
      begun = measureTwice(*narrow(), mostBytes);
  }
  if (failed(begun))
    return failure();
  if (begun->bytes <= mostBytes)
    return std::optional(*begun);
  if (hasNoRoom(mostBytes) || start().peak == 0)
    return std::optional<MeasuredProgram>();
  double ratio = static_cast<double>(begun->bytes - arguments) / static_cast<double>(start().peak);
  FailureOr<std::optional<MeasuredProgram>> found = aim(mostBytes, ratio);
  if (triesFew)
    return found;
  for (Way &way : ways)
    if (succeeded(found) && !*found)
      found = descend(way, mostBytes, ratio);
  if (failed(found) || *found)
    return found;
  FailureOr<MeasuredProgram> lower = lowestInOrder(mostBytes);
  if (failed(lower))
    return failure();
  return lower->bytes <= mostBytes ? std::optional(*lower) : std::nullopt;
}

// The program as it is, and with narrow stacks, the last ones on each way, and the lowest of those that
// lead straight to a part of the peak: which of them lies in least memory only their layout tells.
FailureOr<std::vector<const LowerProgram *>> MemoryBound::lowOnes() {
  std::vector<const LowerProgram *> low{first.get()}, straight;
  if (narrow())
    low.push_back(narrow());
  for (const Way &way : ways)
    for (const auto &program : llvm::ArrayRef(way.steps).take_back(kLowest + way.belowPeak))
      low.push_back(program.get());
  for (int part = 0; part < kParts - 2; ++part) {
    FailureOr<const LowerProgram *> at = straightTo(start().peak / kParts * part);
    if (failed(at))
      return failure();
    bool isNew = llvm::none_of(straight, [&](const LowerProgram *other) {
      return other->peak == (*at)->peak && other->computedAgain == (*at)->computedAgain;
    });
    if (isNew && *at != &start())
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
  if (failed(findNarrow()))
    return failure();
  if (triesFew || (hasNoRoom(wanted) && countOps(module) > large))
    return leastOfTwo();
  for (Way &way : ways)
    if (failed(onTheWay(way, kWay)))
      return failure();
  lowest.clear();
  if (failed(measure(*first, kNoBound)) || (narrow() && failed(measure(*narrow(), kNoBound))))
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
      if (isMet)
        break;
    }
  }
  FailureOr<MeasuredProgram> lower = lowestInOrder(arguments + outputs);
  return failed(lower) ? lower : lowerByAim(*lower);
}

// What goes straight to a bound passes by what goes down as far as it can, and may come out below it.
FailureOr<MeasuredProgram> MemoryBound::lowerByAim(MeasuredProgram from) {
  constexpr int step = 64, most = 6; // parts of what is not the caller's, and of these in a row
  for (int round = 0; round < most; ++round) {
    FailureOr<std::optional<MeasuredProgram>> found =
        fitInto(from.bytes - std::max<int64_t>((from.bytes - callersBytes()) / step, 1));
    if (failed(found))
      return failure();
    if (!*found)
      break;
    from = **found;
  }
  return from;
}

// What libraries take is their own; where there is no bound it does not matter, and orders are those of a
// program that was given none.
bool fitsAnyway(ModuleOp module, int64_t bound) {
  if (bound >= kNoBound)
    return true;
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
