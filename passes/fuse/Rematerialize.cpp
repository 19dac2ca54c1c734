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
static void allow(ModuleOp module, int64_t bytes) {
  cost::ScheduleOptions schedule = scheduleOf(module);
  schedule.memory = std::max<int64_t>(bytes, 1);
  setSchedule(module, schedule);
}

static void reportLeast(ModuleOp module, const fuse::MeasuredProgram &least) {
  std::vector<fuse::PeakValue> peak = fuse::valuesAtPeak(*least.program);
  Location at = peak.empty() ? module.getLoc() : peak.front().location;
  emitError(at) << "the program does not fit into the memory of each device: with all that helps "
                   "computed again it needs "
                << least.bytes << " bytes. Allow --memory=" << least.bytes
                << ", or shard what is largest at its peak: " << listed(peak);
  allow(module, least.bytes);
}

namespace {
struct Rematerialize : impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<int64_t> bound = scheduleOf(module).memory;
    if (!bound || fuse::fitsAnyway(module, *bound))
      return;
    fuse::MemoryBound search(module);
    if (failed(search.begin()))
      return signalPassFailure();
    FailureOr<std::optional<fuse::MeasuredProgram>> fitting = search.fitInto(*bound);
    if (failed(fitting))
      return signalPassFailure();
    if (!*fitting && !triesLeast) {
      emitError(module.getLoc()) << "nothing was found that fits into the memory of each device";
      return signalPassFailure();
    }
    if (!*fitting) {
      FailureOr<fuse::MeasuredProgram> least = search.least(*bound);
      if (failed(least))
        return signalPassFailure();
      if (least->bytes > *bound) {
        reportLeast(module, *least);
        return signalPassFailure();
      }
      *fitting = *least;
    }
    // An order is chosen by an estimate: one for more or less memory may be what needs least.
    allow(module, (*fitting)->allowed.value_or(*bound));
    if (const fuse::LowerProgram *chosen = (*fitting)->program; chosen->computedAgain)
      module.getBodyRegion().takeBody(ModuleOp(*chosen->module).getBodyRegion());
  }
};
} // namespace
} // namespace tessera
