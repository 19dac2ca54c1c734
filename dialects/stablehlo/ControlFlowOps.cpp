#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

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
  auto function = dyn_cast_or_null<FunctionOpInterface>(
      symbols.lookupNearestSymbolFrom(*this, getDecompositionAttr()));
  if (!function)
    return violates(*this, 2) << "names a decomposition '@" << getDecomposition()
                              << "' that the module lacks";
  if (!typesAgree(getOperandTypes(), function.getArgumentTypes()))
    return violates(*this, 3) << "the decomposition takes (" << function.getArgumentTypes()
                              << "), the inputs are (" << getOperandTypes() << ")";
  if (!typesAgree(getResultTypes(), function.getResultTypes()))
    return violates(*this, 4) << "the decomposition returns (" << function.getResultTypes()
                              << "), the results are (" << getResultTypes() << ")";
  return success();
}

// The part of a tuple that `indices` lead to; null where there is none.
static Type partOf(Type type, ArrayRef<int64_t> indices) {
  for (int64_t i : indices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || i < 0 || i >= int64_t(tuple.size()))
      return {};
    type = tuple.getType(i);
  }
  return type;
}

static bool ordersDims(Attribute layout, RankedTensorType type) {
  auto numbers = dyn_cast<DenseIntElementsAttr>(layout);
  if (!numbers)
    return false;
  SmallVector<int64_t> dims;
  for (const APInt &d : numbers.getValues<APInt>())
    dims.push_back(d.getSExtValue());
  return int64_t(dims.size()) == type.getRank() && isPermutationVector(dims);
}

LogicalResult CustomCallOp::verify() {
  for (auto alias : getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>()) {
    if (alias.getOperandIndex() < 0 || alias.getOperandIndex() >= int64_t(getInputs().size()))
      return emitOpError() << "has an alias of operand " << alias.getOperandIndex()
                           << ", there are " << getInputs().size();
    Type operand =
        partOf(getInputs()[alias.getOperandIndex()].getType(), alias.getOperandTupleIndices());
    Type output =
        getNumResults() == 1
            ? partOf(getResult(0).getType(), alias.getOutputTupleIndices())
            : partOf(TupleType::get(getContext(), getResultTypes()), alias.getOutputTupleIndices());
    if (operand && output && operand != output)
      return emitOpError() << "has an alias of a value of " << operand << " to one of " << output;
  }
  auto layouts = [&](std::optional<ArrayAttr> all, TypeRange types,
                     StringRef name) -> LogicalResult {
    if (!all)
      return success();
    if (all->size() != types.size())
      return types.size() == 1 && name == "result_layouts"
                 ? success() // of the parts of a tuple
                 : emitOpError() << name << " has " << all->size() << " entries for "
                                 << types.size() << " values";
    for (auto [layout, type] : llvm::zip(*all, types))
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !ordersDims(layout, tensor))
        return emitOpError() << name << " has " << layout << " for " << tensor
                             << ", which is no order of its dimensions";
    return success();
  };
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError("needs both operand_layouts and result_layouts, or neither");
  return failure(failed(layouts(getOperandLayouts(), getOperandTypes(), "operand_layouts")) ||
                 failed(layouts(getResultLayouts(), getResultTypes(), "result_layouts")));
}

// Two words of letters, digits and `_`, `.`, `$` with a dot between.
LogicalResult CompositeOp::verify() {
  auto plain = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; };
  StringRef name = getName();
  size_t dot = name.find('.');
  if (dot == StringRef::npos || dot == 0 || dot + 1 == name.size() || !llvm::all_of(name, plain) ||
      !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return violates(*this, 1) << "'" << name << "' is not a name as in 'dialect.operation'";
  return success();
}

// The specification's own examples have a body without arguments, which names the operands of the start.
LogicalResult AsyncStartOp::verify() {
  Block &block = getBody().front();
  Operation *inner = block.empty() ? nullptr : &block.front();
  if (!llvm::hasNItems(block, 2) || !isa<ReturnOp>(block.back()))
    return violates(*this, 1) << "body must hold one operation and a return";
  if (!isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectivePermuteOp, ReduceScatterOp,
           CollectiveBroadcastOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp>(inner))
    return violates(*this, 2) << "body may hold a collective or a slice, not '" << inner->getName()
                              << "'";
  ValueRange given =
      block.getNumArguments() == 0 ? ValueRange(getOperands()) : block.getArguments();
  if (!typesAgree(getOperandTypes(), given.getTypes()) || !llvm::equal(inner->getOperands(), given))
    return violates(*this, 3) << "body's operation must take the operands, in order";
  if (!typesAgree(TypeRange(getResult().getType().getTypes()), block.back().getOperandTypes()) ||
      !llvm::equal(inner->getResults(), block.back().getOperands()))
    return violates(*this, 4) << "body must return what " << getResult().getType() << " stands for";
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  if (!typesAgree(TypeRange(getOperand().getType().getTypes()), getResultTypes()))
    return violates(*this, 1) << "must return what " << getOperand().getType() << " stands for";
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
      if (!typesAgree(type, carried))
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
  if (!typesAgree(getResultTypes(), getOperandTypes()))
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
                 failed(verifyBranch(*this, getFalseBranch(), "false_branch", 1, 2)));
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return violates(*this, 1) << "needs a branch";
  if (getIndex().getType().getRank() != 0 ||
      !getIndex().getType().getElementType().isSignlessInteger(32))
    return emitOpError("takes a tensor<i32> as index");
  for (auto [i, branch] : llvm::enumerate(getBranches()))
    if (failed(verifyBranch(*this, branch, "branch " + Twine(i), 2, i == 0 ? 4 : 3)))
      return failure();
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  if (!typesAgree(getOperandTypes(), getResultTypes()))
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
