// The gradient of attention by blocks (Dao 2023, FlashAttention-2): a strip of keys lies in panels while
// blocks of queries go past it.
//
//   for a strip of keys: copy what is of keys into panels
//     for a block of queries: copy what is of queries
//       for a part of it:
//         s, dp = products           rows of the strip, in the scratch
//         f = factors of s and dp    in their place
//         sums of rows += f * values of keys
//       sums of columns += f turned * values of queries
//     results of the strip's keys = sums of columns
//   results of queries = sums of rows
//
// A cell has all queries and keys of a head, or of a kernel that yields one of the two only, some.
#include "passes/codegen/cpu/AttentionGradient.h"
#include "passes/codegen/cpu/AttentionStrips.h"
#include "passes/codegen/cpu/ExponentialsOfBf16.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

class ResultSums final : public StripSums {
public:
  using StripSums::StripSums;

  // The factors lie at a place in the scratch.
  void reserve(int64_t rows, int64_t factors) {
    reserveSums(rows);
    scratchA = factors;
  }
  void clear(int64_t rows) {
    clearSums(e.openLoop(e.i64(0), e.i64(rows), 1, false));
    e.closeLoop();
  }
  void pack(Value low, Value high) {
    nLow = e.i64(0);
    packValues(low, high);
  }
  // The block's factors begin with the row `first`.
  void add(Value first, KeyRange all, FactorTiles overTiles) {
    panelLow = first;
    addProducts(all, overTiles);
  }
  void finish(Value m, Value row) {
    bind(plan.m, m);
    finishSums(row, [](Value sums) { return sums; });
  }
};

class GradientEmitter {
public:
  GradientEmitter(KernelFunction &function, JointNests &nests, const GradientPlan &plan,
                  Emitter &emitter)
      : function(function), plan(plan), loops(plan.loops), e(emitter), b(e.b) {
    for (const ContractionPlan &product : plan.products)
      products.push_back(
          std::make_unique<StripProduct>(function, *nests.nests.front(), product, emitter));
    for (auto [result, own] : llvm::zip(loops.results, plan.results))
      results.push_back(
          std::make_unique<ResultSums>(function, *nests.nests[result.nest], own, emitter));
    e.live = Graph::reachable(nests.rootNodes());
    columns = plan.products[0].columns();
  }
  void emit();

private:
  void reserve();
  void emitCell(Value cell, llvm::Instruction *before);
  void emitStrip();
  void overAround(llvm::function_ref<void(Value number)> body);
  void emitBlock(Value around);
  void emitPart(Value around, KeyRange block, Value whole);
  KeyRange keysOf(Value first, Value last, Value whole);
  Value anyBlind();
  void emitProducts(const BlockTiles &tiles, KeyRange block);
  void addRows(const BlockTiles &tiles, Value around, KeyRange block);
  void emitRow(Value m, KeyRange block, KeyRange keys);
  void emitFactors(Value m, Value key);
  void storeFactor(size_t factor, Value m, Value key, Value value, Value mask);
  void clearFactors(Value m, Value from, Value to);
  void turnFactors(KeyRange keys);
  void turnSquares(size_t factor, Value key, Value m);
  void turnPairs(size_t factor, Value key, Value m);
  void addColumns(KeyRange keys);

