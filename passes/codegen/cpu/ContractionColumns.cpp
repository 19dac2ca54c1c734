// Results that lie side by side along rows of the product: tiles are squares, and their sums are turned
// in registers. They wait in the scratch for all rows of a panel, so that what they are combined with
// is read in order, and results are written so.
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// What is computed of the sums, and not for them.
std::vector<Node *> ContractionEmitter::nodesAfterSums() const {
  std::vector<Node *> after;
  llvm::DenseSet<Node *> seen{plan.product};
  llvm::SmallVector<Node *> pending(nest.rootNodes());
  while (!pending.empty()) {
    Node *node = pending.pop_back_val();
    if (!seen.insert(node).second)
      continue;
    after.push_back(node);
    pending.append(node->operands.begin(), node->operands.end());
    if (node->mask)
      pending.push_back(node->mask);
  }
  return after;
}

LoopGroup ContractionEmitter::mergedRows() const {
  llvm::SmallVector<unsigned> dims;
  for (const LoopGroup &group : plan.mAround)
    dims.append(group.begin(), group.end());
  dims.append(plan.m.begin(), plan.m.end());
  auto groups = collapseLoops(graph, dims, nodesAfterSums(), nest.stores());
  bool isOne = groups.size() == 1 && llvm::all_of(nest.stores(), [&](Index store) {
                 return strideOf(store, groups.front()) == 1;
               });
  return isOne ? groups.front() : LoopGroup();
}

int64_t ContractionEmitter::turnedLength() const {
  return llvm::alignTo(std::max<int64_t>(plan.mPanel, plan.lanes), 16) + 16;
}

void ContractionEmitter::turnTile(Tile tile, Value place) {
  llvm::SmallVector<Value> square;
  for (int64_t r = 0; r < plan.lanes; ++r) {
    Value row = llvm::Constant::getNullValue(vectorType());
    if (r < plan.rows)
      row = b.CreateAlignedLoad(vectorType(), b.CreateConstGEP1_64(vectorType(), place, r),
                                llvm::Align(4));
    square.push_back(row);
  }
  Value to = e.element(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchResults), kind,
                       b.CreateNSWSub(tile.m0, panelLow));
  for (auto [c, column] : llvm::enumerate(e.transpose(std::move(square))))
    b.CreateAlignedStore(column,
                         b.CreateConstGEP1_64(e.typeOf(kind, 1), to, int64_t(c) * turnedLength()),
                         llvm::Align(byteSize(kind)));
}

// Along the rows of a column arrays are read and written in order.
void ContractionEmitter::finishPanel(Value n0, Value skipN) {
  bool isShared = function.kernel.sharesBuffers();
  Value c = e.openLoop(isShared && skipN ? skipN : e.i64(0), e.i64(plan.lanes), 1, false);
  bind(plan.n, b.CreateNSWAdd(n0, c));
  Value from = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchResults);
  Value column = b.CreateNSWMul(c, e.i64(turnedLength()));
  for (unsigned dim : llvm::ArrayRef(turnedRows).drop_back())
    e.variables[dim] = nullptr;
  byVectors(turnedRows, panelLow, panelHigh, plan.lanes, [&](Value start, Value) {
    Value place = b.CreateNSWAdd(column, b.CreateNSWSub(start, panelLow));
    e.levels.back().values[plan.product] = b.CreateAlignedLoad(
        vectorType(), e.element(from, kind, place), llvm::Align(byteSize(kind)));
    storeRoots();
  });
  e.closeLoop();
}

} // namespace tessera::codegen
