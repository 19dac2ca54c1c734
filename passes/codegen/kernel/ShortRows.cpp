#include "passes/codegen/kernel/ShortRows.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::codegen {

int64_t ShortRows::vectorsOf(int64_t lanes) const { return columns / std::gcd(columns, lanes); }

int64_t ShortRows::offsetOf(Index index, int64_t lane) const {
  int64_t point = first + lane;
  return index->coefficient(row) * (point / columns) +
         index->coefficient(column) * (point % columns);
}

std::optional<ShortRows> shortRows(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                   llvm::ArrayRef<Node *> live, llvm::ArrayRef<Index> stores) {
  constexpr int64_t mostColumns = 8, leastRows = 16;
  constexpr size_t mostNodes = 320; // that are written out, over all vectors
  if (groups.size() < 2)
    return std::nullopt;
  const LoopGroup &outer = groups[groups.size() - 2], &inner = groups.back();
  auto [low, high] = boundsOf(graph, outer);
  auto [left, right] = boundsOf(graph, inner);
  if (left != 0 || right != pointsOf(graph, inner) || right > mostColumns || low != 0 ||
      high < leastRows || live.size() * right > mostNodes)
    return std::nullopt;

  ShortRows rows{outer.back(), inner.back(), right};
  DimSet own = setOf(outer) | setOf(inner);
  auto isFixed = [&](Index index) {
    return llvm::none_of(index->nodes, [&](auto term) { return term.first->deps & own; });
  };
  auto isAsItLies = [&](Index index) {
    return isFixed(index) && rows.isAlong(index) && index->coefficient(rows.column) == 1;
  };
  auto isNear = [&](Node *node) {
    Index index = node->index;
    if (!index || !(node->deps & own) || (isFixed(index) && node->op == Op::Iota))
      return true;
    if (node->op != Op::Load || !isFixed(index))
      return false;
    if (isAsItLies(index))
      return true;
    int64_t perRow = index->coefficient(rows.row), perColumn = index->coefficient(rows.column);
    bool isFew = perRow == 0 || (perRow == 1 && perColumn == 0);
    return !node->mask && isFew && perColumn >= 0 && perColumn <= 2;
  };
  if (!llvm::all_of(stores, isAsItLies) || !llvm::all_of(live, isNear))
    return std::nullopt;
  return rows;
}

} // namespace tessera::codegen
