#include "passes/codegen/kernel/TurnedLoads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

static constexpr int64_t mostLoads = 4;

// Results are written in runs of a few lines, and all of a block stays in the first-level cache.
int64_t TurnedLoads::vectorSide(bool isInLines) const {
  return std::clamp<int64_t>(256 / widest, 32, 128) * (isInLines ? 2 : 1);
}

// Lines are read whole.
int64_t TurnedLoads::alongSide(bool isInLines) const {
  constexpr int64_t line = 64;
  int64_t side = std::clamp<int64_t>(256 / widest, 32, 64);
  return isInLines ? std::max(side / 2, line / widest) : side;
}

std::optional<TurnedLoads> turnedLoads(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                       llvm::ArrayRef<Node *> live, bool isCut,
                                       int64_t leastExtent) {
  if (groups.size() < 2 || llvm::any_of(live, [](Node *node) { return node->op == Op::Reduced; }))
    return std::nullopt;
  auto extentOf = [&](llvm::ArrayRef<unsigned> group) {
    auto [low, high] = boundsOf(graph, group);
    return high - low;
  };
  const LoopGroup &vector = groups.back();
  if (extentOf(vector) < leastExtent)
    return std::nullopt;
  TurnedLoads turned{{}, groups.size(), 1};
  for (Node *node : live) {
    if (node->op != Op::Load || std::abs(strideOf(node->index, vector).value_or(0)) <= 1 ||
        !node->operands.empty() || (node->mask && !isCut))
      continue;
    for (size_t i = 0; i + 1 < groups.size(); ++i) {
      if (strideOf(node->index, groups[i]) != 1 || extentOf(groups[i]) < leastExtent ||
          (turned.along != groups.size() && turned.along != i) || turned.loads.size() == mostLoads)
        continue;
      turned.along = i;
      turned.loads.push_back(node);
      turned.widest = std::max(turned.widest, byteSize(node->kind));
    }
  }
  if (turned.loads.empty())
    return std::nullopt;
  return turned;
}

} // namespace tessera::codegen
