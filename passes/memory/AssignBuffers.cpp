// Turns the program on tensors into the program on buffers.
//
// Liveness.h says when each array is needed, Storage.h which values may share one, Arena.h where it
// lies. Passes.td shows an example.
#include "passes/memory/EmitProgram.h"
#include "passes/memory/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ASSIGNBUFFERS
#include "passes/memory/Passes.h.inc"

using namespace mlir;

namespace {
struct AssignBuffers : impl::AssignBuffersBase<AssignBuffers> {
  void runOnOperation() override {
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<memory::Liveness> liveness = memory::analyse(func);
      if (failed(liveness))
        return signalPassFailure();
      memory::shareArrays(func, *liveness);
      if (failed(memory::emitProgram(func, *liveness)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tessera
