#include "passes/codegen/kernel/GroupedProduct.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// The position that data says, if that is all of an operand's index that loops don't.
static Node *positionIn(Node *operand) {
  while (operand->op == Op::Convert)
    operand = operand->operands[0];
  if (operand->op != Op::Load || operand->mask || !operand->operands.empty() ||
      operand->index->nodes.size() != 1)
    return nullptr;
  Node *position = operand->index->nodes.front().first;
  return position->low == 0 && position->high < INT64_MAX ? position : nullptr;
}

// The operand where the position is that of a loop.
static Node *operandAt(Graph &graph, Node *operand, unsigned group) {
  if (operand->op == Op::Convert)
    return graph.convert(operandAt(graph, operand->operands[0], group), operand->kind);
  auto [position, stride] = operand->index->nodes.front();
  Index moved = graph.add(operand->index, graph.multiply(graph.node(position), -stride));
  return graph.load(operand->kind, operand->buffer(),
                    graph.add(moved, graph.multiply(graph.dim(group), stride)), nullptr);
}

static bool reaches(Node *from, Node *to) {
  return llvm::is_contained(Graph::reachable({from}), to);
}

// What a result is selected by, on its way from the product; of a result that the product alone makes.
static llvm::SmallVector<Node *, 2> conditionsOf(Node *root, Node *product) {
  llvm::SmallVector<Node *, 2> conditions;
  while (root != product) {
    if (root->op == Op::Convert) {
      root = root->operands[0];
    } else if (root->op == Op::Select && !reaches(root->operands[2], product) &&
               !reaches(root->operands[0], product)) {
      conditions.push_back(root->operands[0]);
      root = root->operands[1];
    } else {
      break;
    }
  }
  return conditions;
}

std::optional<GroupedProduct> findGroupedProduct(const NestGraph &nest) {
  constexpr int64_t leastTerms = 4;
  Graph &graph = nest.g->graph;
  Node *product = findProduct(Graph::reachable(nest.rootNodes()));
  if (!product)
    return std::nullopt;
  llvm::ArrayRef<Node *> operands = product->reduction->inputs[0]->operands;
  Node *a = operands[0], *b = operands[1];
  if (positionIn(a))
    std::swap(a, b);
  Node *position = positionIn(b);
  bool isOfRows = position && (position->deps & a->deps & ~product->reduction->ownDims) &&
                  !(position->deps & product->reduction->ownDims);
  if (!isOfRows || reaches(a, position))
    return std::nullopt;
  GroupedProduct grouped;
  grouped.groupOfRow = position;
  grouped.group = graph.addDim(position->high + 1);
  b = operandAt(graph, b, grouped.group);
  std::optional<ContractionLoops> loops = contractionOf(nest, product, a, b);
  if (!loops || loops->a != a || loops->kSize < leastTerms)
    return std::nullopt;
  static_cast<ContractionLoops &>(grouped) = *loops;
  DimSet columns = setOf(grouped.n);
  if (position->deps & columns)
    return std::nullopt;
  if (nest.roots.size() == 1)
    grouped.conditions = conditionsOf(nest.roots.front().value.re, product);
  llvm::erase_if(grouped.conditions, [&](Node *node) { return (node->deps & columns) != 0; });
  return grouped;
}

} // namespace tessera::codegen
