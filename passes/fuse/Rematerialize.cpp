// Values are computed again instead of being kept, where the program would need more memory than
// there is. Passes.td shows an example; lib/cost/Remat.h decides.
#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/text/Quantity.h"
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_REMATERIALIZE
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static std::string listed(ArrayRef<fuse::PeakValue> values) {
  constexpr size_t most = 5;
  std::string text;
  for (const fuse::PeakValue &value : values.take_front(most))
    text += (text.empty() ? "" : ", ") + text::bytes(value.bytes) + " of " + value.op;
  return text;
}

// From here on the module may have just what a program needs, and its order is the one that was
// measured; of a module that fails, that is for who tries several programs.
static void allow(ModuleOp module, int64_t bytes, const fuse::MeasuredProgram &measured) {
  cost::ScheduleOptions schedule = scheduleOf(module);
  schedule.memory = std::max<int64_t>(bytes, 1);
  schedule.scratchWithin = measured.scratchWithin;
  schedule.smallAttention = scheduleOf(*measured.program->module).smallAttention;
  setSchedule(module, schedule);
}

static void reportLeast(ModuleOp module, const fuse::MeasuredProgram &least) {
  std::vector<fuse::PeakValue> peak = fuse::valuesAtPeak(*least.program);
  Location at = peak.empty() ? module.getLoc() : peak.front().location;
  emitError(at) << "the program does not fit into the memory of each device: with all that helps "
                   "computed again it needs "
                << least.bytes << " bytes. Allow --memory=" << least.bytes
                << (peak.empty() ? "" : ", or shard what is largest at its peak: ") << listed(peak);
  allow(module, least.bytes, least);
}

namespace {

using Fitting = FailureOr<std::optional<fuse::MeasuredProgram>>;

// The program of least time that fits, or the one that needs least.
class Choice {
public:
  Choice(fuse::MemoryBound &search, int64_t bound) : search(search), bound(bound) {}

  Fitting fitting() { return search.fitInto(bound); }

  // Smaller pieces of products take longer: only where nothing was found that fits, but before it is found out
  // what needs least without them, which takes long and might fit.
  Fitting fittingOrLeast() {
    Fitting found = search.fitInto(bound);
    bool isTried = succeeded(found) && !*found && isMissed(search.lowestBytes());
    if (isTried)
      found = fittingWithLittleScratch();
    if (failed(found) || *found)
      return found;
    search.keepScratchWithin(std::nullopt);
    FailureOr<fuse::MeasuredProgram> least = search.least(bound);
    if (failed(least) || !isMissed(least->bytes))
      return wrapped(least);
    found = isTried ? found : fittingWithLittleScratch();
    if (failed(found) || *found)
      return found;
    FailureOr<fuse::MeasuredProgram> less = leastWithLittleScratch(least->bytes);
    return wrapped(failed(less) || less->bytes < least->bytes ? less : least);
  }

private:
  bool isMissed(int64_t bytes) const {
    return bytes > bound && bytes - bound < search.mostScratch() && bound > search.callersBytes();
  }

  // Scratch takes what is left of the bound.
  Fitting fittingWithLittleScratch() {
    search.keepScratchWithin(bound - search.callersBytes());
    return search.fitInto(bound);
  }

  // For the least of all, whatever the bound: less than what the least needs without.
  FailureOr<fuse::MeasuredProgram> leastWithLittleScratch(int64_t least) {
    constexpr int64_t part = 16;
    int64_t room = least - search.callersBytes();
    search.keepScratchWithin(room - room / part);
    return search.least(bound);
  }

  static Fitting wrapped(const FailureOr<fuse::MeasuredProgram> &measured) {
    return failed(measured) ? Fitting(failure()) : Fitting(std::optional(*measured));
  }

  fuse::MemoryBound &search;
  int64_t bound;
};

struct Rematerialize : impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<int64_t> bound = scheduleOf(module).memory;
    if (!bound || fuse::fitsAnyway(module, *bound))
      return;
    fuse::MemoryBound search(module);
    if (triesFew)
      search.tryFew();
    if (failed(search.begin()))
      return signalPassFailure();
    Choice choice(search, *bound);
    Fitting chosen = triesLeast ? choice.fittingOrLeast() : choice.fitting();
    if (succeeded(chosen) && !*chosen)
      emitError(module.getLoc()) << "nothing was found that fits into the memory of each device";
    if (failed(chosen) || !*chosen)
      return signalPassFailure();
    if ((*chosen)->bytes > *bound) {
      reportLeast(module, **chosen);
      return signalPassFailure();
    }
    // An order is chosen by an estimate: one for more or less memory may be what needs least.
    allow(module, (*chosen)->allowed.value_or(*bound), **chosen);
    if (const fuse::LowerProgram *program = (*chosen)->program; program->computedAgain)
      module.getBodyRegion().takeBody(ModuleOp(*program->module).getBodyRegion());
  }
};

} // namespace
} // namespace tessera