  bool isLimited() const { return !loops.limits.each.empty(); }
  int64_t rowsOfCell() const {
    return llvm::alignTo(std::min(plan.cells.rowChunk, loops.rowCount), plan.tileRows);
  }
  void bind(const LoopGroup &group, Value variable, unsigned lanes = 1, Value mask = nullptr) {
    e.bindLevel(group.back(), setOf(group), variable, lanes, mask);
  }
  Value smaller(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); }
  Value larger(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); }
  llvm::Type *rowType() { return e.typeOf(ElementKind::F32, columns); }
  // An element of the part's rows.
  Value placeOf(size_t plane, Value m, Value key) {
    Value row = b.CreateNSWMul(b.CreateNSWSub(m, partLow), e.i64(plan.stride));
    Value at = b.CreateNSWAdd(row, b.CreateNSWSub(key, strip.low));
    Value from = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), e.scratch, planeAt[plane]);
    return b.CreateInBoundsGEP(b.getFloatTy(), from, at);
  }

  // The same of a factor of bf16: as it is, and turned.
  int64_t factorLength() const { return plan.cells.strip + Reduction::tileUnit; }
  // Tiles read rows of keys, pairs of registers rows of pairs of queries.
  int64_t turnedLength() const {
    return plan.byTiles ? plan.cells.block + Reduction::tileUnit
                        : 2 * llvm::alignTo(plan.stride, 16);
  }
  int64_t turnedRows() const {
    return plan.byTiles ? rowsOfColumns() : llvm::divideCeil(plan.cells.block, 2) + 1;
  }
  Value bf16At(int64_t from, Value row, int64_t length, Value column) {
    Value at = b.CreateNSWAdd(b.CreateNSWMul(row, e.i64(length)), column);
    return b.CreateInBoundsGEP(b.getInt16Ty(),
                               b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), e.scratch, from), at);
  }
  Value factorAt(size_t factor, Value m, Value key) {
    return bf16At(factorPlaces[factor], b.CreateNSWSub(m, partLow), factorLength(),
                  b.CreateNSWSub(key, strip.low));
  }
  // Tiles of the processor's are whole in a strip, which they begin with.
  int64_t rowsOfColumns() const {
    return llvm::alignTo(plan.cells.strip, 32) + (plan.byTiles ? 0 : 32);
  }

  KernelFunction &function;
  const GradientPlan &plan;
  const GradientLoops &loops;
  Emitter &e;
  llvm::IRBuilder<> &b;
  llvm::SmallVector<std::unique_ptr<StripProduct>> products;
  llvm::SmallVector<std::unique_ptr<ResultSums>> results;
  // In the scratch: products of a block; bf16 factors of it, and those turned.
  llvm::SmallVector<int64_t> planeAt, factorPlaces, turnedPlaces;
  unsigned columns;                             // that are computed at a time
  Value rowLow, rowHigh, columnLow, columnHigh; // of the cell
  Value blockLow, blockHigh;
  Value partLow, partHigh; // of the block, whose rows lie in the scratch
  KeyRange strip;
};

} // namespace

void GradientEmitter::reserve() {
  for (size_t i = 0; i < plan.planes(); ++i)
    planeAt.push_back(function.reserveScratch((plan.part * plan.stride + columns) * 4));
  for (size_t i = 0; i < loops.factors.size(); ++i) {
    factorPlaces.push_back(
        plan.isNarrow(i) ? function.reserveScratch((plan.part * factorLength() + columns) * 2) : 0);
    turnedPlaces.push_back(
        plan.isTurned(i) ? function.reserveScratch(turnedRows() * turnedLength() * 2) : 0);
  }
  for (auto &product : products)
    product->reserve(plan.part, plan.cells.strip);
  for (auto [result, sums] : llvm::zip(loops.results, results)) {
    int64_t factors = planeAt[result.factor];
    if (plan.isNarrow(result.factor))
      factors = (result.isOfRows ? factorPlaces : turnedPlaces)[result.factor];
    sums->reserve(result.isOfRows ? loops.aroundCount * rowsOfCell() : rowsOfColumns(), factors);
  }
}

//===--- Factors ---===//

// Those of the strip that a row of [first, last] can see, from a vector's beginning on.
KeyRange GradientEmitter::keysOf(Value first, Value last, Value whole) {
  KeyRange keys = keysWithin(e, loops.limits, loops.rows, loops.columns, first, last, strip, whole);
  Value before = b.CreateUDiv(b.CreateNSWSub(keys.low, strip.low), e.i64(columns));
  keys.low = b.CreateNSWAdd(strip.low, b.CreateNSWMul(before, e.i64(columns)));
  return keys;
}

void GradientEmitter::emitFactors(Value m, Value key) {
  Value mask = nullptr;
  if (loops.columnCount % columns != 0) {
    llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), columns);
    Value left = b.CreateTrunc(b.CreateNSWSub(strip.high, key), b.getInt32Ty());
    mask = b.CreateICmpSLT(b.CreateStepVector(type), e.splat(left, columns));
  }
  bind(loops.columns, key, columns, mask);
  for (auto [i, product] : llvm::enumerate(loops.products))
    e.levels.back().values[product.product] =
        b.CreateAlignedLoad(rowType(), placeOf(i, m, key), llvm::Align(4));
  llvm::SmallVector<Value> values;
  for (Node *factor : loops.factors)
    values.push_back(e.splat(e.emit(factor), columns));
  for (auto [i, value] : llvm::enumerate(values))
    storeFactor(i, m, key, value, mask);
}

