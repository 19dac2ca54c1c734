// Checks what import promises to later phases. Passes.td shows an example.
#include "passes/import/DeviceProgram.h"
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "tessera/container.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

bool isNumber(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  if (isa<FloatType>(element)) // MLIR has more than a program's arrays
    return !isa<Float80Type, Float128Type, FloatTF32Type>(element);
  auto integer = dyn_cast<IntegerType>(element);
  return integer && llvm::is_contained({1, 2, 4, 8, 16, 32, 64}, integer.getWidth());
}

// Values of other types have no code: dynamic shapes, quantized elements, the specification's
// index.
LogicalResult verifyTypes(Operation *op, TypeRange types) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isNumber(tensor.getElementType()))
      return op->emitError() << "a value of type " << type
                             << "; programs compute with arrays of integers, floating-point and "
                                "complex numbers";
    if (!tensor.hasStaticShape())
      return op->emitError() << "a value of type " << type
                             << ", whose shape is not known when the program is compiled";
  }
  return success();
}

LogicalResult verifyValues(Operation *op) {
  if (failed(verifyTypes(op, op->getResultTypes())))
    return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(verifyTypes(op, block.getArgumentTypes())))
        return failure();
  return success();
}

LogicalResult verifyOp(Operation *op, Dialect *chlo) {
  if (isa<func::CallOp, stablehlo::CompositeOp>(op))
    return op->emitError("after import there are no calls; run --tessera-inline-calls first");
  if (chlo && op->getDialect() == chlo && !op->hasTrait<chlo::IsKernelFunction>())
    return op->emitError("after import there is no such chlo; run --tessera-decompose-chlo first");
  if (isa<stablehlo::BatchNormTrainingOp, stablehlo::BatchNormInferenceOp,
          stablehlo::BatchNormGradOp>(op))
    return op->emitError(
        "after import there is no batch normalisation; run --tessera-decompose-batch-norm first");
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && call->getNumResults() == 0)
    return op->emitError()
           << "calls @" << call.getCallTargetName()
           << ", which gives no result; a program is what its results need: let the "
              "function return what is used, or take the call out";
  if (isa<stablehlo::DynamicPadOp, stablehlo::DynamicConvOp, stablehlo::RealDynamicSliceOp>(op))
    return op->emitError() << "'" << op->getName()
                           << "' takes amounts from data that a compiled program must know: give "
                              "constants, or sizes that follow from the shapes of the inputs";
  if (import::namesDevices(op))
    return op->emitError("names devices by number outside of a manual computation over mesh axes; "
                         "write it in sdy.manual_computation (shard_map in JAX)");
  if (isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op)) {
    auto isComplex = [](Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); };
    if (!isComplex(op->getResult(0).getType()) && llvm::any_of(op->getOperandTypes(), isComplex))
      return op->emitError("a product of complex numbers with a real result; make the result "
                           "complex and take its real part");
  }
  if (op->hasAttr("mhlo.sharding"))
    return op->emitError(
        "after import there is no mhlo.sharding; run --tessera-gspmd-to-sdy first");
  return success();
}

bool isNested(Operation *op) {
  return isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op);
}

// What the passes before made of maps and reductions is nested more deeply than what was read.
LogicalResult verifyNesting(func::FuncOp entry) {
  SmallVector<std::pair<Operation *, unsigned>> work{{entry, 0}};
  while (!work.empty()) {
    auto [op, depth] = work.pop_back_val();
    if (depth > container::kDeepestNesting)
      return op->emitError() << "loops and branches are nested more than "
                             << container::kDeepestNesting
                             << " deep, those that maps and reductions become included; make "
                                "functions or arrays of some of them";
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions())
          work.push_back({&inner, depth + isNested(&inner)});
  }
  return success();
}

struct VerifyImportPass : impl::VerifyImportBase<VerifyImportPass> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    func::FuncOp entry = main && main.isPublic() ? main : func::FuncOp();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function == entry)
        continue;
      if (entry) {
        function.emitError("after import only the entry is public");
        return signalPassFailure();
      }
      entry = function;
    }
    if (!entry || !entry.getBody().hasOneBlock()) {
      module.emitError("after import there is one public function, of one block");
      return signalPassFailure();
    }
    Dialect *chlo = getContext().getLoadedDialect<chlo::ChloDialect>();
    WalkResult result = entry.walk([&](Operation *op) {
      return failed(verifyOp(op, chlo)) || failed(verifyValues(op)) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(verifyNesting(entry)))
      signalPassFailure();
    else
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tessera
