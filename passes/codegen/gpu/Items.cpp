#include "passes/codegen/gpu/Items.h"

#include "passes/codegen/gpu/Division.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

int64_t itemsOf(const Graph &graph, llvm::ArrayRef<LoopGroup> groups, int64_t lanes) {
  int64_t items = 1;
  for (const LoopGroup &group : groups) {
    auto [low, high] = boundsOf(graph, group);
    items *= high - low;
  }
  return items / lanes;
}

void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes) {
  // Half the digits divide much faster.
  bool isSmall = itemsOf(e.graph, groups, lanes) < INT32_MAX && groups.size() > 1;
  Value rest = isSmall ? e.b.CreateTrunc(number, e.b.getInt32Ty()) : number;
  auto constant = [&](int64_t value) { return llvm::ConstantInt::get(rest->getType(), value); };
  e.openBlock();
  Value last = nullptr; // of the innermost group: a level of its own
  for (const LoopGroup &group : llvm::reverse(groups)) {
    auto [low, high] = boundsOf(e.graph, group);
    bool isInnermost = &group == &groups.back(), isOutermost = &group == &groups.front();
    int64_t step = isInnermost ? lanes : 1, count = (high - low) / step;
    Value at = isOutermost ? rest : e.b.CreateURem(rest, constant(count));
    if (!isOutermost)
      rest = e.b.CreateUDiv(rest, constant(count));
    at = e.b.CreateZExt(at, e.b.getInt64Ty());
    if (step > 1)
      at = e.b.CreateNSWMul(at, e.i64(step));
    if (low)
      at = e.b.CreateNSWAdd(at, e.i64(low));
    if (isInnermost)
      last = at;
    else
      e.bindLevel(group.back(), setOf(group), at, 1, nullptr);
  }
  e.openBlock();
  if (last)
    e.bindLevel(groups.back().back(), setOf(groups.back()), last, lanes, nullptr);
}

void closeItem(Emitter &e) {
  e.closeBlock();
  e.closeBlock();
}

std::optional<int64_t> widestRun(llvm::ArrayRef<Node *> nodes, llvm::ArrayRef<unsigned> innermost) {
  int64_t widest = 1;
  for (Node *node : nodes) {
    if (node->mask)
      return std::nullopt;
    if (node->op != Op::Load)
      continue;
    std::optional<int64_t> stride = strideOf(node->index, innermost);
    if (!stride || (*stride != 0 && *stride != 1))
      return std::nullopt;
    widest = std::max(widest, byteSize(node->kind));
  }
  return widest;
}

std::vector<Node *> nodesAround(llvm::ArrayRef<Node *> roots) {
  std::vector<Node *> around;
  llvm::DenseSet<Node *> seen;
  auto add = [&](Node *node) {
    if (node->op != Op::Reduced && seen.insert(node).second)
      around.push_back(node);
  };
  llvm::for_each(roots, add);
  for (size_t next = 0; next < around.size(); ++next)
    llvm::for_each(around[next]->operands, add);
  return around;
}

int64_t lanesOfResults(const Graph &graph, llvm::ArrayRef<Root> roots, const LoopGroup &innermost,
                       ElementKind ofSums) {
  int64_t widest = byteSize(ofSums);
  llvm::SmallVector<Node *> values;
  for (const Root &root : roots) {
    widest = std::max(widest, byteSize(root.kind));
    values.push_back(root.value.re);
  }
  std::optional<int64_t> read = widestRun(nodesAround(values), innermost);
  if (!read)
    return 1;
  return elementsOfThread(boundsOf(graph, innermost).second, std::max(widest, *read));
}

} // namespace tessera::codegen::gpu
