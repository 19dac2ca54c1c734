#include "dialects/stablehlo/Constraints.h"
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

//===------------------------------- Constraints ------------------------------===//

LogicalResult WhileOp::verify() {
  for (auto [region, name, constraint] :
       {std::tuple(&getCond(), "cond", 1), std::tuple(&getBody(), "body", 2)}) {
    TypeRange types = region->front().getArgumentTypes();
    if (types.size() != getNumOperands())
      return violates(*this, constraint) << name << " takes " << types.size()
                                         << " values, the loop carries " << getNumOperands();
    for (auto [i, type, carried] : llvm::enumerate(types, getOperandTypes()))
      if (type != carried)
        return violates(*this, constraint) << name << " takes " << type << " as value " << i
                                           << ", the loop carries " << carried;
  }
  Operation *condition = getCond().front().empty() ? nullptr : &getCond().front().back();
  auto pred = condition && isa<ReturnOp>(condition) && condition->getNumOperands() == 1
                  ? dyn_cast<RankedTensorType>(condition->getOperand(0).getType())
                  : RankedTensorType();
  if (!pred || pred.getRank() != 0 || !pred.getElementType().isInteger(1))
    return violates(*this, 1) << "cond must return one tensor<i1>";
  if (failed(verifyReturned(*this, getBody(), "body", getOperandTypes(), 2)))
    return failure();
  if (getNumResults() != getNumOperands() || !llvm::equal(getResultTypes(), getOperandTypes()))
    return violates(*this, 3) << "the results must have the types of the operands";
  return success();
}

static LogicalResult verifyBranch(Operation *op, Region &branch, const Twine &name, int inputs,
                                  int outputs) {
  if (branch.getNumArguments() != 0)
    return violates(op, inputs) << name << " must not take arguments";
  return verifyReturned(op, branch, name.str(), op->getResultTypes(), outputs);
}

LogicalResult IfOp::verify() {
  if (getPred().getType().getRank() != 0)
    return emitOpError("takes a scalar predicate");
  return failure(failed(verifyBranch(*this, getTrueBranch(), "true_branch", 1, 3)) ||
                 failed(verifyBranch(*this, getFalseBranch(), "false_branch", 1, 3)));
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return violates(*this, 1) << "needs a branch";
  if (getIndex().getType().getRank() != 0)
    return emitOpError("takes a scalar index");
  for (auto [i, branch] : llvm::enumerate(getBranches()))
    if (failed(verifyBranch(*this, branch, "branch " + Twine(i), 2, 4)))
      return failure();
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (!llvm::equal(getOperandTypes(), getResultTypes()))
    return violates(*this, 1) << "the results must have the types of the operands";
  return success();
}

LogicalResult TupleOp::verify() {
  if (!llvm::equal(getResult().getType().getTypes(), getVal().getTypes()))
    return violates(*this, 1) << "the tuple's types must be the operands'";
  return success();
}

LogicalResult GetTupleElementOp::verify() {
  ArrayRef<Type> types = getOperand().getType().getTypes();
  if (getIndex() >= types.size())
    return violates(*this, 1) << "index is " << getIndex() << ", the tuple has " << types.size()
                              << " elements";
  if (types[getIndex()] != getType())
    return violates(*this, 2) << "element " << getIndex() << " has type " << types[getIndex()]
                              << ", not " << getType();
  return success();
}

} // namespace tessera::stablehlo
