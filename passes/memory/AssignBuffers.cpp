// Turns the program on tensors into the program on buffers:
//
//   func.func @main(%x) -> tensor<8xf32> {           exec.program @main arena 64 .. {
//     %a = exec.fused(.. %x ..) {@exp_0}               %0 = exec.buffer input 0 : ..
//     %b, %h = comm.start all_reduce(%a)               %1 = exec.buffer arena at 0 : ..
//     %c = comm.wait %h (%b)                 becomes   %2 = exec.buffer output 0 : ..
//     return %c                                        exec.dispatch @exp_0(%0) -> (%1)
//   }                                                  exec.start 0 all_reduce sum(%1) -> (%2)
//                                                      exec.wait 0
//
// Liveness.h says when each array is needed, Storage.h which values may share one, Arena.h where it
// lies.
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
