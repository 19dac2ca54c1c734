// What the program is compiled for, as a mark of the module. Of `module {}`, with
// processors=x86-64-v3:
//   module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v3", vector_bits = 256, ..>>}
#include "passes/import/Passes.h"

#include "dialects/tessera/Marks.h"

namespace tessera {
#define GEN_PASS_DEF_SETTARGET
#include "passes/import/Passes.h.inc"

namespace {

struct SetTarget : impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;
  void runOnOperation() override {
    if (failed(ensureTarget(getOperation(), target, processors)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
