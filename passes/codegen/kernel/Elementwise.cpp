// Elementwise operations and constants as nodes; complex arithmetic by its real and imaginary
// parts.
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/kernel/ComplexMath.h"
#include "llvm/ADT/APFloat.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

static Direction directionOf(CompareOp op) {
  Direction direction = EQ;
  switch (op.getComparisonDirection()) {
  case ComparisonDirection::EQ:
    direction = EQ;
    break;
  case ComparisonDirection::NE:
    direction = NE;
    break;
  case ComparisonDirection::GE:
    direction = GE;
    break;
  case ComparisonDirection::GT:
    direction = GT;
    break;
  case ComparisonDirection::LE:
    direction = LE;
    break;
  case ComparisonDirection::LT:
    direction = LT;
    break;
  }
  if (auto type = op.getCompareType(); type && *type == ComparisonType::TOTALORDER)
    return static_cast<Direction>(direction + TotalOrder);
  return direction;
}

Element GraphBuilder::elementwise(mlir::Operation *op, Op code, IndexRange index, Node *mask) {
  llvm::SmallVector<Element, 3> operands;
  bool anyComplex = false;
  for (mlir::Value operand : op->getOperands()) {
    bool isScalar = mlir::cast<mlir::ShapedType>(operand.getType()).getRank() == 0;
    Element element = at(operand, isScalar ? IndexRange() : index, mask);
    if (!element)
      return {};
    anyComplex |= element.im != nullptr;
    operands.push_back(element);
  }
  ElementType type = *elementType(op->getResult(0).getType());
  if (anyComplex || type.complex)
    return complexElementwise(op, code, operands);
  llvm::SmallVector<Node *, 3> nodes;
  for (Element element : operands)
    nodes.push_back(element.re);
  int aux = 0;
  if (code == Op::Convert)
    return {graph.convert(nodes[0], type.kind)};
  if (code == Op::Select)
    return {graph.select(nodes[0], nodes[1], nodes[2])};
  if (code == Op::Compare)
    aux = directionOf(mlir::cast<CompareOp>(op));
  if (auto reduce = mlir::dyn_cast<ReducePrecisionOp>(op))
    aux = reduce.getExponentBits() * 256 + reduce.getMantissaBits();
  return {graph.make(code, type.kind, nodes, aux)};
}

// Real parts first; imaginary ones where those are equal.
static Node *complexCompare(Graph &graph, Direction direction, Element a, Element b) {
  Node *re = graph.compare(direction, a.re, b.re), *im = graph.compare(direction, a.im, b.im);
  auto kind = static_cast<Direction>(direction & TotalOrder);
  switch (direction & ~TotalOrder) {
  case EQ:
    return graph.make(Op::And, ElementKind::I1, {re, im});
  case NE:
    return graph.make(Op::Or, ElementKind::I1, {re, im});
  default: {
    Node *tied = graph.compare(static_cast<Direction>(EQ + kind), a.re, b.re);
    return graph.select(tied, im, re);
  }
  }
}

// The larger or smaller of two numbers.
static Element extreme(Graph &graph, Op code, Element a, Element b) {
  if (!a.im)
    return {graph.make(code, a.re->kind, {a.re, b.re})};
  Node *takesFirst = complexCompare(graph, code == Op::Max ? GE : LE, a, b);
  return {graph.select(takesFirst, a.re, b.re), graph.select(takesFirst, a.im, b.im)};
}

Element GraphBuilder::mixed(mlir::Operation *op, IndexRange index, Node *mask, bool &known) {
  auto operand = [&](unsigned i) {
    mlir::Value value = op->getOperand(i);
    bool isScalar = mlir::cast<mlir::ShapedType>(value.getType()).getRank() == 0;
    return at(value, isScalar ? IndexRange() : index, mask);
  };
  if (mlir::isa<ClampOp>(op)) {
    Element low = operand(0), x = operand(1), high = operand(2);
    if (!low || !x || !high)
      return {};
    return extreme(graph, Op::Min, extreme(graph, Op::Max, low, x), high);
  }
  if (mlir::isa<ComplexOp>(op)) {
    Element re = operand(0), im = operand(1);
    return re && im ? Element{re.re, im.re} : Element();
  }
  if (mlir::isa<RealOp>(op)) {
    Element x = operand(0);
    return Element{x.re};
  }
  if (mlir::isa<ImagOp>(op)) {
    Element x = operand(0);
    return !x || x.im ? Element{x.im} : Element{graph.floatConstant(x.re->kind, 0)};
  }
  known = false;
  return {};
}

