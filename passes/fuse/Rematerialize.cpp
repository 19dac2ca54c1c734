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

// What is needed stands on the module then, as what it may have: for who tries several programs.
static void reportLeast(ModuleOp module, const fuse::BoundedProgram &least) {
  Location at = least.peak.empty() ? module.getLoc() : least.peak.front().location;
  int64_t needed = least.choice.bytes + getScratch(module);
  emitError(at) << "the program does not fit into the memory of each device: with all that helps "
                   "computed again it needs "
                << needed << " bytes. Allow --memory=" << needed
                << ", or shard what is largest at its peak: " << listed(least.peak);
  cost::ScheduleOptions schedule = scheduleOf(module);
  schedule.memory = needed;
  setSchedule(module, schedule);
}

// The order holds less where less is allowed, by its estimate: what is needed under one bound may
// miss by a little what is needed where just that is allowed.
static FailureOr<fuse::BoundedProgram> leastThatFits(ModuleOp module, fuse::BoundedProgram least) {
  constexpr int most = 4;
  for (int i = 0; i < most; ++i) {
    OwningOpRef<ModuleOp> copy = module.clone();
    cost::ScheduleOptions schedule = scheduleOf(module);
    schedule.memory = least.choice.bytes + getScratch(module);
    setSchedule(*copy, schedule);
    FailureOr<fuse::BoundedProgram> next = fuse::fitInto(*copy, least.choice.bytes);
    if (failed(next))
      return failure();
    if (next->fits)
      return least;
    next->choice.bytes = std::max(next->choice.bytes, least.choice.bytes);
    least = std::move(*next);
  }
  return least;
}

// All values at once: where that fits, nothing needs to be tried.
static bool fitsAnyway(ModuleOp module, int64_t bound) {
  constexpr int64_t padding = 64;
  int64_t bytes = 0;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += byteSize(tensor) + padding;
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
  return bytes <= bound;
}

namespace {
struct Rematerialize : impl::RematerializeBase<Rematerialize> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<int64_t> bound = scheduleOf(module).memory;
    if (!bound || fitsAnyway(module, *bound))
      return;
    FailureOr<fuse::BoundedProgram> bounded = fuse::fitInto(module, *bound);
    if (failed(bounded))
      return signalPassFailure();
    if (!bounded->fits) {
      FailureOr<fuse::BoundedProgram> least = leastThatFits(module, std::move(*bounded));
      if (succeeded(least))
        reportLeast(module, *least);
      return signalPassFailure();
    }
    if (bounded->choice.module)
      module.getBodyRegion().takeBody(bounded->choice.module->getBodyRegion());
  }
};
} // namespace
} // namespace tessera
