#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

std::optional<Op> elementwiseOp(mlir::Operation *op) {
  static const llvm::StringMap<Op> table = {{"add", Op::Add},
                                            {"subtract", Op::Sub},
                                            {"multiply", Op::Mul},
                                            {"divide", Op::Div},
                                            {"remainder", Op::Rem},
                                            {"maximum", Op::Max},
                                            {"minimum", Op::Min},
                                            {"and", Op::And},
                                            {"or", Op::Or},
                                            {"xor", Op::Xor},
                                            {"power", Op::Pow},
                                            {"atan2", Op::Atan2},
                                            {"shift_left", Op::Shl},
                                            {"shift_right_arithmetic", Op::ShrA},
                                            {"shift_right_logical", Op::ShrL},
                                            {"not", Op::Not},
                                            {"negate", Op::Neg},
                                            {"abs", Op::Abs},
                                            {"sign", Op::Sign},
                                            {"ceil", Op::Ceil},
                                            {"floor", Op::Floor},
                                            {"round_nearest_afz", Op::RoundAfz},
                                            {"round_nearest_even", Op::RoundEven},
                                            {"popcnt", Op::PopCount},
                                            {"count_leading_zeros", Op::Clz},
                                            {"is_finite", Op::IsFinite},
                                            {"exponential", Op::Exp},
                                            {"exponential_minus_one", Op::Expm1},
                                            {"log", Op::Log},
                                            {"log_plus_one", Op::Log1p},
                                            {"logistic", Op::Logistic},
                                            {"tanh", Op::Tanh},
                                            {"sine", Op::Sin},
                                            {"cosine", Op::Cos},
                                            {"tan", Op::Tan},
                                            {"sqrt", Op::Sqrt},
                                            {"rsqrt", Op::Rsqrt},
                                            {"erf", Op::Erf},
                                            {"erfc", Op::Erfc},
                                            {"cbrt", Op::Cbrt},
                                            {"compare", Op::Compare},
                                            {"select", Op::Select},
                                            {"convert", Op::Convert},
                                            {"reduce_precision", Op::ReducePrecision}};
  llvm::StringRef name = op->getName().getStringRef();
  if (!name.consume_front("stablehlo.") && !name.consume_front("chlo."))
    return std::nullopt;
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional<Op>(it->second);
}

Index GraphBuilder::loop(mlir::Operation *key, unsigned i, int64_t size,
                         llvm::SmallVectorImpl<unsigned> *dims) {
  auto add = [&](int64_t partSize, int64_t inner) {
    if (key && partSize == 1) // a reduced dimension of one element is no loop
      return graph.constant(0);
    auto with = shared.find({key, i, inner});
    auto there = with == shared.end() ? made.end() : made.find(with->second);
    sharesInOrder &= with == shared.end() || there != made.end();
    unsigned dim = there == made.end() ? graph.addDim(partSize) : there->second;
    if (there == made.end()) {
      dimOrigins.resize(dim + 1);
      dimOrigins[dim] = {key, i, inner};
      made.try_emplace({key, i, inner}, dim);
    }
    if (dims)
      dims->push_back(dim);
    return graph.multiply(graph.dim(dim), inner);
  };
  auto it = splits.find({key, i});
  if (it == splits.end() || size % it->second.front() != 0) // a convolution's part of the loop
    return add(size, 1);
  Index index = graph.constant(0);
  int64_t outer = size;
  for (int64_t inner : it->second) {
    index = graph.add(index, add(outer / inner, inner));
    outer = inner;
  }
  return graph.add(index, add(outer, 1));
}

Element GraphBuilder::at(mlir::Value value, IndexRange index, Node *mask) {
  if (auto it = elements.find(value); it != elements.end())
    return it->second;
  Key key{value.getAsOpaquePointer(), std::vector<const void *>(index.begin(), index.end())};
  key.second.push_back(mask);
  if (auto it = memo.find(key); it != memo.end())
    return it->second;

  Element element = keptAt(value, index, mask);
  if (!element)
    element = compute(value, index, mask);
  memo[key] = element;
  return element;
}

Element GraphBuilder::compute(mlir::Value value, IndexRange index, Node *mask) {
  Element element;
  if (auto it = buffers.find(value); it != buffers.end()) {
    std::optional<ElementType> type = elementType(value.getType());
    auto shape = mlir::cast<mlir::ShapedType>(value.getType()).getShape();
    Index offset = graph.linearise(index, shape);
    if (type->complex) {
      offset = graph.multiply(offset, 2);
      element.im = graph.load(type->kind, it->second, graph.addConstant(offset, 1), mask);
    }
    element.re = graph.load(type->kind, it->second, offset, mask);
  } else if (mlir::Operation *op = value.getDefiningOp()) {
    element = build(op, mlir::cast<mlir::OpResult>(value).getResultNumber(), index, mask);
  } else {
    mlir::emitError(value.getLoc(), "a value from outside the kernel is used inside it");
  }
  return element;
}

Element GraphBuilder::build(mlir::Operation *op, unsigned result, IndexRange index, Node *mask) {
  if (!elementType(op->getResult(result).getType())) {
    op->emitError("no kernel code for element type ") << op->getResult(result).getType();
    return {};
  }
  if (auto code = elementwiseOp(op))
    return elementwise(op, *code, index, mask);
  bool known = true;
  Element element = movement(op, index, mask, known);
  if (known)
    return element;
  known = true;
  element = mixed(op, index, mask, known);
  if (known)
    return element;
  known = true;
  element = reduction(op, result, index, mask, known);
  if (!known)
    op->emitError("no kernel code for '") << op->getName() << "' inside a fused kernel";
  return element;
}

Node *GraphBuilder::scalarInteger(mlir::Value value, IndexRange index, Node *mask) {
  Element element = at(value, index, mask);
  if (!element)
    return nullptr;
  Node *number = element.re;
  if (number->kind == ElementKind::U64) // beyond i64: still beyond every bound
    number = graph.make(Op::Min, number->kind, {number, graph.constant(number->kind, INT64_MAX)});
  return graph.convert(number, ElementKind::I64);
}

Index GraphBuilder::clampedStart(mlir::Value start, IndexRange index, Node *mask, int64_t high) {
  Node *number = scalarInteger(start, index, mask);
  if (!number)
    return nullptr;
  if (high <= 0)
    return graph.constant(0);
  if (number->op == Op::Constant)
    return graph.constant(std::clamp<int64_t>(number->bits, 0, high));
  if (number->op == Op::Iota && number->low >= 0 && number->high <= high)
    return number->index;
  Node *low = graph.make(Op::Max, ElementKind::I64, {number, graph.constant(ElementKind::I64, 0)});
  Node *clamped =
      graph.make(Op::Min, ElementKind::I64, {low, graph.constant(ElementKind::I64, high)});
  clamped->low = 0;
  clamped->high = high;
  return graph.node(clamped);
}

} // namespace tessera::codegen