Element GraphBuilder::complexElementwise(mlir::Operation *op, Op code,
                                         llvm::ArrayRef<Element> operands) {
  ElementType type = *elementType(op->getResult(0).getType());
  ElementKind kind = type.complex ? type.kind : operands[0].re->kind;
  auto unary = [&](Op code, Node *a) { return graph.make(code, kind, {a}); };
  auto binary = [&](Op code, Node *a, Node *b) { return graph.make(code, kind, {a, b}); };
  auto mul = [&](Node *a, Node *b) { return binary(Op::Mul, a, b); };
  Element a = operands[0], b = operands.size() > 1 ? operands[1] : Element();
  switch (code) {
  case Op::Add:
  case Op::Sub:
    return {binary(code, a.re, b.re), binary(code, a.im, b.im)};
  case Op::Neg:
    return {unary(code, a.re), unary(code, a.im)};
  case Op::Mul:
    return {binary(Op::Sub, mul(a.re, b.re), mul(a.im, b.im)),
            binary(Op::Add, mul(a.re, b.im), mul(a.im, b.re))};
  case Op::IsFinite:
    return {graph.logicalAnd(graph.make(code, ElementKind::I1, {a.re}),
                             graph.make(code, ElementKind::I1, {a.im}))};
  case Op::Compare:
    return {complexCompare(graph, directionOf(mlir::cast<CompareOp>(op)), a, b)};
  case Op::Max:
  case Op::Min:
    return extreme(graph, code, a, b);
  case Op::Select: {
    Element c = operands[2];
    return {graph.select(a.re, b.re, c.re), graph.select(a.re, b.im, c.im)};
  }
  case Op::Convert: {
    Node *re = graph.convert(a.re, type.kind);
    if (!type.complex)
      return {re};
    return {re, a.im ? graph.convert(a.im, type.kind) : graph.floatConstant(type.kind, 0)};
  }
  default:
    if (Element result = complexFunction(graph, code, kind, operands))
      return result;
    op->emitError("no kernel code for '") << op->getName() << "' on complex numbers";
    return {};
  }
}

// The bit pattern of a number as Node::bits holds it.
static int64_t bitsOf(mlir::Attribute attribute, ElementKind kind) {
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute))
    return number.getValue().bitcastToAPInt().getZExtValue();
  llvm::APInt value = mlir::cast<mlir::IntegerAttr>(attribute).getValue();
  return isSigned(kind) ? value.getSExtValue() : static_cast<int64_t>(value.getZExtValue());
}

Element GraphBuilder::constant(mlir::Operation *op, IndexRange index) {
  auto data = mlir::dyn_cast<mlir::DenseElementsAttr>(mlir::cast<ConstantOp>(op).getValue());
  if (!data) {
    op->emitError("a constant must be dense here");
    return {};
  }
  ElementType type = *elementType(data.getType());
  if (data.isSplat()) {
    if (!type.complex)
      return {graph.constant(type.kind, bitsOf(data.getSplatValue<mlir::Attribute>(), type.kind))};
    auto value = data.getSplatValue<std::complex<llvm::APFloat>>();
    auto part = [&](const llvm::APFloat &x) {
      return graph.constant(type.kind, x.bitcastToAPInt().getZExtValue());
    };
    return {part(value.real()), part(value.imag())};
  }
  auto [it, isNew] = buffers.try_emplace(op->getResult(0), graph.buffers.size());
  if (isNew) {
    BufferInfo buffer;
    buffer.source = BufferInfo::ConstantData;
    buffer.data = data;
    buffer.kind = type.kind;
    buffer.elements = data.getNumElements() * (type.complex ? 2 : 1);
    graph.buffers.push_back(buffer);
  }
  Index offset = graph.linearise(index, mlir::cast<mlir::ShapedType>(data.getType()).getShape());
  if (!type.complex)
    return {graph.load(type.kind, it->second, offset, nullptr)};
  offset = graph.multiply(offset, 2);
  return {graph.load(type.kind, it->second, offset, nullptr),
          graph.load(type.kind, it->second, graph.addConstant(offset, 1), nullptr)};
}

} // namespace tessera::codegen
