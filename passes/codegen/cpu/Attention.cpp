// Attention by tiles (Dao et al. 2022, FlashAttention; Milakov and Gimelshein 2018, Online
// normalizer calculation for softmax). A cell has some queries of one head. Strips of keys, with
// their values, go past them:
//
//   for a strip: copy its keys and values into panels
//     for a tile of queries:  x = function of query * key            a row of the strip for each
//                             m' = max(m, x), e = exp(x - m')        the rows stay in the scratch
//                             sums *= exp(m - m'), sums += e * value
//   results = sums / (sum of e)
//
// Scores are never in memory: what is there of them is a tile's rows of one strip. A causal mask or a
// window leaves out keys that no row of a tile can see.
#include "passes/codegen/cpu/Attention.h"
#include "passes/codegen/cpu/TileEmitter.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

constexpr int64_t block = Reduction::chainBlock;

// The product of queries and keys: its sums go to a place in the scratch.
class Scores final : public TileEmitter {
public:
  using TileEmitter::TileEmitter;
  void reserve(const AttentionPlan &attention);
  void packQueries(Value low, Value high);
  void packKeys(Value low, Value high);
  void multiplyInto(Value m0, Value n0, Value place, int64_t stride);

private:
  // Elements from one row of queries to the next.
  int64_t length() const { return plan.byTiles ? rowLength() : plan.kSize; }
};

// The keys that a tile or a cell reads.
struct KeyRange {
  Value low, high;
};

// The product of probabilities and values, and what is around it.
class AttentionEmitter final : public TileEmitter {
public:
  AttentionEmitter(KernelFunction &function, NestGraph &nest, const AttentionPlan &attention,
                   Emitter &emitter)
      : TileEmitter(function, nest, attention.values, emitter), attention(attention),
        loops(attention.loops), scores(function, nest, attention.scores, emitter),
        columns(attention.scores.columns()), stride(attention.strip + 16) {}

private:
  void reserveScratch() override;
  void beginCell() override {
    if (plan.byTiles)
      TileEmitter::beginCell();
  }
  void emitPoint() override;
  void endCell() override {
    if (plan.byTiles)
      TileEmitter::endCell();
  }

  void begin();
  void overStrips(Value whole);
  void packValues(Value low, Value high);
  void packValuePairs(Value low, Value high);
  KeyRange keysOf(Value firstRow, Value lastRow, KeyRange strip, Value whole);
  void emitTileOfQueries(Value m0, KeyRange strip, KeyRange keys);
  void emitRow(Value row, Value r, KeyRange strip, KeyRange keys);
  Value largestOfRow(Value scoresOfRow, KeyRange strip, KeyRange keys);
  Value exponentialsOfRow(Value r, KeyRange strip, KeyRange keys);
  void addValues(Value m0, KeyRange strip, KeyRange keys);
  void addByUnits(Value sums, Value panel, Value low, Value high);
  Value seesNothing();
  void finish();

  Value bytesOf(int64_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), e.scratch, offset);
  }
  Value floats(Value from, Value index) { return b.CreateInBoundsGEP(b.getFloatTy(), from, index); }
  Value number(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  Value smaller(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); }
  Value larger(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); }
  Value apply(Op op, llvm::ArrayRef<Value> operands) {
    return e.arithmetic(op, ElementKind::F32, operands);
  }
  Value folded(Op op, Value vector); // by halves
  llvm::Type *rowType() { return e.typeOf(kind, columns); }
  // Of a row of the cell: its largest score, what was added up of it, its sums.
  Value largestAt(Value row) { return floats(bytesOf(scratchLargest), row); }
  Value totalAt(Value row) {
    return floats(bytesOf(scratchTotal), b.CreateNSWMul(row, e.i64(columns)));
  }
  Value sumsAt(Value panel, Value row) {
    Value at = b.CreateNSWAdd(b.CreateNSWMul(panel, e.i64(attention.cellRows())), row);
    return floats(bytesOf(scratchOutputs), b.CreateNSWMul(at, e.i64(plan.columns())));
  }
  // What is subtracted from the scores of a row until its largest is known.
  Value shiftOf(Value largest) {
    Value none = b.CreateFCmpOEQ(largest, number(-HUGE_VAL));
    return b.CreateSelect(none, number(0), largest);
  }
  Value load(llvm::Type *type, Value from) {
    return b.CreateAlignedLoad(type, from, llvm::Align(4));
  }
  void store(Value value, Value to) { b.CreateAlignedStore(value, to, llvm::Align(4)); }
  void overPanels(llvm::function_ref<void(Value panel)> body) {
    body(e.openLoop(e.i64(0), e.i64(attention.panels()), 1, false));
    e.closeLoop();
  }
  // By vectors of a row, those past the strip masked; `key` counts from its first on.
  void overKeys(KeyRange strip, KeyRange keys,
                llvm::function_ref<void(Value key, Value mask)> body);
  // Of a tile's row: its scores, and its probabilities for the processor's tiles.
  Value scoresOf(Value r) {
    int64_t at = plan.byTiles ? scratchScores : scratchA;
    return floats(bytesOf(at), b.CreateNSWMul(r, e.i64(stride)));
  }
  Value probabilitiesOf(Value r) {
    return bytesFrom(bytesOf(scratchA), b.CreateNSWMul(r, e.i64(rowLength() * 2)));
  }

  const AttentionPlan &attention;
  const AttentionLoops &loops;
  Scores scores;
  unsigned columns; // of scores that are computed at a time
  int64_t stride;   // between rows of probabilities
  int64_t scratchScores = 0, scratchLargest = 0, scratchTotal = 0, scratchOutputs = 0;
};

} // namespace

