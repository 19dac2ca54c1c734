// The order is that of columns in OrderedSums.cpp, with a row of sums in the scratch for each level of
// it but the innermost: four rows are added up in registers.
#include "passes/codegen/cpu/PastRows.h"

#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/cpu/SumSlots.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::codegen {

namespace {

// One vector of sums.
class FourRows : SumSlots {
public:
  FourRows(Emitter &e, const Reduction &reduction, unsigned width)
      : SumSlots(e, reduction, width) {}
  Slots neutrals() {
    Slots values;
    for (size_t i = 0; i < reduction.inputs.size(); ++i)
      values.push_back(neutral(i));
    return values;
  }
  Slots combined(llvm::ArrayRef<Value> before, llvm::ArrayRef<Value> fresh) {
    return SumSlots::combined(before, fresh);
  }
  // Neutral where `exists` does not hold.
  Slots termsIf(Value exists) {
    Slots values = terms();
    if (exists)
      for (auto [i, value] : llvm::enumerate(values))
        value = b.CreateSelect(exists, value, neutral(i));
    return values;
  }
  llvm::SmallVector<Value> results(llvm::ArrayRef<Value> sums) {
    llvm::SmallVector<Value> inits, values;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      inits.push_back(e.splat(e.emit(reduction.inits[i]), width));
      values.push_back(accumulators.toTerm(i, sum));
    }
    return e.combine(reduction, inits, values);
  }
};

} // namespace

PastRows::PastRows(KernelFunction &function, Emitter &e, const RowsPast &past,
                   llvm::ArrayRef<unsigned> columns, unsigned lanes)
    : function(function), e(e), b(e.b), past(past), sum(*past.reduction), columns(columns),
      lanes(lanes), count(pointsOf(e.graph, sum.dims)) {
  constexpr int64_t mostColumns = 2048; // of which all levels stay in the first-level cache
  auto [first, last] = boundsOf(e.graph, columns);
  stripColumns = std::min<int64_t>(mostColumns, llvm::alignTo(last - first, 64));
  Accumulators accumulators(e, sum, /*takesWords=*/true);
  for (size_t i = 0; i < sum.inputs.size(); ++i)
    elements.push_back(e.typeOf(accumulators.kind(i), 1));
}

int64_t PastRows::bytesOf(size_t component) const {
  return llvm::divideCeil(elements[component]->getScalarSizeInBits(), 8);
}

PastRows::Row PastRows::makeRow() {
  Row row;
  for (size_t i = 0; i < elements.size(); ++i)
    row.push_back(function.reserveScratch(stripColumns * bytesOf(i)));
  return row;
}

void PastRows::overColumns(llvm::function_ref<void(Value, unsigned)> body) {
  overVectors(e, columns, lanes, low, high, step, [&](Value at) { body(at, e.lanes()); });
}

Value PastRows::placeOf(const Row &row, size_t component, Value at) {
  Value first = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, row[component]);
  return b.CreateInBoundsGEP(elements[component], first, b.CreateNSWSub(at, low));
}

llvm::SmallVector<Value> PastRows::atColumn(const Row &row, Value at, unsigned width) {
  llvm::SmallVector<Value> values;
  for (size_t i = 0; i < row.size(); ++i)
    values.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(elements[i], width),
                                         placeOf(row, i, at), llvm::Align(bytesOf(i))));
  return values;
}

void PastRows::store(const Row &row, Value at, llvm::ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(values))
    b.CreateAlignedStore(value, placeOf(row, i, at), llvm::Align(bytesOf(i)));
}

void PastRows::clear(const Row &row) {
  overColumns(
      [&](Value at, unsigned width) { store(row, at, FourRows(e, sum, width).neutrals()); });
}

