#include "passes/codegen/kernel/SelectedProduct.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/GraphBuilder.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

DotGeneralOp selectedProduct(ReduceOp op) {
  if (op.getInputs().size() != 1 || op.getDimensions().size() != 1 ||
      combinerOf(op.getBody()) != sharding::ReductionKind::Sum ||
      !isZero(op.getInitValues().front()))
    return nullptr;
  bool isSelected = false;
  for (mlir::Value value = op.getInputs().front();;) {
    mlir::Operation *def = value.getDefiningOp();
    if (auto select = mlir::dyn_cast_if_present<SelectOp>(def)) {
      if (!isZero(select.getOnFalse()))
        return nullptr;
      isSelected = true;
      value = select.getOnTrue();
    } else if (auto convert = mlir::dyn_cast_if_present<ConvertOp>(def)) {
      value = convert.getOperand();
    } else {
      return isSelected ? mlir::dyn_cast_if_present<DotGeneralOp>(def) : nullptr;
    }
  }
}

// What is added to the number that a loop counts: of its iota, or of a sum with it. Null: it is none.
static Node *addedTo(Graph &graph, Node *node, unsigned dim) {
  auto isOther = [&](Node *other) { return !(other->deps >> dim & 1); };
  if (node->op == Op::Iota && node->index->coefficient(dim) == 1)
    return graph.iota(node->kind, graph.add(node->index, graph.multiply(graph.dim(dim), -1)));
  if (node->op != Op::Add)
    return nullptr;
  for (auto [one, other] :
       {std::pair(node->operands[0], node->operands[1]), {node->operands[1], node->operands[0]}})
    if (Node *added = isOther(other) ? addedTo(graph, one, dim) : nullptr)
      return graph.make(Op::Add, node->kind, {added, other});
  return nullptr;
}

// The point of a loop at which alone a condition may hold, if it has one.
static Node *onlyPoint(Graph &graph, Node *condition, unsigned dim) {
  if (condition->op == Op::And) {
    Node *found = onlyPoint(graph, condition->operands[0], dim);
    return found ? found : onlyPoint(graph, condition->operands[1], dim);
  }
  // Wider numbers than those of a loop: sums of them that wrap are equal where what they number is.
  if (condition->op != Op::Compare || condition->aux != EQ ||
      !isInteger(condition->operands[0]->kind) || bitWidth(condition->operands[0]->kind) < 32)
    return nullptr;
  for (int side : {0, 1}) {
    Node *number = condition->operands[side], *value = condition->operands[1 - side];
    Node *added = value->deps >> dim & 1 ? nullptr : addedTo(graph, number, dim);
    if (added && added->op == Op::Constant && added->bits == 0)
      return value;
    if (added)
      return graph.make(Op::Sub, value->kind, {value, added});
  }
  return nullptr;
}

Element GraphBuilder::selectedTerm(mlir::Operation *op, IndexRange index, Node *mask) {
  auto reduce = mlir::cast<ReduceOp>(op);
  if (!selectedProduct(reduce))
    return {};
  mlir::Value input = reduce.getInputs().front();
  int64_t dim = reduce.getDimensions().front(), size = shapeOf(input)[dim];
  if (size < 2)
    return {};
  Reduction loops;
  llvm::SmallVector<Index, 6> from(index);
  from.insert(from.begin() + dim, reducedLoop(op, dim, size, loops));
  if (loops.dims.size() != 1)
    return {};
  Node *point = nullptr;
  for (mlir::Value value = input; !point;) {
    if (auto select = value.getDefiningOp<SelectOp>()) {
      bool isScalar = shapeOf(select.getPred()).empty();
      Element condition = at(select.getPred(), isScalar ? IndexRange() : IndexRange(from), mask);
      if (!condition)
        return {};
      point = onlyPoint(graph, condition.re, loops.dims.front());
      value = select.getOnTrue();
    } else if (auto convert = value.getDefiningOp<ConvertOp>()) {
      value = convert.getOperand();
    } else {
      return {};
    }
  }
  Node *number = graph.convert(point, ElementKind::I64);
  Node *low = graph.make(Op::Max, ElementKind::I64, {number, graph.constant(ElementKind::I64, 0)});
  Node *clamped =
      graph.make(Op::Min, ElementKind::I64, {low, graph.constant(ElementKind::I64, size - 1)});
  clamped->low = 0;
  clamped->high = size - 1;
  from[dim] = graph.node(clamped); // the condition holds there if it does anywhere
  return at(input, from, mask);
}

} // namespace tessera::codegen