// Whole units are multiplied: what is not there is zero.
void GradientEmitter::storeFactor(size_t factor, Value m, Value key, Value value, Value mask) {
  if (!plan.isNarrow(factor)) {
    b.CreateAlignedStore(value, placeOf(factor, m, key), llvm::Align(4));
    return;
  }
  if (mask)
    value = b.CreateSelect(mask, value, llvm::Constant::getNullValue(value->getType()));
  Value bits = e.toMemory(ElementKind::BF16, value);
  if (!plan.byTiles)
    bits = b.CreateShuffleVector(bits, pairedLanes(columns));
  b.CreateAlignedStore(bits, factorAt(factor, m, key), llvm::Align(2));
}

void GradientEmitter::clearFactors(Value m, Value from, Value to) {
  Value key = e.openLoop(from, to, columns, true);
  for (size_t i = 0; i < loops.factors.size(); ++i)
    storeFactor(i, m, key, llvm::Constant::getNullValue(rowType()), nullptr);
  e.closeLoop();
}

// What a row cannot see is zero as far as another row of the block can, and a tile beyond.
void GradientEmitter::emitRow(Value m, KeyRange block, KeyRange keys) {
  bind(loops.rows, m);
  if (isLimited())
    clearFactors(m, block.low, keys.low);
  emitFactors(m, e.openLoop(keys.low, keys.high, columns, isLimited()));
  e.closeLoop();
  if (!isLimited())
    return;
  Value vectors = b.CreateUDiv(
      b.CreateNSWAdd(b.CreateNSWSub(keys.high, keys.low), e.i64(columns - 1)), e.i64(columns));
  Value end = b.CreateNSWAdd(keys.low, b.CreateNSWMul(vectors, e.i64(columns)));
  clearFactors(m, end, b.CreateNSWAdd(block.high, e.i64(plan.columnRows)));
}

//===--- A block ---===//

// A panel of keys stays in the first-level cache while the block's tiles go past it.
void GradientEmitter::emitProducts(const BlockTiles &tiles, KeyRange block) {
  for (auto [i, product] : llvm::enumerate(products)) {
    Value start = e.openLoop(block.low, block.high, columns, false), n0 = start;
    if (loops.columnCount > columns)
      n0 = smaller(start, b.CreateNSWSub(strip.high, e.i64(columns)));
    tiles.forEachAt(
        start, [&](Value m0) { product->multiplyInto(m0, n0, placeOf(i, m0, n0), plan.stride); });
    e.closeLoop();
  }
}

void GradientEmitter::addRows(const BlockTiles &tiles, Value around, KeyRange block) {
  for (auto [result, sums] : llvm::zip(loops.results, results)) {
    if (!result.isOfRows)
      continue;
    sums->add(partLow, within(strip, block, b), [&](llvm::function_ref<void(FactorTile)> body) {
      tiles.forEach([&](Value m0, Value, KeyRange keys) {
        Value row =
            b.CreateNSWAdd(b.CreateNSWMul(around, e.i64(rowsOfCell())), b.CreateNSWSub(m0, rowLow));
        body({m0, row, within(strip, keys, b)});
      });
    });
  }
}

// Whether a row has no score so far above what is filled in that the others vanish beside.
Value GradientEmitter::anyBlind() {
  Value found = e.temporary(b.getInt1Ty(), "blind");
  b.CreateStore(b.getFalse(), found);
  bind(loops.rows, e.openLoop(blockLow, blockHigh, 1, false));
  Value isBlind = seesNothing(e, loops.limits, e.emit(loops.shift));
  b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt1Ty(), found), isBlind), found);
  e.closeLoop();
  return b.CreateLoad(b.getInt1Ty(), found);
}

// 16 keys of a unit of queries: pairs of queries lie together in a row of a key.
void GradientEmitter::turnSquares(size_t factor, Value key, Value m) {
  constexpr int64_t side = 16;
  llvm::Type *half = llvm::FixedVectorType::get(b.getInt16Ty(), side);
  llvm::Type *square = llvm::FixedVectorType::get(b.getInt32Ty(), side);
  llvm::SmallVector<int> order;
  for (int i = 0; i < side; ++i)
    order.append({i, i + static_cast<int>(side)});
  auto rowAt = [&](int64_t r) {
    return b.CreateAlignedLoad(half, factorAt(factor, b.CreateNSWAdd(m, e.i64(r)), key),
                               llvm::Align(2));
  };
  llvm::SmallVector<Value> pairs;
  for (int64_t i = 0; i < side; ++i)
    pairs.push_back(
        b.CreateBitCast(b.CreateShuffleVector(rowAt(2 * i), rowAt(2 * i + 1), order), square));
  for (auto [i, row] : llvm::enumerate(e.transpose(std::move(pairs)))) {
    Value to = b.CreateNSWAdd(b.CreateNSWSub(key, strip.low), e.i64(int64_t(i)));
    b.CreateAlignedStore(
        row, bf16At(turnedPlaces[factor], to, turnedLength(), b.CreateNSWSub(m, blockLow)),
        llvm::Align(2));
  }
}