//===--- Queries and keys ---===//

void Scores::reserve(const AttentionPlan &attention) {
  int64_t bytes = plan.byTiles ? 2 : byteSize(kind);
  int64_t rows = std::max(attention.cellRows(), plan.acrossA ? plan.packedRows() : 0);
  scratchA = function.reserveScratch(rows * length() * bytes);
  scratchB = function.reserveScratch(llvm::alignTo(attention.strip, plan.columns()) *
                                     plan.panelK() * bytes);
}

void Scores::packQueries(Value low, Value high) {
  mLow = panelLow = low, mHigh = panelHigh = high;
  plan.acrossA ? packAcrossA() : packA(low, high, length());
  if (!plan.byTiles || plan.kSize == plan.panelK())
    return;
  // What fills up the last unit.
  Value row = b.CreateNSWSub(e.openLoop(low, high, 1, false), low);
  Value to = b.CreateNSWAdd(b.CreateNSWMul(row, e.i64(length())), e.i64(plan.kSize));
  b.CreateAlignedStore(llvm::Constant::getNullValue(bitsType(plan.panelK() - plan.kSize)),
                       bytesFrom(bytesFrom(e.scratch, scratchA), b.CreateNSWMul(to, e.i64(2))),
                       llvm::Align(2));
  e.closeLoop();
}

void Scores::packKeys(Value low, Value high) {
  nLow = low, nHigh = high;
  plan.byTiles ? packColumns() : packB();
}

void Scores::multiplyInto(Value m0, Value n0, Value place, int64_t stride) {
  if (plan.byTiles) {
    Value row = b.CreateNSWMul(b.CreateNSWSub(m0, mLow), e.i64(length() * 2));
    multiplyUnits(bytesFrom(bytesFrom(e.scratch, scratchA), row), length() * 2, panelOfB(n0),
                  e.i64(0), e.i64(plan.panelK()));
    return storeSums(place, stride * 4);
  }
  llvm::SmallVector<Value> sums = makeSums("score");
  e.openBlock();
  bind(plan.m, m0);
  bind(plan.n, n0);
  multiply({m0, n0, nullptr, nullptr}, sums);
  e.closeBlock();
  for (int64_t r = 0; r < plan.rows; ++r)
    for (unsigned v = 0; v < plan.vectors; ++v)
      b.CreateAlignedStore(
          b.CreateLoad(vectorType(), sums[r * plan.vectors + v]),
          b.CreateConstGEP1_64(b.getFloatTy(), place, r * stride + int64_t(v) * plan.lanes),
          llvm::Align(4));
}

