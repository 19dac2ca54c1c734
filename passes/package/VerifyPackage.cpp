// What the runtime relies on and no earlier verifier sees: the module holds one program, and all of
// it can be written.
#include "passes/package/Package.h"
#include "passes/package/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYPACKAGE
#include "passes/package/Passes.h.inc"

namespace {
struct VerifyPackage : impl::VerifyPackageBase<VerifyPackage> {
  void runOnOperation() override {
    if (failed(packageProgram(getOperation(), "")))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