// A vector of keys of two queries: the pairs of one key lie together. In the rows of factors keys
// have changed places already.
void GradientEmitter::turnPairs(size_t factor, Value key, Value m) {
  llvm::Type *row = llvm::FixedVectorType::get(b.getInt16Ty(), columns);
  llvm::SmallVector<int> order;
  for (int lane : pairedLanes(columns))
    order.append({lane + static_cast<int>(columns), lane});
  auto rowAt = [&](int64_t r) {
    return b.CreateAlignedLoad(row, factorAt(factor, b.CreateNSWAdd(m, e.i64(r)), key),
                               llvm::Align(2));
  };
  Value pair = b.CreateUDiv(b.CreateNSWSub(m, blockLow), e.i64(2));
  Value column = b.CreateNSWMul(b.CreateNSWSub(key, strip.low), e.i64(2));
  b.CreateAlignedStore(b.CreateShuffleVector(rowAt(0), rowAt(1), order),
                       bf16At(turnedPlaces[factor], pair, turnedLength(), column), llvm::Align(4));
}

void GradientEmitter::turnFactors(KeyRange keys) {
  int64_t unit = plan.unit();
  Value end = b.CreateNSWAdd(keys.high, e.i64(plan.columnRows));
  if (plan.byTiles)
    end = smaller(end, b.CreateNSWAdd(strip.low, e.i64(rowsOfColumns())));
  Value units =
      b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(partHigh, partLow), e.i64(unit - 1)), e.i64(unit));
  Value last = b.CreateNSWAdd(partLow, b.CreateNSWMul(units, e.i64(unit)));
  if (loops.rowCount % unit != 0 || plan.cells.block % unit != 0) {
    clearFactors(e.openLoop(partHigh, last, 1, true), keys.low, end);
    e.closeLoop();
  }
  Value m = e.openLoop(partLow, last, unit, false);
  Value key = e.openLoop(keys.low, end, plan.byTiles ? 16 : columns, false);
  for (size_t i = 0; i < loops.factors.size(); ++i)
    if (plan.isTurned(i))
      plan.byTiles ? turnSquares(i, key, m) : turnPairs(i, key, m);
  e.closeLoop();
  e.closeLoop();
}

void GradientEmitter::addColumns(KeyRange keys) {
  for (auto [result, sums] : llvm::zip(loops.results, results))
    if (!result.isOfRows)
      sums->add(strip.low, {e.i64(0), b.CreateNSWSub(blockHigh, blockLow)},
                [&](llvm::function_ref<void(FactorTile)> body) {
                  Value s0 = e.openLoop(keys.low, keys.high, plan.columnRows, false);
                  body({s0, b.CreateNSWSub(s0, strip.low), {}});
                  e.closeLoop();
                });
}

void GradientEmitter::emitBlock(Value around) {
  KeyRange keys = strip;
  Value whole = nullptr;
  if (isLimited()) {
    whole = anyBlind();
    keys = keysOf(blockLow, b.CreateNSWSub(blockHigh, e.i64(1)), whole);
    e.openIf(b.CreateICmpSLT(keys.low, keys.high));
  }
  for (auto [result, sums] : llvm::zip(loops.results, results))
    if (!result.isOfRows)
      sums->pack(blockLow, blockHigh);
  partLow = blockLow, partHigh = blockHigh;
  if (plan.part < plan.cells.block) {
    partLow = e.openLoop(blockLow, blockHigh, plan.part, false);
    partHigh = smaller(b.CreateNSWAdd(partLow, e.i64(plan.part)), blockHigh);
  }
  emitPart(around, keys, whole);
  if (plan.part < plan.cells.block)
    e.closeLoop();
  if (plan.yields(/*ofRows=*/false))
    addColumns(keys);
  if (isLimited())
    e.closeLoop();
}

// `block`: the keys that rows of its block can see.
void GradientEmitter::emitPart(Value around, KeyRange block, Value whole) {
  for (auto &product : products)
    product->packQueries(partLow, partHigh);
  BlockTiles tiles(e, partLow, partHigh, plan.tileRows);
  if (isLimited())
    tiles.limit(plan.part, [&](Value first, Value last) {
      KeyRange own = keysOf(first, last, whole);
      own.low = smaller(larger(own.low, block.low), block.high);
      own.high = larger(smaller(own.high, block.high), own.low);
      return own;
    });
  emitProducts(tiles, block);
  tiles.forAll([&](Value first, Value end, KeyRange own) {
    emitRow(e.openLoop(first, end, 1, false), block, own.low ? own : block);
    e.closeLoop();
  });
  addRows(tiles, around, block);
  if (plan.turnsFactors())
    turnFactors(block);
}

