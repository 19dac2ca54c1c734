#include "passes/codegen/gpu/Strands.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tessera::codegen::gpu {

Strands::Strands(const KernelSource &kernel)
    : inputs(kernel.body->getNumArguments() / kernel.strands),
      outputs(kernel.outputs().size() / kernel.strands) {
  for (int64_t strand = 0; strand < kernel.strands; ++strand)
    elements.push_back(typeOf(kernel.outputs()[strand * outputs]).getNumElements());
  mlir::Operation *whole = kernel.body->getParentOp();
  mlir::OpBuilder b(whole->getContext());
  owner = mlir::cast<exec::KernelOp>(whole->cloneWithoutRegions());
  mlir::Block *body = b.createBlock(&owner->getBody());
  mlir::IRMapping mapping;
  for (mlir::BlockArgument argument : kernel.body->getArguments().take_front(inputs))
    mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  auto ops = kernel.body->without_terminator();
  auto each = std::distance(ops.begin(), ops.end()) / kernel.strands;
  for (mlir::Operation &op : llvm::make_range(ops.begin(), std::next(ops.begin(), each)))
    b.clone(op, mapping);
  auto results = llvm::map_to_vector(kernel.outputs().take_front(outputs),
                                     [&](mlir::Value output) { return mapping.lookup(output); });
  exec::YieldOp::create(b, whole->getLoc(), results);
  source = {kernel.symbol, body, {}, kernel.mostScratch};
  source.inplace.assign(kernel.inplace.begin(),
                        kernel.inplace.begin() + std::min<size_t>(outputs, kernel.inplace.size()));
}

llvm::SmallVector<unsigned> Strands::operandsOf(int64_t strand) const {
  llvm::SmallVector<unsigned> operands;
  for (unsigned i = 0; i < inputs; ++i)
    operands.push_back(strand * inputs + i);
  for (unsigned i = 0; i < outputs; ++i)
    operands.push_back(count() * inputs + strand * outputs + i);
  return operands;
}

} // namespace tessera::codegen::gpu
