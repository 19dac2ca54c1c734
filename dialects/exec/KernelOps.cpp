// Assembly and verifiers of exec.fused, exec.kernel and exec.image.
#include "dialects/exec/ExecOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::exec {

// -> type | -> (type, ..); nothing when there are no types.
static void printResultTypes(OpAsmPrinter &p, TypeRange types) {
  if (types.empty())
    return;
  p << " -> ";
  if (types.size() == 1)
    p << types.front();
  else
    p << '(' << types << ')';
}

static ParseResult parseResultTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseTypeList(types) || parser.parseRParen());
  return parser.parseType(types.emplace_back());
}

// `inplace` names, for each result, an operand of the same size or -1, and no operand twice.
static LogicalResult verifyInplace(Operation *op, std::optional<ArrayRef<int64_t>> inplace,
                                   TypeRange inputs, TypeRange outputs) {
  if (!inplace)
    return success();
  if (inplace->size() != outputs.size())
    return op->emitOpError("has ") << outputs.size() << " results but `inplace` has "
                                   << inplace->size() << " entries; give one for each result";
  SmallVector<bool> taken(inputs.size(), false);
  for (auto [i, operand] : llvm::enumerate(*inplace)) {
    if (operand == -1)
      continue;
    if (operand < 0 || operand >= static_cast<int64_t>(inputs.size()))
      return op->emitOpError("`inplace` names operand ")
             << operand << " of " << inputs.size() << "; use -1 for none";
    if (byteSize(cast<RankedTensorType>(inputs[operand])) !=
        byteSize(cast<RankedTensorType>(outputs[i])))
      return op->emitOpError("result ")
             << i << " of type " << outputs[i] << " cannot overwrite operand " << operand
             << " of type " << inputs[operand] << ": their sizes differ";
    if (std::exchange(taken[operand], true))
      return op->emitOpError("`inplace` gives operand ") << operand << " to two results";
  }
  return success();
}

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseOne = [&]() -> ParseResult {
    auto &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(argument.type));
  };
  SmallVector<Type> inputTypes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne) ||
      parseResultTypes(parser, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto &argument : arguments)
    inputTypes.push_back(argument.type);
  return failure(parser.resolveOperands(operands, inputTypes, loc, result.operands) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void FusedOp::print(OpAsmPrinter &p) {
  p << '(';
  llvm::interleaveComma(llvm::zip(getBlock()->getArguments(), getInputs()), p, [&](auto pair) {
    auto [argument, input] = pair;
    p << argument << " = " << input << " : " << input.getType();
  });
  p << ')';
  printResultTypes(p, getResultTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FusedOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBlock()->getTerminator());
  if (!yield)
    return emitOpError("must end in exec.yield");
  if (TypeRange(getBlock()->getArgumentTypes()) != TypeRange(getInputs().getTypes()))
    return emitOpError("block arguments must have the types of the operands");
  if (yield.getOperandTypes() != getResultTypes())
    return yield.emitOpError("must yield the types of the results of exec.fused: ")
           << getResultTypes();
  return verifyInplace(*this, getInplace(), getInputs().getTypes(), getResultTypes());
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> outputTypes;
  SMLoc loc;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.getCurrentLocation(&loc) || parseResultTypes(parser, outputTypes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  Region &body = *result.regions.front();
  if (body.empty() || body.front().empty() || !isa<YieldOp>(body.front().back()))
    return parser.emitError(loc, "the body must end in exec.yield");
  if (TypeRange(body.front().back().getOperandTypes()) != TypeRange(outputTypes))
    return parser.emitError(loc, "the output types must be those of exec.yield");
  return success();
}

void KernelOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  p << '(';
  llvm::interleaveComma(getBlock()->getArguments(), p,
                        [&](BlockArgument argument) { p.printRegionArgument(argument); });
  p << ')';
  printResultTypes(p, getOutputTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {SymbolTable::getSymbolAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  if (!isa<YieldOp>(getBlock()->getTerminator()))
    return emitOpError("must end in exec.yield");
  for (Type type : getInputTypes())
    if (!isa<RankedTensorType>(type))
      return emitOpError("takes tensors only, not ") << type;
  int64_t strands = getStrands().value_or(1);
  auto isOfEach = [&](size_t count) { return count % strands == 0; };
  if (strands < 1 || !isOfEach(getInputTypes().size()) || !isOfEach(getOutputTypes().size()) ||
      !isOfEach(getBlock()->getOperations().size() - 1))
    return emitOpError("does not consist of ") << strands << " bodies with as many ops each";
  return verifyInplace(*this, getInplace(), getInputTypes(), getOutputTypes());
}

double FusedOp::getFlops() {
  double flops = 0;
  for (Operation &op : *getBlock())
    flops += flopsOf(&op);
  return flops;
}

LogicalResult ImageOp::verify() {
  if (!getCode().getElementType().isInteger(8))
    return emitOpError("holds code as bytes (i8), not ") << getCode().getElementType();
  if (getGrids() && llvm::any_of(*getGrids(), [](int64_t grid) { return grid < 1; }))
    return emitOpError("has a kernel without cells");
  return success();
}

LogicalResult LaunchAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 int64_t threads, int64_t sharedBytes, ArrayAttr maps) {
  if (threads < 1 || threads > 1024)
    return emitError() << "has blocks of other than 1 to 1024 threads";
  if (sharedBytes < 0)
    return emitError() << "has less than no shared memory";
  if (maps && !llvm::all_of(maps, llvm::IsaPred<TensorMapAttr>))
    return emitError() << "has maps that are no #exec.tensor_map";
  return success();
}

LogicalResult TensorMapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    int64_t operand, int64_t offset, Type type,
                                    DenseI64ArrayAttr sizes, DenseI64ArrayAttr strides,
                                    DenseI64ArrayAttr box) {
  int64_t rank = sizes.size();
  if (operand < 0 || offset < 0 || offset % 16)
    return emitError() << "names no place in an operand";
  if (!type.isIntOrFloat() || rank < 1 || rank > 5 || strides.size() != rank - 1 ||
      box.size() != rank)
    return emitError() << "needs a type of elements, one to five sizes, a stride for each but the "
                          "innermost, and a box";
  bool areSizes = llvm::all_of(sizes.asArrayRef(), [](int64_t size) { return size >= 1; }) &&
                  llvm::all_of(box.asArrayRef(), [](int64_t size) { return size >= 1; });
  if (!areSizes ||
      llvm::any_of(strides.asArrayRef(), [](int64_t stride) { return stride < 16 || stride % 16; }))
    return emitError() << "has no elements, or strides that are no multiples of 16 bytes";
  return success();
}

} // namespace tessera::exec