// What is of rows alone, and dear, by vectors along them.
void PastRows::keepDear() {
  constexpr int64_t mostBytes = 1 << 20;
  if (!past.isDear)
    return;
  Index place = e.graph.constant(0);
  for (unsigned dim : sum.loops[0])
    place = e.graph.add(e.graph.multiply(place, e.graph.dims[dim].size), e.graph.dim(dim));
  llvm::SmallVector<Node *> nodes;
  for (Node *node : past.ofRows) {
    int64_t bytes = count * byteSize(node->kind);
    if (node->op == Op::Load || node->op == Op::Iota || node->kind == ElementKind::I1 ||
        bytes > mostBytes)
      continue;
    BufferInfo buffer;
    buffer.source = BufferInfo::Scratch;
    buffer.kind = node->kind;
    buffer.elements = count;
    buffer.position = function.reserveScratch(bytes);
    auto number = static_cast<int>(e.graph.buffers.size());
    e.graph.buffers.push_back(buffer);
    nodes.push_back(node);
    kept.push_back({node, e.graph.load(node->kind, number, place, nullptr)});
  }
  if (nodes.empty())
    return;
  LoopGroup rows = collapseLoops(e.graph, sum.loops[0], e.live, {}).front();
  unsigned lanes = e.chooseLanes(count, Graph::reachable(nodes));
  overVectors(e, rows, lanes, e.i64(0), e.i64(count), /*step=*/0, [&](Value) {
    for (auto [node, load] : kept)
      e.store(e.bufferPointer(load->buffer()), node->kind, place, e.splat(e.emit(node), e.lanes()));
  });
}

void PastRows::addFour(Value four, const Row &into) {
  constexpr int64_t together = 4;
  Value first = b.CreateShl(four, 2);
  bool isRagged = count % together != 0;
  struct Row4 {
    Value at, exists = nullptr;
    llvm::SmallVector<Value> parts;
  };
  std::array<Row4, together> rows;
  for (auto [r, row] : llvm::enumerate(rows)) {
    row.at = b.CreateNSWAdd(first, e.i64(int64_t(r)));
    if (isRagged) {
      row.exists = b.CreateICmpSLT(row.at, e.i64(count));
      row.at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row.at, e.i64(count - 1));
    }
    e.openBlock();
    e.bindLoop(sum.loops[0], row.at);
    for (Node *node : past.ofRows) {
      auto *found = llvm::find_if(kept, [&](auto pair) { return pair.first == node; });
      row.parts.push_back(e.emit(found == kept.end() ? node : found->second));
    }
    e.closeBlock();
  }
  overColumns([&](Value at, unsigned width) {
    FourRows vector(e, sum, width);
    Slots sums = vector.neutrals();
    for (const Row4 &row : rows) {
      e.openBlock();
      e.bindLoop(sum.loops[0], row.at);
      for (auto [node, value] : llvm::zip(past.ofRows, row.parts))
        e.levels.back().values[node] = value;
      sums = vector.combined(sums, vector.termsIf(row.exists));
      e.closeBlock();
    }
    store(into, at, vector.combined(atColumn(into, at, width), sums));
  });
}

void PastRows::addFours(Value from, Value to, int64_t most, const Row &into) {
  int64_t block = blockOfSixteens(most);
  Value start = e.openLoop(from, to, block, /*mayBeEmpty=*/false);
  if (block == 1) {
    addFour(start, into);
  } else {
    Row part = makeRow();
    clear(part);
    Value end =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(start, e.i64(block)), to);
    addFours(start, end, block, part);
    overColumns([&](Value at, unsigned width) {
      FourRows vector(e, sum, width);
      store(into, at, vector.combined(atColumn(into, at, width), atColumn(part, at, width)));
    });
  }
  e.closeLoop();
}

void PastRows::emit(Value from, Value to, int64_t stepOfParts, llvm::function_ref<void()> roots) {
  keepDear();
  auto [first, last] = boundsOf(e.graph, columns);
  bool isInStrips = last - first > stripColumns;
  step = isInStrips ? std::gcd(stepOfParts, stripColumns) : stepOfParts;
  low = from, high = to;
  if (isInStrips) {
    low = e.openLoop(from, to, stripColumns, stepOfParts != 0);
    high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, e.i64(stripColumns)),
                                   to);
  }
  Row total = makeRow();
  clear(total);
  int64_t fours = llvm::divideCeil(count, 4);
  addFours(e.i64(0), e.i64(fours), fours, total);
  overColumns([&](Value at, unsigned width) {
    llvm::SmallVector<Value> values = FourRows(e, sum, width).results(atColumn(total, at, width));
    e.levels.back().reductions[past.reduction] = values;
    roots();
  });
  if (isInStrips)
    e.closeLoop();
}

} // namespace tessera::codegen
