#include "passes/codegen/kernel/RowBehind.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

bool paysBehind(const BehindWork &work) {
  constexpr int64_t mostOperations = 12, mostBytes = 256 << 10;
  return !work.hasFunctions && work.operations <= mostOperations && work.bytes <= mostBytes;
}

namespace {
// What results are made of: down to what is of a row alone.
struct Results {
  llvm::SmallVector<Node *> carried, fillers, kept;
  BehindWork work;
  bool isPlain = true; // nothing of an element is folded, stored, or at a place that numbers say
};
} // namespace

static Results resultsOf(const Graph &graph, llvm::ArrayRef<Node *> roots, DimSet rows,
                         llvm::ArrayRef<unsigned> columns) {
  Results results;
  DimSet own = setOf(columns);
  llvm::SmallVector<Node *> left;
  llvm::DenseSet<Node *> seen;
  auto visit = [&](Node *node) {
    if (node && seen.insert(node).second)
      left.push_back(node);
  };
  for (Node *root : roots)
    visit(root);
  while (!left.empty()) {
    Node *node = left.pop_back_val();
    if (node->op == Op::Constant)
      continue;
    if (!(node->deps & own)) {
      if (node->deps & rows)
        results.carried.push_back(node);
      continue;
    }
    if (node->op == Op::Load) {
      results.work.bytes += pointsOf(graph, columns) * byteSize(node->kind);
      for (auto [place, factor] : node->index->nodes)
        results.isPlain &= !(place->deps & own), visit(place);
      if (!node->operands.empty()) {
        results.kept.push_back(node);
        results.fillers.append(node->operands.begin(), node->operands.end());
      }
      visit(node->mask);
      continue;
    }
    results.isPlain &= node->op != Op::Reduced && node->op != Op::Keep && !node->local;
    results.work.operations += node->op != Op::Iota;
    results.work.hasFunctions |= isFunction(node->op);
    for (Node *operand : node->operands)
      visit(operand);
  }
  return results;
}

// The last pass over each whole row, by vectors in the order of its elements.
static const Reduction *lastPass(const Graph &graph, llvm::ArrayRef<Node *> live, DimSet outer,
                                 DimSet rows, int64_t elements) {
  const Reduction *last = nullptr;
  for (const Node *node : live) { // operands come first
    const Reduction *pass = node->reduction;
    if (pass && pass->order == Reduction::Rows && !pass->simple.empty() && (pass->deps & rows) &&
        !(pass->deps & ~outer) && pointsOf(graph, pass->dims) == elements)
      last = pass;
  }
  return last;
}

std::optional<RowBehind> rowBehind(const Graph &graph, llvm::ArrayRef<Node *> live,
                                   llvm::ArrayRef<Node *> roots, DimSet outer,
                                   const LoopGroup &rows, const LoopGroup &columns) {
  const Reduction *pass = lastPass(graph, live, outer, setOf(rows), pointsOf(graph, columns));
  if (!pass || pass->loops.size() != 1 ||
      collapseLoops(graph, pass->loops[0], live, {}).size() != 1)
    return std::nullopt;
  Results results = resultsOf(graph, roots, setOf(rows), columns);
  if (!results.isPlain || !paysBehind(results.work))
    return std::nullopt;
  // An element of what is kept is read before the pass overwrites it with the next row's.
  bool isInPlace = llvm::all_of(results.kept, [&](const Node *load) {
    return load->index->constant == 0 && load->index->nodes.empty() &&
           load->index->coefficient(columns.back()) == 1 && load->operands[0]->reduction == pass;
  });
  if (!isInPlace)
    return std::nullopt;
  return RowBehind{pass, results.carried, results.fillers};
}

} // namespace tessera::codegen