void AttentionEmitter::reserveScratch() {
  scores.reserve(attention);
  int64_t rows = attention.cellRows(), bytes = byteSize(kind);
  int64_t scoreBytes = (plan.rows * stride + columns) * bytes;
  if (plan.byTiles)
    scratchScores = function.reserveScratch(scoreBytes);
  scratchA = function.reserveScratch(plan.byTiles ? plan.rows * rowLength() * 2 : scoreBytes);
  scratchB = function.reserveScratch(attention.panels() * plan.panelK() * plan.columns() *
                                     (plan.byTiles ? 2 : bytes));
  scratchLargest = function.reserveScratch(rows * bytes);
  scratchTotal = function.reserveScratch(rows * columns * bytes);
  scratchOutputs = function.reserveScratch(attention.panels() * rows * plan.columns() * bytes);
}

Value AttentionEmitter::folded(Op op, Value vector) {
  unsigned lanes = columns;
  while (lanes > 1) {
    lanes /= 2;
    llvm::SmallVector<int> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + lanes));
    }
    vector = apply(op, {b.CreateShuffleVector(vector, low), b.CreateShuffleVector(vector, high)});
  }
  return b.CreateExtractElement(vector, uint64_t(0));
}

//===--- Keys ---===//

// Those of a strip that rows [firstRow, lastRow] can see.
KeyRange AttentionEmitter::keysOf(Value firstRow, Value lastRow, KeyRange strip, Value whole) {
  KeyRange keys = strip;
  for (const KeyLimit &limit : loops.limits) {
    e.openBlock();
    bind(plan.m, limit.atLastRow ? lastRow : firstRow);
    e.openBlock();
    bind(attention.scores.n, e.i64(0));
    auto position = [&](Node *node) {
      Value value = e.emit(node);
      return isSigned(node->kind) ? b.CreateSExt(value, b.getInt64Ty())
                                  : b.CreateZExt(value, b.getInt64Ty());
    };
    // a - b >= least at key 0; each key further it is one less, or one more.
    Value room = b.CreateSub(b.CreateSub(position(limit.a), position(limit.b)), e.i64(limit.least));
    e.closeBlock();
    e.closeBlock();
    if (limit.fromAbove)
      keys.high = smaller(keys.high, b.CreateAdd(room, e.i64(1)));
    else
      keys.low = larger(keys.low, b.CreateNeg(room));
  }
  if (whole) {
    keys.low = b.CreateSelect(whole, strip.low, keys.low);
    keys.high = b.CreateSelect(whole, strip.high, keys.high);
  }
  return keys;
}

void AttentionEmitter::overKeys(KeyRange strip, KeyRange keys,
                                llvm::function_ref<void(Value key, Value mask)> body) {
  Value key = e.openLoop(keys.low, keys.high, columns, false), mask = nullptr;
  if (attention.scores.nSize % columns != 0) {
    llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), columns);
    Value left = b.CreateTrunc(b.CreateNSWSub(strip.high, key), b.getInt32Ty());
    mask = b.CreateICmpSLT(b.CreateStepVector(type), e.splat(left, columns));
  }
  bind(attention.scores.n, key, columns, mask);
  body(b.CreateNSWSub(key, strip.low), mask);
  e.closeLoop();
}

// Rows of values, as the tiles of sums read them.
void AttentionEmitter::packValues(Value low, Value high) {
  if (plan.byTiles)
    return packValuePairs(low, high);
  Value key = e.openLoop(low, high, 1, false);
  bind(plan.k[0], key);
  overTiles(e.i64(0), e.i64(plan.nSize), plan.columns(), plan.nSize, [&](Value n0, Value) {
    Value to = b.CreateNSWMul(b.CreateNSWSub(key, low), e.i64(plan.columns()));
    e.openBlock();
    bind(plan.n, n0, plan.columns(), columnMask());
    store(e.splat(e.emit(plan.b), plan.columns()), floats(panelOfB(n0), to));
    e.closeBlock();
  });
  e.closeLoop();
}

// Pairs of keys lie together; zeros fill up the last unit.
void AttentionEmitter::packValuePairs(Value low, Value high) {
  llvm::Type *type = bitsType(plan.columns());
  Value zeros = llvm::Constant::getNullValue(type);
  Value end = b.CreateNSWAdd(low, b.CreateAnd(b.CreateNSWAdd(b.CreateNSWSub(high, low), e.i64(31)),
                                              e.i64(-Reduction::tileUnit)));
  Value last = b.CreateNSWSub(high, e.i64(1));
  Value key = e.openLoop(low, end, 2, false);
  overTiles(e.i64(0), e.i64(plan.nSize), plan.columns(), plan.nSize, [&](Value n0, Value) {
    Value rows[2];
    for (int64_t second : {0, 1}) {
      Value k = b.CreateNSWAdd(key, e.i64(second));
      Value row = rowOfBits(plan.b, smaller(k, last), plan.n, n0, plan.columns(), columnMask());
      rows[second] = b.CreateSelect(b.CreateICmpSLE(k, last), b.CreateBitCast(row, type), zeros);
    }
    storePair(panelOfB(n0), b.CreateNSWSub(key, low), interleaved(rows[0], rows[1]));
  });
  e.closeLoop();
}

