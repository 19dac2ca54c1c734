#include "passes/codegen/kernel/KernelImage.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace tessera::codegen {

exec::ImageOp addImage(mlir::ModuleOp module, TargetAttr target, ProcessorAttr processor,
                       llvm::ArrayRef<char> code) {
  auto b = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(code.size())}, b.getI8Type());
  auto resource = mlir::DenseResourceElementsAttr::get(
      type, "exec_code", mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(code, 64));
  llvm::SmallVector<mlir::Attribute> features(processor.getFeatures().begin(),
                                              processor.getFeatures().end());
  return exec::ImageOp::create(b, module.getLoc(), target.getName(), processor.getName(),
                               b.getArrayAttr(features), resource, mlir::DenseI64ArrayAttr(),
                               mlir::ArrayAttr());
}

} // namespace tessera::codegen