//===--- A cell ---===//

void GradientEmitter::overAround(llvm::function_ref<void(Value)> body) {
  Value number = e.i64(0);
  for (const LoopGroup &group : loops.around) {
    int64_t size = boundsOf(e.graph, group).second;
    Value variable = e.openLoop(e.i64(0), e.i64(size), 1, false);
    bind(group, variable);
    number = b.CreateNSWAdd(b.CreateNSWMul(number, e.i64(size)), variable);
  }
  body(number);
  for (size_t i = 0; i < loops.around.size(); ++i)
    e.closeLoop();
}

void GradientEmitter::emitStrip() {
  for (auto &product : products)
    product->packKeys(strip.low, strip.high);
  for (auto [result, sums] : llvm::zip(loops.results, results))
    if (result.isOfRows)
      sums->pack(strip.low, strip.high);
    else
      sums->clear(rowsOfColumns());
  overAround([&](Value around) {
    blockLow = e.openLoop(rowLow, rowHigh, plan.cells.block, false);
    blockHigh = smaller(b.CreateNSWAdd(blockLow, e.i64(plan.cells.block)), rowHigh);
    emitBlock(around);
    e.closeLoop();
  });
  if (!plan.yields(/*ofRows=*/false))
    return;
  Value key = e.openLoop(strip.low, strip.high, 1, false);
  for (auto [result, sums] : llvm::zip(loops.results, results))
    if (!result.isOfRows)
      sums->finish(key, b.CreateNSWSub(key, strip.low));
  e.closeLoop();
}

void GradientEmitter::emitCell(Value cell, llvm::Instruction *before) {
  e.openBody(before);
  Value rest = cell;
  auto chunk = [&](int64_t size, int64_t chunk) {
    return chunkRange(e, takeDigit(e, rest, llvm::divideCeil(size, chunk)), chunk, size);
  };
  std::tie(rowLow, rowHigh) = chunk(loops.rowCount, plan.cells.rowChunk);
  std::tie(columnLow, columnHigh) = chunk(loops.columnCount, plan.cells.columnChunk);
  for (const LoopGroup &group : llvm::reverse(loops.outer))
    bind(group, takeDigit(e, rest, boundsOf(e.graph, group).second));
  if (plan.byTiles)
    products[0]->openTiles();
  for (auto [result, sums] : llvm::zip(loops.results, results))
    if (result.isOfRows)
      sums->clear(loops.aroundCount * rowsOfCell());
  strip.low = e.openLoop(columnLow, columnHigh, plan.cells.strip, false);
  strip.high = smaller(b.CreateNSWAdd(strip.low, e.i64(plan.cells.strip)), columnHigh);
  emitStrip();
  e.closeLoop();
  if (plan.byTiles)
    products[0]->closeTiles();
  if (!plan.yields(/*ofRows=*/true))
    return;
  overAround([&](Value around) {
    Value m = e.openLoop(rowLow, rowHigh, 1, false);
    Value row =
        b.CreateNSWAdd(b.CreateNSWMul(around, e.i64(rowsOfCell())), b.CreateNSWSub(m, rowLow));
    for (auto [result, sums] : llvm::zip(loops.results, results))
      if (result.isOfRows)
        sums->finish(m, row);
    e.closeLoop();
  });
}

void GradientEmitter::emit() {
  reserve();
  int64_t cells = loops.outerCount * llvm::divideCeil(loops.rowCount, plan.cells.rowChunk) *
                  llvm::divideCeil(loops.columnCount, plan.cells.columnChunk);
  function.forEachCell(cells,
                       [&](Value cell, llvm::Instruction *before) { emitCell(cell, before); });
}

bool emitAttentionGradient(KernelFunction &function, bool &known) {
  known = false;
  JointNests nests(function.kernel);
  if (!nests.build())
    return false;
  std::string why;
  std::optional<GradientLoops> loops = findGradient(nests, why);
  if (!loops)
    return true;
  known = true;
  roundExponentials(nests.rootNodes());
  GradientPlan plan = planGradient(std::move(*loops), nests.graph(), function.features);
  Emitter emitter = function.emitter(nests.graph());
  GradientEmitter(function, nests, plan, emitter).emit();
  return true;
}

} // namespace tessera::codegen
