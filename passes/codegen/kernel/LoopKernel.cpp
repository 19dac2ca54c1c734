#include "passes/codegen/kernel/LoopKernel.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "passes/codegen/kernel/KernelWork.h"

namespace tessera::codegen {

using stablehlo::WhileOp;

WhileOp loopOf(const KernelSource &kernel) { return mlir::dyn_cast<WhileOp>(kernel.body->front()); }

cost::KernelWork workOfLoop(const KernelSource &kernel, WhileOp loop) {
  cost::KernelWork work;
  loop->walk<mlir::WalkOrder::PreOrder>([&](exec::FusedOp fused) {
    work += workOf(fused);
    return mlir::WalkResult::skip();
  });
  work = work.scaled(static_cast<double>(getTripCount(loop).value_or(1)), 1);
  work.grid = 1;
  auto bytesOf = [](mlir::Value value) { return double(tessera::byteSize(typeOf(value))); };
  for (mlir::Value argument : kernel.body->getArguments())
    work.arrays.push_back({bytesOf(argument)});
  for (mlir::Value output : kernel.outputs())
    work.arrays.push_back({bytesOf(output), /*inStrips=*/false, /*isWritten=*/true});
  return work;
}

} // namespace tessera::codegen
