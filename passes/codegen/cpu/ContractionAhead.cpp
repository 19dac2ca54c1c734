// What a product's results are made of besides its sums is read once, from memory. A tile asks for its
// part of it before it multiplies, and finds it in a cache.
//
//   w - 0.1 * (a * b)    each tile asks for its elements of w
#include "passes/codegen/cpu/ContractionEmitter.h"

namespace tessera::codegen {

void ContractionEmitter::askForOperands(Value n0) {
  constexpr int64_t leastK = 64; // what comes from memory takes as long as so many steps
  if (plan.kSize < leastK)
    return;
  e.openBlock();
  bind(plan.n, n0, plan.columns());
  for (Node *node : nodesAfterSums()) {
    if (node->op != Op::Load || !e.asksFor(node))
      continue;
    std::optional<int64_t> stride = strideOfRows(plan, graph, node->index);
    if (stride && *stride != 0)
      for (int64_t row = 0; row < plan.rows; ++row)
        e.askAhead(node, row * *stride, /*isNear=*/true);
  }
  e.closeBlock();
}

} // namespace tessera::codegen