//===--- A tile of queries ---===//

// The largest score so far of the row that m is bound to; the row's scores become what the program
// makes of the products.
Value AttentionEmitter::largestOfRow(Value scoresOfRow, KeyRange strip, KeyRange keys) {
  Value least = llvm::ConstantFP::get(rowType(), -HUGE_VAL);
  Value slot = e.temporary(rowType(), "largest");
  b.CreateStore(least, slot);
  overKeys(strip, keys, [&](Value key, Value mask) {
    Value place = floats(scoresOfRow, key);
    e.levels.back().values[attention.scores.product] = load(rowType(), place);
    Value x = e.emit(loops.score);
    if (mask)
      x = b.CreateSelect(mask, x, least);
    store(x, place);
    b.CreateStore(apply(Op::Max, {b.CreateLoad(rowType(), slot), x}), slot);
  });
  return folded(Op::Max, b.CreateLoad(rowType(), slot));
}

// The row's scores become what its values are multiplied by; returns what is added up of it.
Value AttentionEmitter::exponentialsOfRow(Value r, KeyRange strip, KeyRange keys) {
  Value slot = e.temporary(rowType(), "total");
  Value scoresOfRow = scoresOf(r), probabilities = plan.byTiles ? probabilitiesOf(r) : scoresOfRow;
  b.CreateStore(llvm::Constant::getNullValue(rowType()), slot);
  overKeys(strip, keys, [&](Value key, Value) {
    e.levels.back().values[loops.score] = load(rowType(), floats(scoresOfRow, key));
    Value exponential = e.emit(loops.exponential);
    if (loops.quotient)
      e.levels.back().values[loops.quotient] = exponential;
    Value factor = e.splat(e.emit(loops.values.a), columns);
    if (plan.byTiles)
      b.CreateAlignedStore(e.toMemory(ElementKind::BF16, factor),
                           bytesFrom(probabilities, b.CreateNSWMul(key, e.i64(2))), llvm::Align(2));
    else
      store(factor, floats(scoresOfRow, key));
    b.CreateStore(b.CreateFAdd(b.CreateLoad(rowType(), slot), exponential), slot);
  });
  return b.CreateLoad(rowType(), slot);
}

void AttentionEmitter::emitRow(Value row, Value r, KeyRange strip, KeyRange keys) {
  Value before = load(b.getFloatTy(), largestAt(row));
  Value largest = apply(Op::Max, {before, largestOfRow(scoresOf(r), strip, keys)});
  Value shift = shiftOf(largest);
  store(largest, largestAt(row));
  e.levels.back().values[loops.shift] = shift;
  Value total = exponentialsOfRow(r, strip, keys);
  Value scale = apply(Op::Exp, {b.CreateFSub(before, shift)});
  Value scales = e.splat(scale, columns), old = load(rowType(), totalAt(row));
  store(b.CreateFAdd(b.CreateFMul(old, scales), total), totalAt(row));
  llvm::Type *type = e.typeOf(kind, plan.columns());
  overPanels([&](Value panel) {
    Value at = sumsAt(panel, row);
    store(b.CreateFMul(load(type, at), e.splat(scale, plan.columns())), at);
  });
}

