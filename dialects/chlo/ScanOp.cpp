// chlo.scan: text, names and constraints.
#include "dialects/chlo/ChloOps.h"
#include "dialects/stablehlo/Constraints.h"

using namespace mlir;

namespace tessera::chlo {

void ScanOp::getAsmResultNames(OpAsmSetValueNameFn) {}

void ScanOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn name) {
  for (auto [i, argument] : llvm::enumerate(region.getArguments()))
    name(argument, i < getInputs().size() ? "input" : "carry");
}

// chlo.scan(%x) inits (%c) dimension=0 attributes {..} { ^bb0(%input: .., %carry: ..): .. } : type
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  SMLoc at = parser.getCurrentLocation();
  int64_t dimension;
  FunctionType type;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()) || parser.parseColonType(type))
    return failure();
  if (type.getNumResults() < inits.size())
    return parser.emitError(at) << "has " << inits.size() << " initial values and "
                                << type.getNumResults() << " results";
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  llvm::append_range(operands, inits);
  if (parser.resolveOperands(operands, type.getInputs(), at, result.operands))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.dimension = parser.getBuilder().getI64IntegerAttr(dimension);
  int32_t carries = inits.size();
  llvm::copy(ArrayRef<int32_t>{int32_t(inputs.size()), carries},
             properties.operandSegmentSizes.begin());
  llvm::copy(ArrayRef<int32_t>{int32_t(type.getNumResults()) - carries, carries},
             properties.resultSegmentSizes.begin());
  result.addTypes(type.getResults());
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension()
          << ' ';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() && getInits().empty())
    return emitOpError("needs an input or an initial value");
  if (getInits().size() != getCarries().size())
    return emitOpError() << "has " << getInits().size() << " initial values and "
                         << getCarries().size() << " carried results";
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands() || block.empty() ||
      !isa<stablehlo::ReturnOp>(block.back()) || block.back().getNumOperands() != getNumResults())
    return emitOpError() << "body must take " << getNumOperands() << " values and return "
                         << getNumResults();
  int64_t d = getDimension();
  auto sliced = [&](Value value) -> FailureOr<Type> {
    auto type = cast<RankedTensorType>(value.getType());
    if (d < 0 || d >= type.getRank())
      return emitOpError() << "dimension is " << d << ", an operand has type " << type;
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + d);
    return Type(RankedTensorType::get(shape, type.getElementType()));
  };
  size_t n = getInputs().size(), outputs = getOutputs().size();
  int64_t places = getScanDimSize().value_or(ShapedType::kDynamic);
  SmallVector<Value> along(getInputs());
  llvm::append_range(along, getOutputs());
  for (Value value : along) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t size = d >= 0 && d < type.getRank() ? type.getDimSize(d) : ShapedType::kDynamic;
    if (ShapedType::isDynamic(size))
      continue;
    if (!stablehlo::sameSize(size, places))
      return emitOpError() << "goes along " << places << " places, dimension " << d << " of "
                           << type << " has " << size;
    places = size;
  }
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    FailureOr<Type> expected =
        i < n ? sliced(getInputs()[i]) : FailureOr<Type>(getInits()[i - n].getType());
    if (failed(expected))
      return failure();
    if (!stablehlo::typesAgree(argument.getType(), *expected))
      return emitOpError() << "body takes " << argument.getType() << " as argument " << i
                           << ", expected " << *expected;
  }
  for (auto [i, returned] : llvm::enumerate(block.back().getOperands())) {
    FailureOr<Type> expected = i < outputs ? sliced(getOutputs()[i])
                                           : FailureOr<Type>(getCarries()[i - outputs].getType());
    if (failed(expected))
      return failure();
    if (!stablehlo::typesAgree(returned.getType(), *expected))
      return emitOpError() << "body returns " << returned.getType() << " as value " << i
                           << ", expected " << *expected;
  }
  return success();
}

} // namespace tessera::chlo
