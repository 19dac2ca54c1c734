// The text forms that ODS cannot say: constant, while and reduce.
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::stablehlo {

//===-------------------------------- constant --------------------------------===//

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn name) {
  name(getResult(), isa<IntegerType>(getType().getElementType()) ? "c" : "cst");
}

// Elements that have another type than the output (quantized ones) are written in generic form.
ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    FunctionType type;
    if (parser.parseRParen())
      return failure();
    if (succeeded(parser.parseOptionalLess())) {
      NamedAttrList inherent;
      SMLoc at = parser.getCurrentLocation();
      if (parser.parseOptionalAttrDict(inherent) || parser.parseGreater())
        return failure();
      auto elements = dyn_cast_or_null<ElementsAttr>(inherent.get("value"));
      if (!elements || inherent.getAttrs().size() != 1)
        return parser.emitError(at, "expected the elements of a tensor, as 'value'");
      result.getOrAddProperties<Properties>().value = elements;
    }
    if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
      return failure();
    result.addTypes(type.getResults());
    return success();
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Attribute value;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseAttribute(value))
    return failure();
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements)
    return parser.emitError(at, "expected the elements of a tensor");
  result.getOrAddProperties<Properties>().value = elements;
  result.addTypes(elements.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() != getType())
    return printer.printGenericOp(*this, /*printOpName=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValueAttr();
}

//===---------------------------------- while ---------------------------------===//

void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn name) {
  for (BlockArgument argument : region.getArguments())
    name(argument, "iterArg");
}

// stablehlo.while(%a = %x, %b = %y) : types attributes {..} cond {..} do {..}
ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Unresolved> operands;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
        return failure(parser.parseArgument(args.emplace_back()) || parser.parseEqual() ||
                       parser.parseOperand(operands.emplace_back()));
      }))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.resolveOperands(operands, types, at, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [arg, type] : llvm::zip(args, types))
    arg.type = type;
  result.addTypes(types);
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*result.addRegion(), args) ||
                 parser.parseKeyword("do") || parser.parseRegion(*result.addRegion(), args));
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  if (getNumOperands())
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===---------------------------------- reduce --------------------------------===//

// The one operation of a body `(a, b) -> op(a, b)`, or null. Locations must agree, or the short
// form would lose them.
static Operation *soleReducer(ReduceOp reduce) {
  Block &block = reduce.getBody().front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation &op = block.front(), &last = block.back();
  bool plain = op.getNumOperands() == 2 && op.getNumResults() == 1 && op.getNumRegions() == 0 &&
               op.getOperand(0) == block.getArgument(0) &&
               op.getOperand(1) == block.getArgument(1) && op.getAttrDictionary().empty() &&
               op.getOperand(0).getType() == op.getResult(0).getType() &&
               op.getOperand(0).getType() == reduce.getInitValues()[0].getType() &&
               op.getOperand(0).getType() == op.getOperand(1).getType();
  bool returned = isa<ReturnOp>(last) && last.getNumOperands() == 1 &&
                  last.getOperand(0) == op.getResult(0) && last.getAttrs().empty();
  bool located = op.getLoc() == reduce.getLoc() && last.getLoc() == reduce.getLoc() &&
                 llvm::all_of(block.getArguments(),
                              [&](BlockArgument a) { return a.getLoc() == reduce.getLoc(); });
  return plain && returned && located && op.getName().getDialectNamespace() == "stablehlo"
             ? &op
             : nullptr;
}

// (%x init: %c), (%y init: %d) applies stablehlo.add across dimensions = [0] : types
// (%x init: %c) across dimensions = [0] : types reducer(%a: t, %b: t) {..}
ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Unresolved> inputs, inits;
  SMLoc at = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));

  std::string reducer;
  SMLoc reducerAt;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    reducerAt = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    reducer = name->getStringRef().str();
  }
  DenseI64ArrayAttr dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseDimArray(parser, dimensions) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  inputs.append(inits);
  if (parser.resolveOperands(inputs, type.getInputs(), at, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().dimensions = dimensions;
  result.addTypes(type.getResults());
  Region *body = result.addRegion();

  if (!reducer.empty()) {
    auto init = inits.size() == 1 ? dyn_cast<RankedTensorType>(type.getInputs().back())
                                  : RankedTensorType();
    if (!init)
      return parser.emitError(reducerAt, "'applies' needs one tensor to reduce");
    std::optional<Location> written;
    if (parser.parseOptionalLocationSpecifier(written))
      return failure();
    if (written)
      result.location = *written;
    Location loc = result.location;
    OpBuilder builder(parser.getContext());
    Block *block = builder.createBlock(body, {}, {init, init}, {loc, loc});
    OperationState inner(loc, reducer, block->getArguments(), TypeRange{init});
    ReturnOp::create(builder, loc, builder.create(inner)->getResults());
    return success();
  }

  // Pairs of a running value and an element, one pair an input.
  SmallVector<OpAsmParser::Argument> running, element, args;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (size_t i = 0; i < inits.size(); ++i)
    if (parser.parseLParen() || parser.parseArgument(running.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(element.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  for (auto &list : {running, element})
    llvm::append_range(args, list);
  return parser.parseRegion(*body, args);
}

void ReduceOp::print(OpAsmPrinter &printer) {
  size_t n = getInputs().size();
  llvm::interleaveComma(llvm::seq<size_t>(0, n), printer, [&](size_t i) {
    printer << '(' << getInputs()[i] << " init: " << getInitValues()[i] << ')';
  });
  Operation *reducer = soleReducer(*this);
  if (reducer)
    printer << " applies " << reducer->getName().getStringRef();
  printer << " across dimensions = ";
  getDimensionsAttr().print(printer);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (reducer)
    return;
  Block &block = getBody().front();
  printer.printNewline();
  printer << " reducer";
  for (size_t i = 0; i < n; ++i) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(n + i));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace tessera::stablehlo