// A sum is made of sums over blocks of keys, one after the other.
void AttentionEmitter::addValues(Value m0, KeyRange strip, KeyRange keys) {
  Value row = b.CreateNSWSub(m0, mLow), low = b.CreateNSWSub(keys.low, strip.low),
        end = b.CreateNSWSub(keys.high, strip.low);
  panelLow = m0; // the tile's rows of probabilities lie first
  overPanels([&](Value panel) {
    Value n0 = b.CreateNSWMul(panel, e.i64(plan.columns()));
    if (plan.nSize > plan.columns())
      n0 = smaller(n0, e.i64(plan.nSize - plan.columns()));
    Value to = sumsAt(panel, row);
    if (plan.byTiles)
      return addByUnits(to, panelOfB(n0), low, end);
    Value from = e.openLoop(low, end, block, false);
    llvm::SmallVector<Value> parts = makeSums("part");
    llvm::for_each(parts, [&](Value part) { clear(part); });
    multiplyBlock({m0, n0, nullptr, nullptr}, from,
                  smaller(b.CreateNSWAdd(from, e.i64(block)), end), {}, parts);
    for (auto [i, part] : llvm::enumerate(parts)) {
      Value at = b.CreateConstGEP1_64(b.getFloatTy(), to, int64_t(i) * plan.lanes);
      store(b.CreateFAdd(load(vectorType(), at), b.CreateLoad(vectorType(), part)), at);
    }
    e.closeLoop();
  });
}

// Whole units: past the last key factors and values are zeros.
void AttentionEmitter::addByUnits(Value sums, Value panel, Value low, Value high) {
  int64_t rowBytes = int64_t(plan.columns()) * 4;
  llvm::Type *type = e.typeOf(kind, plan.columns());
  Value parts = alignedTemporary(plan.rows * rowBytes, "parts");
  multiplyUnits(probabilitiesOf(e.i64(0)), rowLength() * 2, panel, low, high);
  storeSums(parts, rowBytes);
  Value at = b.CreateNSWMul(e.openLoop(e.i64(0), e.i64(plan.rows), 1, false), e.i64(rowBytes));
  Value part = b.CreateAlignedLoad(type, bytesFrom(parts, at), llvm::Align(64));
  Value to = bytesFrom(sums, at);
  store(b.CreateFAdd(load(type, to), part), to);
  e.closeLoop();
}

void AttentionEmitter::emitTileOfQueries(Value m0, KeyRange strip, KeyRange keys) {
  // From the tile of scores on that has the first of them.
  Value before = b.CreateNSWSub(keys.low, strip.low);
  keys.low = b.CreateNSWAdd(strip.low,
                            b.CreateNSWMul(b.CreateUDiv(before, e.i64(columns)), e.i64(columns)));
  Value place = scoresOf(e.i64(0));
  Value start = e.openLoop(keys.low, keys.high, columns, false), n0 = start;
  if (attention.scores.nSize > columns)
    n0 = smaller(start, b.CreateNSWSub(strip.high, e.i64(columns)));
  scores.multiplyInto(m0, n0, floats(place, b.CreateNSWSub(n0, strip.low)), stride);
  e.closeLoop();

  Value rows = smaller(e.i64(plan.rows), b.CreateNSWSub(mHigh, m0));
  Value r = e.openLoop(e.i64(0), rows, 1, false), m = b.CreateNSWAdd(m0, r);
  bind(plan.m, m);
  emitRow(b.CreateNSWSub(m, mLow), r, strip, keys);
  e.closeLoop();
  addValues(m0, strip, keys);
}

//===--- A cell ---===//

void AttentionEmitter::begin() {
  llvm::Type *type = e.typeOf(kind, plan.columns());
  Value row = e.openLoop(e.i64(0), e.i64(attention.cellRows()), 1, false);
  store(number(-HUGE_VAL), largestAt(row));
  store(llvm::Constant::getNullValue(rowType()), totalAt(row));
  overPanels([&](Value panel) { store(llvm::Constant::getNullValue(type), sumsAt(panel, row)); });
  e.closeLoop();
}

void AttentionEmitter::overStrips(Value whole) {
  bool isLimited = !loops.limits.empty();
  KeyRange all{e.i64(0), e.i64(attention.scores.nSize)};
  KeyRange seen = keysOf(mLow, b.CreateNSWSub(mHigh, e.i64(1)), all, whole);
  Value first =
      b.CreateNSWMul(b.CreateUDiv(seen.low, e.i64(attention.strip)), e.i64(attention.strip));
  KeyRange strip;
  strip.low = e.openLoop(first, seen.high, attention.strip, isLimited);
  strip.high = smaller(b.CreateNSWAdd(strip.low, e.i64(attention.strip)), all.high);
  scores.packKeys(strip.low, strip.high);
  packValues(strip.low, strip.high);
  Value m0 = e.openLoop(mLow, mHigh, plan.rows, false);
  if (isLimited) {
    Value last = b.CreateNSWSub(smaller(b.CreateNSWAdd(m0, e.i64(plan.rows)), mHigh), e.i64(1));
    KeyRange keys = keysOf(m0, last, strip, whole);
    e.openIf(b.CreateICmpSLT(keys.low, keys.high));
    emitTileOfQueries(m0, strip, keys);
    e.closeLoop();
  } else {
    emitTileOfQueries(m0, strip, strip);
  }
  e.closeLoop();
  e.closeLoop();
}

