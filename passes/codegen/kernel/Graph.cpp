#include "passes/codegen/kernel/Graph.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

bool isFunction(Op op) {
  return op == Op::Pow || op == Op::Atan2 || (op >= Op::Exp && op <= Op::Cbrt);
}

bool isPowerOfTwo(const Node *node) {
  if (node->op != Op::Constant)
    return false;
  switch (node->kind) {
  case ElementKind::BF16:
    return (node->bits & 0x7f) == 0;
  case ElementKind::F32:
    return (node->bits & 0x7fffff) == 0;
  case ElementKind::F64:
    return (node->bits & 0xfffffffffffff) == 0;
  default:
    return false;
  }
}

bool scalesExactly(Op op, ElementKind kind, const Node *node) {
  if (kind != ElementKind::BF16 || !node || (op != Op::Mul && op != Op::Div))
    return false;
  return isPowerOfTwo(node->operands[1]) || (op == Op::Mul && isPowerOfTwo(node->operands[0]));
}

int64_t IndexExpr::coefficient(unsigned dim) const {
  for (auto [d, c] : dims)
    if (d == dim)
      return c;
  return 0;
}

Index Graph::intern(IndexExpr expr) {
  llvm::erase_if(expr.dims, [&](auto &term) { return term.second == 0; });
  llvm::erase_if(expr.nodes, [&](auto &term) { return term.second == 0; });
  std::vector<int64_t> key{expr.constant, static_cast<int64_t>(expr.dims.size())};
  for (auto [d, c] : expr.dims)
    key.insert(key.end(), {static_cast<int64_t>(d), c});
  for (auto [n, c] : expr.nodes)
    key.insert(key.end(), {static_cast<int64_t>(n->id), c});
  auto [it, isNew] = indexTable.try_emplace(std::move(key), nullptr);
  if (!isNew)
    return it->second;
  for (auto [d, c] : expr.dims)
    expr.deps |= DimSet(1) << d;
  for (auto [n, c] : expr.nodes)
    expr.deps |= n->deps;
  return it->second = &indices.emplace_back(std::move(expr));
}

Index Graph::constant(int64_t value) {
  IndexExpr expr;
  expr.constant = value;
  return intern(std::move(expr));
}

Index Graph::dim(unsigned dim) {
  if (dims[dim].size == 1)
    return constant(0);
  IndexExpr expr;
  expr.dims.push_back({dim, 1});
  return intern(std::move(expr));
}

Index Graph::node(Node *node) {
  if (node->op == Op::Constant)
    return constant(node->bits);
  if (node->op == Op::Iota && node->kind == ElementKind::I64)
    return node->index;
  IndexExpr expr;
  expr.nodes.push_back({node, 1});
  return intern(std::move(expr));
}

// With n * (x / n) + x % n as x: what a reshape has taken apart and another puts together.
static Index rejoined(Graph &graph, Index sum) {
  for (auto [rest, factor] : sum->nodes) {
    if (rest->op != Op::FloorRem)
      continue;
    for (auto [quotient, other] : sum->nodes) {
      if (quotient->op != Op::FloorDiv || quotient->operands != rest->operands ||
          quotient->bits != rest->bits || other != factor * rest->bits)
        continue;
      Index others = graph.add(sum, graph.multiply(graph.node(rest), -factor));
      others = graph.add(others, graph.multiply(graph.node(quotient), -other));
      return graph.add(others, graph.multiply(graph.node(rest->operands[0]), factor));
    }
  }
  return sum;
}

Index Graph::add(Index a, Index b) {
  IndexExpr sum;
  sum.constant = a->constant + b->constant;
  auto merge = [](auto &into, const auto &x, const auto &y, auto less) {
    size_t i = 0, j = 0;
    while (i < x.size() || j < y.size()) {
      if (j == y.size() || (i < x.size() && less(x[i].first, y[j].first)))
        into.push_back(x[i++]);
      else if (i == x.size() || less(y[j].first, x[i].first))
        into.push_back(y[j++]);
      else {
        into.push_back({x[i].first, x[i].second + y[j].second});
        ++i, ++j;
      }
    }
  };
  merge(sum.dims, a->dims, b->dims, [](unsigned p, unsigned q) { return p < q; });
  merge(sum.nodes, a->nodes, b->nodes, [](Node *p, Node *q) { return p->id < q->id; });
  return rejoined(*this, intern(std::move(sum)));
}

Index Graph::multiply(Index a, int64_t factor) {
  IndexExpr product = *a;
  product.deps = 0;
  product.constant *= factor;
  for (auto &term : product.dims)
    term.second *= factor;
  for (auto &term : product.nodes)
    term.second *= factor;
  return intern(std::move(product));
}

Index Graph::linearise(llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> shape) {
  Index offset = constant(0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1)
      offset = add(offset, multiply(index[i], stride));
    stride *= shape[i];
  }
  return offset;
}

