#include "passes/codegen/kernel/KernelWork.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tessera::codegen {

Work workOf(const Graph &graph, llvm::ArrayRef<Node *> nodes) {
  Work work;
  for (Node *node : nodes) {
    DimSet deps = node->deps;
    double weight = 1, flops = 0;
    if (node->op == Op::Constant || node->op == Op::External)
      continue;
    if (node->op == Op::Reduced) {
      deps |= node->reduction->ownDims;
      flops = isFloat(node->kind);
    } else if (node->op == Op::Pow || node->op == Op::Atan2 ||
               (node->op >= Op::Exp && node->op <= Op::Cbrt)) {
      weight = 20;
      flops = 1;
    } else if (node->op >= Op::Add && node->op <= Op::RoundEven) {
      flops = isFloat(node->kind);
    }
    if (node->op == Op::Load)
      weight = byteSize(node->kind);
    double points = 1;
    for (unsigned dim = 0; dim < graph.dims.size(); ++dim)
      if (deps >> dim & 1)
        points *= graph.dims[dim].high - graph.dims[dim].low;
    work.cost += weight * points;
    work.flops += flops * points;
  }
  return work;
}

Partition partitionWork(llvm::ArrayRef<int64_t> sizes, double cost) {
  // About 5 us a cell: far above what handing one out costs, far below a step.
  constexpr double costOfCell = 200e3;
  constexpr int64_t mostCells = 1024;
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(cost / costOfCell), 1, mostCells);
  Partition result;
  int64_t before = 1;
  while (result.prefix + 1 < sizes.size() && before * sizes[result.prefix] <= wanted)
    before *= sizes[result.prefix++];
  if (sizes.empty())
    return result;
  int64_t size = sizes[result.prefix];
  int64_t rowsInside = 1;
  for (int64_t n : sizes.drop_front(result.prefix + 1))
    rowsInside *= n;
  // Whole vectors where the loop may be the vector loop.
  int64_t step = 64 / std::gcd(rowsInside, int64_t(64));
  int64_t chunk = llvm::divideCeil(size, std::max<int64_t>(wanted / before, 1));
  result.chunk = std::min(size, static_cast<int64_t>(llvm::alignTo(chunk, step)));
  result.chunks = llvm::divideCeil(size, result.chunk);
  result.cells = before * result.chunks;
  return result;
}

} // namespace tessera::codegen