// Whether a row of the cell has no score so far above `fill` that the others vanish beside.
Value AttentionEmitter::seesNothing() {
  Value found = e.temporary(b.getInt1Ty(), "blind");
  b.CreateStore(b.getFalse(), found);
  Value row = e.openLoop(e.i64(0), b.CreateNSWSub(mHigh, mLow), 1, false);
  constexpr double vanishes = 104; // exp(-104) is zero
  Value above = b.CreateFSub(load(b.getFloatTy(), largestAt(row)), number(loops.fill));
  Value isBlind = b.CreateFCmpULE(above, number(vanishes));
  b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt1Ty(), found), isBlind), found);
  e.closeLoop();
  return b.CreateLoad(b.getInt1Ty(), found);
}

void AttentionEmitter::finish() {
  Value m = e.openLoop(mLow, mHigh, 1, false), row = b.CreateNSWSub(m, mLow);
  bind(plan.m, m);
  Value largest = load(b.getFloatTy(), largestAt(row));
  e.levels.back().values[loops.largest] = largest;
  // What the program subtracts is mostly the largest score itself; all is right if it is not.
  Value scale = apply(Op::Exp, {b.CreateFSub(shiftOf(largest), e.emit(loops.shift))});
  Value total = folded(Op::Add, load(rowType(), totalAt(row)));
  e.levels.back().values[loops.sum] = b.CreateFMul(total, scale);
  Value normalizer = loops.normalizer ? e.emit(loops.normalizer) : nullptr;
  unsigned width = plan.columns();
  overTiles(e.i64(0), e.i64(plan.nSize), width, plan.nSize, [&](Value n0, Value skipN) {
    Value panel = b.CreateUDiv(b.CreateNSWAdd(n0, e.i64(width - 1)), e.i64(width));
    Value sums = load(e.typeOf(kind, width), sumsAt(panel, row));
    sums = b.CreateFMul(sums, e.splat(scale, width));
    Value by = normalizer ? e.splat(normalizer, width) : nullptr;
    if (by)
      sums = loops.isDivided ? b.CreateFDiv(sums, by) : b.CreateFMul(sums, by);
    finishRow(n0, function.kernel.sharesBuffers() ? skipN : nullptr, sums);
  });
  e.closeLoop();
}

// Keys that a mask hides have no part in a row that sees another. A row that sees none has equal
// scores, all of them `fill`: then the cell is computed once more, with all keys.
void AttentionEmitter::emitPoint() {
  scores.packQueries(mLow, mHigh);
  if (loops.limits.empty() || loops.fill == -HUGE_VAL) {
    begin();
    overStrips(nullptr);
    return finish();
  }
  Value again = e.temporary(b.getInt1Ty(), "again");
  b.CreateStore(b.getTrue(), again);
  Value round = e.openLoop(e.i64(0), e.i64(2), 1, false);
  e.openIf(b.CreateLoad(b.getInt1Ty(), again));
  begin();
  overStrips(b.CreateICmpNE(round, e.i64(0)));
  b.CreateStore(seesNothing(), again);
  e.closeLoop();
  e.closeLoop();
  finish();
}

bool emitAttention(KernelFunction &function, bool &known) {
  known = false;
  auto outputs = function.kernel.outputs();
  if (outputs.size() != 1)
    return true;
  NestGraph nest(function.kernel, {0u}, /*update=*/false);
  if (!nest.build())
    return false;
  std::string why;
  std::optional<AttentionLoops> loops = findAttention(nest, why);
  if (!loops)
    return true;
  known = true;
  AttentionPlan plan = planAttention(std::move(*loops), nest.g->graph, function.features);
  Emitter emitter = function.emitter(nest.g->graph);
  AttentionEmitter(function, nest, plan, emitter).emit();
  return true;
}

} // namespace tessera::codegen