std::pair<int64_t, int64_t> Graph::range(Index index) const {
  int64_t low = index->constant, high = index->constant;
  for (auto [d, c] : index->dims) {
    int64_t first = dims[d].low * c, last = (dims[d].high - 1) * c;
    low += std::min(first, last);
    high += std::max(first, last);
  }
  for (auto [n, c] : index->nodes) {
    if (n->low == INT64_MIN || n->high == INT64_MAX)
      return {INT64_MIN, INT64_MAX};
    low += std::min(n->low * c, n->high * c);
    high += std::max(n->low * c, n->high * c);
  }
  return {low, high};
}

std::pair<Index, Index> Graph::divide(Index a, int64_t by) {
  if (by == 1)
    return {a, constant(0)};
  IndexExpr quotient, rest;
  quotient.constant = llvm::divideFloorSigned(a->constant, by);
  rest.constant = a->constant - quotient.constant * by;
  for (auto [d, c] : a->dims)
    if (c % by == 0)
      quotient.dims.push_back({d, c / by});
    else
      rest.dims.push_back({d, c});
  for (auto [n, c] : a->nodes)
    if (c % by == 0)
      quotient.nodes.push_back({n, c / by});
    else
      rest.nodes.push_back({n, c});
  Index q = intern(quotient), r = intern(rest);
  auto [low, high] = range(r);
  if (low >= 0 && high < by)
    return {q, r};
  for (auto [d, c] : r->dims)
    if (c > 0 && by % c == 0 && dims[d].size > by / c && dims[d].size % (by / c) == 0)
      wantedSplits.push_back({d, by / c});
  Node *whole = iota(ElementKind::I64, a);
  Node *quotientNode = make(Op::FloorDiv, ElementKind::I64, {whole}, 0, by);
  Node *restNode = make(Op::FloorRem, ElementKind::I64, {whole}, 0, by);
  restNode->low = 0;
  restNode->high = by - 1;
  if (auto [first, last] = range(a); first != INT64_MIN) {
    quotientNode->low = llvm::divideFloorSigned(first, by);
    quotientNode->high = llvm::divideFloorSigned(last, by);
  }
  return {node(quotientNode), node(restNode)};
}

llvm::SmallVector<Index, 6> Graph::delinearise(Index offset, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Index, 6> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) {
      index[i] = constant(0);
      continue;
    }
    bool isLast = llvm::all_of(shape.take_front(i), [](int64_t size) { return size == 1; });
    if (isLast) {
      index[i] = offset;
      offset = constant(0);
      continue;
    }
    auto [quotient, rest] = divide(offset, shape[i]);
    index[i] = rest;
    offset = quotient;
  }
  return index;
}

Node *Graph::intern(Node node) {
  std::vector<int64_t> key{static_cast<int64_t>(node.op),
                           static_cast<int64_t>(node.kind),
                           reinterpret_cast<int64_t>(node.index),
                           reinterpret_cast<int64_t>(node.mask),
                           reinterpret_cast<int64_t>(node.reduction),
                           node.bits,
                           node.aux};
  for (Node *operand : node.operands)
    key.push_back(operand->id);
  auto [it, isNew] = nodeTable.try_emplace(std::move(key), nullptr);
  if (!isNew)
    return it->second;
  node.id = nodes.size();
  node.local = node.op == Op::External;
  for (Node *operand : node.operands) {
    node.deps |= operand->deps;
    node.local |= operand->local;
  }
  if (node.index) {
    node.deps |= node.index->deps;
    for (auto [n, c] : node.index->nodes)
      node.local |= n->local;
  }
  if (node.mask)
    node.deps |= node.mask->deps;
  if (node.reduction)
    node.deps |= node.reduction->deps;
  return it->second = &nodes.emplace_back(std::move(node));
}

Node *Graph::load(ElementKind kind, int buffer, Index offset, Node *mask) {
  return intern({.id = 0,
                 .op = Op::Load,
                 .kind = kind,
                 .operands = {},
                 .index = offset,
                 .mask = mask,
                 .bits = buffer});
}

Node *Graph::keep(Node *value, int buffer, Index offset) {
  return intern({.id = 0,
                 .op = Op::Keep,
                 .kind = value->kind,
                 .operands = {value},
                 .index = offset,
                 .bits = buffer});
}

Node *Graph::loadKept(ElementKind kind, int buffer, Index offset, Node *filler) {
  return intern({.id = 0,
                 .op = Op::Load,
                 .kind = kind,
                 .operands = {filler},
                 .index = offset,
                 .bits = buffer});
}

Node *Graph::constant(ElementKind kind, int64_t bits) {
  Node *node = intern({.id = 0, .op = Op::Constant, .kind = kind, .operands = {}, .bits = bits});
  if (isInteger(kind))
    node->low = node->high = bits;
  return node;
}

Node *Graph::floatConstant(ElementKind kind, double value) {
  return constant(kind, isFloat(kind) ? floatBits(kind, value) : static_cast<int64_t>(value));
}

Node *Graph::iota(ElementKind kind, Index index) {
  if (index->dims.empty() && index->nodes.empty() && isInteger(kind))
    return constant(kind, index->constant);
  if (kind == ElementKind::I64 && index->dims.empty() && index->nodes.size() == 1 &&
      index->nodes[0].second == 1 && index->constant == 0)
    return index->nodes[0].first;
  Node *node = intern({.id = 0, .op = Op::Iota, .kind = kind, .operands = {}, .index = index});
  if (byteSize(kind) >= 4)
    std::tie(node->low, node->high) = range(index);
  return node;
}

