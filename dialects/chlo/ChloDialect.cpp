#include "dialects/chlo/ChloOps.h"
#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::chlo;
using tessera::stablehlo::parseBareInt;
using tessera::stablehlo::printBareInt;

#include "dialects/chlo/ChloDialect.cpp.inc"

#include "dialects/chlo/ChloEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/chlo/ChloAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/chlo/ChloOps.cpp.inc"

namespace tessera::chlo {

namespace {
struct ChloInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void registerBytecode(ChloDialect *dialect); // Bytecode.cpp

void ChloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/chlo/ChloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/chlo/ChloOps.cpp.inc"
      >();
  registerBroadcastOps();
  registerBytecode(this);
  addInterfaces<ChloInliner>();
}

//===------------------------------- ragged_dot -------------------------------===//

static const StringRef raggedNames[] = {"lhs_batching_dimensions",    "rhs_batching_dimensions",
                                        "lhs_contracting_dimensions", "rhs_contracting_dimensions",
                                        "lhs_ragged_dimensions",      "rhs_group_dimensions"};

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lists[6];
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        SMLoc at = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name) || parser.parseEqual())
          return failure();
        size_t i = llvm::find(raggedNames, name) - std::begin(raggedNames);
        if (i == std::size(raggedNames))
          return parser.emitError(at) << "unknown field '" << name << "'";
        return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(lists[i].emplace_back());
        });
      }))
    return {};
  return get(parser.getContext(), lists[0], lists[1], lists[2], lists[3], lists[4], lists[5]);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  ArrayRef<int64_t> lists[] = {getLhsBatchingDimensions(),    getRhsBatchingDimensions(),
                               getLhsContractingDimensions(), getRhsContractingDimensions(),
                               getLhsRaggedDimensions(),      getRhsGroupDimensions()};
  StringRef separator = "";
  printer << "<";
  for (auto [name, list] : llvm::zip(raggedNames, lists)) {
    if (list.empty())
      continue;
    printer << std::exchange(separator, ", ") << name << " = [";
    llvm::interleaveComma(list, printer);
    printer << "]";
  }
  printer << ">";
}

//===----------------------------- Single operations --------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantLikeOp::verify() {
  Type element = getType().getElementType();
  if (getValue().getType() != element)
    return emitOpError() << "returns elements of " << element << ", its value is of "
                         << getValue().getType();
  return success();
}

// Rows of lhs, or its contracted dimension, or batches fall into groups of `group_sizes`.
LogicalResult RaggedDotOp::verify() {
  RaggedDotDimensionNumbersAttr dims = getRaggedDotDimensionNumbers();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(),
                   sizes = getGroupSizes().getType();
  auto inRange = [](ArrayRef<int64_t> list, RankedTensorType type) {
    return llvm::all_of(list, [&](int64_t d) { return d >= 0 && d < type.getRank(); });
  };
  if (!inRange(dims.getLhsBatchingDimensions(), lhs) ||
      !inRange(dims.getLhsContractingDimensions(), lhs) ||
      !inRange(dims.getLhsRaggedDimensions(), lhs) ||
      !inRange(dims.getRhsBatchingDimensions(), rhs) ||
      !inRange(dims.getRhsContractingDimensions(), rhs) ||
      !inRange(dims.getRhsGroupDimensions(), rhs))
    return emitOpError() << "names a dimension that an operand lacks: " << dims;
  if (dims.getLhsBatchingDimensions().size() != dims.getRhsBatchingDimensions().size() ||
      dims.getLhsContractingDimensions().size() != dims.getRhsContractingDimensions().size())
    return emitOpError("needs as many batching and contracting dimensions of lhs as of rhs");
  if (dims.getLhsRaggedDimensions().size() != 1 || dims.getRhsGroupDimensions().size() > 1)
    return emitOpError("needs one ragged dimension of lhs and at most one group dimension of rhs");
  auto same = [](int64_t a, int64_t b) {
    return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
  };
  auto agree = [&](ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
    return llvm::all_of(llvm::zip(l, r), [&](auto p) {
      return same(lhs.getDimSize(std::get<0>(p)), rhs.getDimSize(std::get<1>(p)));
    });
  };
  if (!agree(dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions()) ||
      !agree(dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions()))
    return emitOpError() << "batches or contracts dimensions of two sizes: " << lhs << ", " << rhs;
  if (sizes.getRank() == 0)
    return emitOpError() << "takes integers as group_sizes, not " << sizes;
  if (!dims.getRhsGroupDimensions().empty() &&
      !same(rhs.getDimSize(dims.getRhsGroupDimensions()[0]), sizes.getShape().back()))
    return emitOpError() << "has " << sizes.getShape().back() << " groups, rhs has "
                         << rhs.getDimSize(dims.getRhsGroupDimensions()[0]);
  // Groups along the contracted dimension come first in the result.
  SmallVector<int64_t> shape;
  int64_t ragged = dims.getLhsRaggedDimensions()[0];
  if (llvm::is_contained(dims.getLhsContractingDimensions(), ragged))
    shape.push_back(sizes.getShape().back());
  for (int64_t d : dims.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d = 0; d < lhs.getRank(); ++d)
    if (!llvm::is_contained(dims.getLhsBatchingDimensions(), d) &&
        !llvm::is_contained(dims.getLhsContractingDimensions(), d))
      shape.push_back(lhs.getDimSize(d));
  for (int64_t d = 0; d < rhs.getRank(); ++d)
    if (!llvm::is_contained(dims.getRhsBatchingDimensions(), d) &&
        !llvm::is_contained(dims.getRhsContractingDimensions(), d) &&
        !llvm::is_contained(dims.getRhsGroupDimensions(), d))
      shape.push_back(rhs.getDimSize(d));
  if (!stablehlo::typesAgree(getType(), RankedTensorType::get(shape, getType().getElementType())))
    return emitOpError() << "returns " << getType() << ", expected the shape "
                         << RankedTensorType::get(shape, getType().getElementType());
  return success();
}

LogicalResult TopKOp::verify() {
  RankedTensorType operand = getOperand().getType(), values = getValues().getType(),
                   indices = getIndices().getType();
  if (operand.getRank() == 0)
    return emitOpError("needs an operand of rank 1 or more");
  SmallVector<int64_t> shape(operand.getShape());
  if (!operand.isDynamicDim(operand.getRank() - 1) && int64_t(getK()) > shape.back())
    return emitOpError() << "takes " << getK() << " elements of a dimension of " << shape.back();
  shape.back() = getK();
  if (!stablehlo::typesAgree(values, operand.clone(shape)) ||
      !stablehlo::sameShape(indices.getShape(), shape) ||
      !indices.getElementType().isSignlessInteger(32))
    return emitOpError() << "must return " << operand.clone(shape)
                         << " and i32 indices of the same shape";
  return success();
}

} // namespace tessera::chlo
