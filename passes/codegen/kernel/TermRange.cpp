#include "passes/codegen/kernel/TermRange.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

// Of a loop, the points that conditions leave.
class Bounds {
public:
  Bounds(Graph &graph, llvm::ArrayRef<unsigned> loop, DimSet around)
      : graph(graph), loop(loop), around(around) {}

  void add(Node *condition) {
    if (condition->op == Op::And) {
      add(condition->operands[0]);
      add(condition->operands[1]);
    } else if (condition->op == Op::Compare && isInteger(condition->operands[0]->kind)) {
      auto direction = static_cast<Direction>(condition->aux & 7);
      Node *x = condition->operands[0], *y = condition->operands[1];
      if (!compare(direction, x, y))
        compare(turned(direction), y, x);
    }
  }
  TermRange range;

private:
  static Direction turned(Direction direction) {
    switch (direction) {
    case GE:
      return LE;
    case GT:
      return LT;
    case LE:
      return GE;
    case LT:
      return GT;
    default:
      return direction;
    }
  }

  // number (direction) value, where `number` counts the loop, from something else on if need be.
  bool compare(Direction direction, Node *number, Node *value) {
    if (value->deps & ~around)
      return false;
    Node *point = graph.convert(value, ElementKind::I64);
    while (number->op == Op::Add) {
      bool isSecond = !(number->operands[1]->deps & ~around);
      Node *added = number->operands[isSecond];
      if (added->deps & ~around)
        return false;
      point =
          graph.make(Op::Sub, ElementKind::I64, {point, graph.convert(added, ElementKind::I64)});
      number = number->operands[!isSecond];
    }
    if (number->op != Op::Iota || !number->index->nodes.empty() ||
        strideOf(number->index, loop) != 1 || (number->deps & ~setOf(loop)) ||
        bitWidth(number->kind) < 32)
      return false;
    point = plus(point, -number->index->constant);
    switch (direction) {
    case GE:
    case GT:
      range.low = both(Op::Max, range.low, direction == GT ? plus(point, 1) : point);
      return true;
    case LE:
    case LT:
      range.high = both(Op::Min, range.high, direction == LE ? plus(point, 1) : point);
      return true;
    default:
      return false;
    }
  }

  Node *plus(Node *node, int64_t more) {
    return more ? graph.make(Op::Add, ElementKind::I64,
                             {node, graph.constant(ElementKind::I64, more)})
                : node;
  }
  Node *both(Op op, Node *old, Node *more) {
    return old && old != more ? graph.make(op, ElementKind::I64, {old, more}) : more;
  }

  Graph &graph;
  llvm::ArrayRef<unsigned> loop;
  DimSet around;
};

} // namespace

// What an operand is not zero at, of the loop.
static TermRange rangeOf(Graph &graph, Node *operand, const LoopGroup &loop, DimSet around) {
  Bounds bounds(graph, loop, around);
  for (;;) {
    bool isSelected = operand->op == Op::Select && operand->operands[2]->op == Op::Constant &&
                      operand->operands[2]->bits == 0;
    if (isSelected)
      bounds.add(operand->operands[0]);
    else if (operand->op != Op::Convert)
      return bounds.range;
    operand = operand->operands[isSelected ? 1 : 0];
  }
}

std::optional<TermRange> rangeOfTerms(Graph &graph, const ContractionLoops &loops) {
  if (loops.product->reduction->isOfWindow || loops.k.empty())
    return std::nullopt;
  DimSet around = 0;
  for (const LoopGroup &group : loops.outer)
    around |= setOf(group);
  // The outermost loop of k: what it leaves out is one stretch of the flattened k.
  LoopGroup loop{loops.k.front().front()};
  TermRange a = rangeOf(graph, loops.a, loop, around), b = rangeOf(graph, loops.b, loop, around);
  if (a.low != b.low || a.high != b.high || (!a.low && !a.high))
    return std::nullopt;
  int64_t each = loops.kSize / graph.dims[loop.front()].size;
  auto scaled = [&](Node *node) {
    return node && each != 1 ? graph.make(Op::Mul, ElementKind::I64,
                                          {node, graph.constant(ElementKind::I64, each)})
                             : node;
  };
  return TermRange{scaled(a.low), scaled(a.high)};
}

} // namespace tessera::codegen
