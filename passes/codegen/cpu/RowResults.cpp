// Results of a row that are written beside a pass over the next one (RowBehind.h).
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/cpu/Nest.h"

namespace tessera::codegen {

std::optional<RowBehind> Nest::resultsBehind(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                                             const Part &part) const {
  constexpr int64_t leastRows = 4; // one after the other
  if (!takesRows() || takesParts() || depth + 2 != groups.size())
    return std::nullopt;
  const LoopGroup &rows = groups[depth], &columns = groups.back();
  auto [first, last] = boundsOf(g->graph, rows);
  if ((part.step ? part.step : last - first) < leastRows)
    return std::nullopt;
  bool isRow = columns.front() >= dims[outerDims] && rows.front() < dims[outerDims];
  // The pass beside which they are written counts the elements of whole rows.
  bool isWhole = boundsOf(g->graph, columns) == std::pair(int64_t(0), pointsOf(g->graph, columns));
  if (!isRow || !isWhole || lanesOf(columns) < 2 || !streamsVectors(columns, lanesOf(columns), 0))
    return std::nullopt;
  // Where so much is computed that a step fills half a line, both together need more than 16 registers.
  if (lanesOf(columns) * byteSize(firstOfPoints()->kind) % lineBytes != 0)
    return std::nullopt;
  llvm::SmallVector<Node *> results;
  for (const Root &root : roots)
    if (!root.isOfRow)
      results.push_back(root.value.re);
  DimSet outer = setOf(llvm::ArrayRef(dims).take_front(outerDims));
  return rowBehind(g->graph, emitter->live, results, outer, rows, columns);
}

void Nest::emitRowsBehind(const RowBehind &behind, llvm::ArrayRef<unsigned> rows,
                          llvm::ArrayRef<unsigned> columns, Part part) {
  Emitter &e = *emitter;
  auto &b = e.b;
  auto [from, to, step] = part;
  llvm::SmallVector<Value> slots;
  for (Node *node : behind.carried)
    slots.push_back(e.temporary(e.typeOf(node->kind, 1), "carried"));
  // In place of what is of the row that the loop is at: of the row before.
  auto takeCarried = [&](Emitter::Level &level) {
    level.values.clear();
    for (Node *filler : behind.fillers)
      level.values[filler] = llvm::PoisonValue::get(e.typeOf(filler->kind, 1));
    for (auto [node, slot] : llvm::zip(behind.carried, slots))
      level.values[node] = b.CreateLoad(e.typeOf(node->kind, 1), slot);
  };
  auto emitResults = [&] {
    isStreamed = true;
    emitRoots();
    isStreamed = false;
  };

  Value row = e.openLoop(from, to, 1, step != 0);
  e.bindLevel(rows.back(), setOf(rows), row, 1, nullptr);
  size_t depth = e.levels.size() - 1;
  Value hasBefore = b.CreateICmpSGT(row, from);
  e.besidePass = behind.pass;
  e.writeBeside = [&](Value start, unsigned lanes, Value mask) {
    bool wasStreamed = isStreamed;
    e.openIf(hasBefore);
    e.bindLevel(columns.back(), setOf(columns), start, lanes, mask);
    auto values = std::move(e.levels[depth].values);
    takeCarried(e.levels[depth]);
    e.variables[rows.back()] = b.CreateNSWSub(row, e.i64(1));
    emitResults();
    e.variables[rows.back()] = row;
    e.levels[depth].values = std::move(values);
    e.closeLoop();
    isStreamed = wasStreamed;
  };
  e.openBlock();
  emitRoots(/*ofRows=*/true);
  e.closeBlock();
  llvm::SmallVector<Value> values;
  for (Node *node : behind.carried)
    values.push_back(e.emit(node));
  for (auto [value, slot] : llvm::zip(values, slots))
    b.CreateStore(value, slot);
  e.besidePass = nullptr;
  e.closeLoop();

  // Those of the last row.
  e.openIf(b.CreateICmpSLT(from, to));
  e.bindLevel(rows.back(), setOf(rows), b.CreateNSWSub(to, e.i64(1)), 1, nullptr);
  takeCarried(e.levels.back());
  auto [first, last] = boundsOf(g->graph, columns);
  isStreamed = true;
  overVectors(e, columns, lanesOf(columns), e.i64(first), e.i64(last), 0,
              [&](Value) { emitRoots(); });
  isStreamed = false;
  e.closeLoop();
}

} // namespace tessera::codegen
