#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ControlFlowOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerControlFlowOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ControlFlowOps.cpp.inc"
      >();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom(*this, getDecompositionAttr()))
    return emitOpError() << "names a decomposition '@" << getDecomposition()
                         << "' that the module lacks";
  return success();
}

void CustomCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult CaseOp::verify() { return success(); }
LogicalResult GetTupleElementOp::verify() { return success(); }
LogicalResult IfOp::verify() { return success(); }
LogicalResult OptimizationBarrierOp::verify() { return success(); }
LogicalResult TupleOp::verify() { return success(); }
LogicalResult WhileOp::verify() { return success(); }

} // namespace tessera::stablehlo