Node *Graph::make(Op op, ElementKind kind, llvm::ArrayRef<Node *> operands, int aux, int64_t bits) {
  return intern({.id = 0,
                 .op = op,
                 .kind = kind,
                 .operands = llvm::SmallVector<Node *, 3>(operands),
                 .bits = bits,
                 .aux = aux});
}

Node *Graph::external(ElementKind kind) {
  // Its number makes it unlike every other.
  return intern({.id = 0,
                 .op = Op::External,
                 .kind = kind,
                 .operands = {},
                 .bits = static_cast<int64_t>(nodes.size())});
}

Node *Graph::reduced(Reduction *reduction, unsigned component, ElementKind kind) {
  return intern({.id = 0,
                 .op = Op::Reduced,
                 .kind = kind,
                 .operands = {},
                 .reduction = reduction,
                 .aux = static_cast<int>(component)});
}

Node *Graph::compare(Direction direction, Node *a, Node *b) {
  return make(Op::Compare, ElementKind::I1, {a, b}, direction);
}

Node *Graph::select(Node *predicate, Node *a, Node *b) {
  if (!predicate || (predicate->op == Op::Constant && predicate->bits))
    return a;
  if (predicate->op == Op::Constant || a == b)
    return b;
  return make(Op::Select, a->kind, {predicate, a, b});
}

Node *Graph::logicalAnd(Node *a, Node *b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  if (a->op == Op::Constant)
    return a->bits ? b : a;
  if (b->op == Op::Constant)
    return b->bits ? a : b;
  return make(Op::And, ElementKind::I1, {a, b});
}

Node *Graph::convert(Node *a, ElementKind to) {
  if (a->kind == to)
    return a;
  Node *node = make(Op::Convert, to, {a});
  if (to == ElementKind::I64 && isInteger(a->kind)) {
    node->low = a->low;
    node->high = a->high;
  }
  return node;
}

Node *Graph::movedBits(Node *a) {
  if (!isNarrowFloat(a->kind))
    return nullptr;
  if (auto found = moved.find(a); found != moved.end())
    return found->second;
  Node *bits = bitsOfMoved(a);
  moved[a] = bits;
  return bits;
}

Node *Graph::bitsOfMoved(Node *a) {
  ElementKind bits = bitsKind(8 * byteSize(a->kind));
  switch (a->op) {
  case Op::Load:
    return a->operands.empty() ? load(bits, a->buffer(), a->index, a->mask)
                               : loadKept(bits, a->buffer(), a->index, a->operands[0]);
  case Op::Constant:
    return constant(bits, a->bits);
  case Op::Bitcast: {
    Node *from = a->operands[0];
    if (isFloat(from->kind))
      return movedBits(from);
    return convert(convert(from, bitsKind(bitWidth(from->kind))), bits);
  }
  case Op::Select: {
    Node *x = movedBits(a->operands[1]), *y = x ? movedBits(a->operands[2]) : nullptr;
    return y ? select(a->operands[0], x, y) : nullptr;
  }
  default:
    return nullptr;
  }
}

Node *Graph::inRange(Index index, int64_t low, int64_t high) {
  auto [first, last] = range(index);
  if (first >= low && last < high)
    return nullptr;
  if (last < low || first >= high)
    return boolean(false);
  // A position of a loop at which the answer changes: cutting the loop there makes it constant.
  if (index->nodes.empty() && index->dims.size() == 1 && std::abs(index->dims[0].second) == 1) {
    auto [d, c] = index->dims[0];
    for (int64_t boundary : {low, high}) {
      int64_t at = c == 1 ? boundary - index->constant : index->constant - boundary + 1;
      if (at > dims[d].low && at < dims[d].high)
        wantedCuts.push_back({d, at});
    }
  }
  Node *number = iota(ElementKind::I64, index);
  Node *result = nullptr;
  if (first < low)
    result = compare(GE, number, constant(ElementKind::I64, low));
  if (last >= high)
    result = logicalAnd(result, compare(LT, number, constant(ElementKind::I64, high)));
  return result;
}

std::vector<Node *> Graph::reachable(llvm::ArrayRef<Node *> roots) {
  std::vector<Node *> order;
  llvm::DenseMap<Node *, bool> seen;
  auto visit = [&](auto &visit, Node *node) -> void {
    if (!node || !seen.try_emplace(node, true).second)
      return;
    for (Node *operand : node->operands)
      visit(visit, operand);
    if (node->index)
      for (auto [n, c] : node->index->nodes)
        visit(visit, n);
    visit(visit, node->mask);
    if (Reduction *r = node->reduction)
      for (auto *list : {&r->inputs, &r->inits, &r->results})
        for (Node *n : *list)
          visit(visit, n);
    order.push_back(node);
  };
  for (Node *root : roots)
    visit(visit, root);
  return order;
}

} // namespace tessera::codegen
