// What is asked of the order, as a mark of the module. Of `module {}`, with overlap=off memory=80GB:
//   module attributes {tessera.schedule = #tessera.schedule<overlap = off, memory = 80000000000>}
// `tessera compile` sets it where the program is read; this is for phases that run alone.
#include "passes/import/Passes.h"

#include "dialects/tessera/Marks.h"
#include "lib/text/Quantity.h"

namespace tessera {
#define GEN_PASS_DEF_SETSCHEDULE
#include "passes/import/Passes.h.inc"

namespace {

struct SetSchedule : impl::SetScheduleBase<SetSchedule> {
  using SetScheduleBase::SetScheduleBase;
  void runOnOperation() override {
    std::optional<cost::Overlap> chosen = cost::overlapNamed(overlap);
    std::optional<uint64_t> bytes = text::bytesIn(memory);
    if (!chosen || (!bytes && !memory.empty())) {
      getOperation().emitError("overlap must be auto, on or off, and memory a size such as 80GB");
      return signalPassFailure();
    }
    setSchedule(getOperation(), {*chosen, bytes});
  }
};

} // namespace
} // namespace tessera
