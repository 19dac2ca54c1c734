#include "passes/codegen/kernel/KernelImage.h"

#include "dialects/exec/ExecOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace tessera::codegen {

void addImage(mlir::ModuleOp module, TargetAttr target, ProcessorAttr processor,
              llvm::ArrayRef<char> code, llvm::ArrayRef<int64_t> threads) {
  auto b = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(code.size())}, b.getI8Type());
  auto resource = mlir::DenseResourceElementsAttr::get(
      type, "exec_code", mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(code, 64));
  llvm::SmallVector<mlir::Attribute> features(processor.getFeatures().begin(),
                                              processor.getFeatures().end());
  exec::ImageOp::create(b, module.getLoc(), target.getName(), processor.getName(),
                        b.getArrayAttr(features), resource, mlir::DenseI64ArrayAttr(),
                        threads.empty() ? mlir::DenseI64ArrayAttr()
                                        : b.getDenseI64ArrayAttr(threads));
}

} // namespace tessera::codegen
