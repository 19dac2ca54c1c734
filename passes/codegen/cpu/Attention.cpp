// Attention by tiles (Dao et al. 2022, FlashAttention; Milakov and Gimelshein 2018, Online
// normalizer calculation for softmax). A cell has some queries of one head. Strips of keys, with
// their values, go past them:
//
//   for a strip: copy its keys and values into panels
//     for a block of queries:  x = function of query * key            a row of the strip for each
//                              m' = max(m, x), e = exp(x - m')        the rows stay in the scratch
//                              sums *= exp(m - m'), sums += e * value
//   results = sums / (sum of e)
//
// Scores are never in memory: what is there of them is a block's rows of one strip. Products go panel by
// panel of keys or values, which stays in the first-level cache for all tiles of the block. A causal mask or a
// window leaves out keys that no row of a tile can see.
#include "passes/codegen/cpu/Attention.h"
#include "passes/codegen/cpu/Accumulators.h"
#include "passes/codegen/cpu/AttentionStrips.h"
#include "passes/codegen/cpu/ExponentialsOfBf16.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

// Whether a function of `known` reads an array as well.
bool readsBeside(Node *function, Node *known) {
  llvm::SmallVector<Node *> work{function};
  llvm::DenseSet<Node *> seen{known};
  while (!work.empty()) {
    Node *node = work.pop_back_val();
    if (!seen.insert(node).second)
      continue;
    if (node->op == Op::Load)
      return true;
    llvm::append_range(work, node->operands);
  }
  return false;
}

// The product of probabilities and values, and what is around it.
class AttentionEmitter final : public StripSums {
public:
  AttentionEmitter(KernelFunction &function, JointNests &nests, const AttentionPlan &attention,
                   Emitter &emitter)
      : StripSums(function, *nests.nests.front(), attention.values, emitter), attention(attention),
        loops(attention.loops), nests(nests),
        scores(function, *nests.nests.front(), attention.scores, emitter),
        exponential(asExponentialOfBf16(graph, attention.loops.exponential)),
        columns(attention.scores.columns()), stride(attention.strip + 16),
        isOfOthers(readsBeside(loops.shift, loops.largest)) {
    e.live = Graph::reachable(nests.rootNodes());
  }

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
  KeyRange keysOf(Value firstRow, Value lastRow, KeyRange strip, Value whole);
  bool isLimited() const { return !loops.limits.each.empty(); }
  void emitBlockOfQueries(KeyRange strip, Value whole);
  void emitScores(const BlockTiles &tiles, KeyRange strip, KeyRange seen);
  void emitRows(Value first, Value end, KeyRange strip, KeyRange keys);
  void emitRow(Value m, Value before, KeyRange strip, KeyRange keys);
  Value largestOfRow(Value scoresOfRow, KeyRange strip, KeyRange keys);
  Value exponentialsOfRow(Value r, KeyRange strip, KeyRange keys);
  void countTies(Value row, Value r, Value before, Value largest, KeyRange strip, KeyRange keys);
  void addValues(const BlockTiles &tiles, KeyRange strip, KeyRange seen);
  Value largestWithHidden(Value row, Value m);
  Value seesNothing();
  void finish();

  Value number(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  Value apply(Op op, llvm::ArrayRef<Value> operands) {
    return e.arithmetic(op, ElementKind::F32, operands);
  }
  Value folded(Op op, ElementKind kind, Value vector); // by halves
  llvm::Type *rowType() { return e.typeOf(kind, columns); }
  // Of a row of the cell: its largest score, what was added up of it, how often it has the largest.
  Value largestAt(Value row) { return floats(bytesOf(scratchLargest), row); }
  Value totalAt(Value row) {
    return floats(bytesOf(scratchTotal), b.CreateNSWMul(row, e.i64(columns)));
  }
  Value tiesAt(Value row) {
    return floats(bytesOf(scratchTies), b.CreateNSWMul(row, e.i64(columns)));
  }
  // What is subtracted from the scores of a row until its largest is known.
  Value shiftOf(Value largest) {
    Value none = b.CreateFCmpOEQ(largest, number(-HUGE_VAL));
    return b.CreateSelect(none, number(0), largest);
  }
  // By vectors of a row, those past the strip masked; `key` counts from its first on.
  void overKeys(KeyRange strip, KeyRange keys,
                llvm::function_ref<void(Value key, Value mask)> body);
  // Of a block's row: its scores, which become its probabilities where these are not of bf16.
  Value scoresOf(Value r) {
    int64_t at = plan.hasPairs() ? scratchScores : scratchA;
    return floats(bytesOf(at), b.CreateNSWMul(r, e.i64(stride)));
  }

  const AttentionPlan &attention;
  const AttentionLoops &loops;
  const JointNests &nests;
  StripProduct scores;
  Node *exponential;         // as it is emitted
  unsigned columns;          // of scores that are computed at a time
  int64_t stride;            // between rows of probabilities
  bool isOfOthers;           // what is subtracted from scores is of more than the largest of them
  Value blockLow, blockHigh; // queries
  int64_t scratchScores = 0, scratchLargest = 0, scratchTotal = 0, scratchTies = 0;
};

} // namespace

void AttentionEmitter::reserveScratch() {
  scores.reserve(attention.cellRows(), attention.strip);
  int64_t rows = attention.cellRows(), bytes = byteSize(kind);
  int64_t scoreBytes = (attention.block * stride + columns) * bytes;
  if (plan.hasPairs())
    scratchScores = function.reserveScratch(scoreBytes);
  int64_t factorBytes = (attention.block * factorLength() + columns) * 2;
  scratchA = function.reserveScratch(plan.hasPairs() ? factorBytes : scoreBytes);
  scratchLargest = function.reserveScratch(rows * bytes);
  scratchTotal = function.reserveScratch(rows * columns * bytes);
  if (loops.ties)
    scratchTies = function.reserveScratch(rows * columns * bytes);
  reserveSums(rows);
}

Value AttentionEmitter::folded(Op op, ElementKind kind, Value vector) {
  unsigned lanes = columns;
  while (lanes > 1) {
    lanes /= 2;
    llvm::SmallVector<int> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + lanes));
    }
    vector = e.arithmetic(
        op, kind, {b.CreateShuffleVector(vector, low), b.CreateShuffleVector(vector, high)});
  }
  return b.CreateExtractElement(vector, uint64_t(0));
}

//===--- Keys ---===//

// Those of a strip that rows [firstRow, lastRow] can see.
KeyRange AttentionEmitter::keysOf(Value firstRow, Value lastRow, KeyRange strip, Value whole) {
  return keysWithin(e, loops.limits, plan.m, attention.scores.n, firstRow, lastRow, strip, whole);
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

//===--- A block of queries ---===//

// The largest score so far of the row that m is bound to; the row's scores become what the program
// makes of the products.
Value AttentionEmitter::largestOfRow(Value scoresOfRow, KeyRange strip, KeyRange keys) {
  Value least = llvm::ConstantFP::get(rowType(), -HUGE_VAL);
  llvm::Type *keyType = e.typeOf(ElementKind::I32, columns);
  Value slot = e.temporary(keyType, "largest");
  b.CreateStore(extremumKey(b, Op::Max, least), slot);
  overKeys(strip, keys, [&](Value key, Value mask) {
    Value place = floats(scoresOfRow, key);
    e.levels.back().values[attention.scores.product] = load(rowType(), place);
    Value x = e.emit(loops.score);
    if (mask)
      x = b.CreateSelect(mask, x, least);
    store(x, place);
    b.CreateStore(e.arithmetic(Op::Max, ElementKind::I32,
                               {b.CreateLoad(keyType, slot), extremumKey(b, Op::Max, x)}),
                  slot);
  });
  return extremumOf(b, Op::Max, folded(Op::Max, ElementKind::I32, b.CreateLoad(keyType, slot)));
}

// The row's scores become what its values are multiplied by; returns what is added up of it.
Value AttentionEmitter::exponentialsOfRow(Value r, KeyRange strip, KeyRange keys) {
  Value slot = e.temporary(rowType(), "total");
  Value scoresOfRow = scoresOf(r), probabilities = plan.hasPairs() ? factorsOf(r) : scoresOfRow;
  b.CreateStore(llvm::Constant::getNullValue(rowType()), slot);
  overKeys(strip, keys, [&](Value key, Value) {
    e.levels.back().values[loops.score] = load(rowType(), floats(scoresOfRow, key));
    Value found = e.emit(exponential);
    for (Node *node : {loops.exponential, loops.quotient})
      if (node)
        e.levels.back().values[node] = found;
    Value factor = e.splat(e.emit(loops.values.a), columns);
    if (plan.hasPairs())
      storeFactors(factor, probabilities, key);
    else
      store(factor, floats(scoresOfRow, key));
    b.CreateStore(b.CreateFAdd(b.CreateLoad(rowType(), slot), found), slot);
  });
  return b.CreateLoad(rowType(), slot);
}

// Of the scores so far; from the beginning where one is larger than those before.
void AttentionEmitter::countTies(Value row, Value r, Value before, Value largest, KeyRange strip,
                                 KeyRange keys) {
  Value zeros = llvm::Constant::getNullValue(rowType());
  Value ones = llvm::ConstantFP::get(rowType(), 1);
  Value stays = b.CreateFCmpOEQ(before, largest);
  store(b.CreateSelect(stays, load(rowType(), tiesAt(row)), zeros), tiesAt(row));
  Value scoresOfRow = scoresOf(r);
  overKeys(strip, keys, [&](Value key, Value mask) {
    Value x = load(rowType(), floats(scoresOfRow, key));
    Value isOne = b.CreateFCmpOEQ(x, e.splat(largest, columns));
    if (mask)
      isOne = b.CreateAnd(isOne, mask);
    Value more = b.CreateSelect(isOne, ones, zeros);
    store(b.CreateFAdd(load(rowType(), tiesAt(row)), more), tiesAt(row));
  });
}

// The largest scores of some rows are known before exponentials are computed: the processor finds one row's
// while it folds that of the row before.
void AttentionEmitter::emitRows(Value first, Value end, KeyRange strip, KeyRange keys) {
  constexpr int64_t most = 8; // rows that stay in the first-level cache
  if (plan.rows > most) {
    first = e.openLoop(first, end, most, false);
    end = smaller(b.CreateNSWAdd(first, e.i64(most)), end);
  }
  Value places = e.temporary(llvm::ArrayType::get(b.getFloatTy(), most), "before");
  auto overRows = [&](llvm::function_ref<void(Value m, Value before)> body) {
    Value m = e.openLoop(first, end, 1, false);
    bind(plan.m, m);
    body(m, floats(places, b.CreateNSWSub(m, first)));
    e.closeLoop();
  };
  overRows([&](Value m, Value before) {
    Value row = b.CreateNSWSub(m, mLow), old = load(b.getFloatTy(), largestAt(row));
    Value found = largestOfRow(scoresOf(b.CreateNSWSub(m, blockLow)), strip, keys);
    store(old, before);
    store(apply(Op::Max, {old, found}), largestAt(row));
  });
  overRows([&](Value m, Value before) { emitRow(m, load(b.getFloatTy(), before), strip, keys); });
  if (plan.rows > most)
    e.closeLoop();
}

// `before`: its largest score of the strips before.
void AttentionEmitter::emitRow(Value m, Value before, KeyRange strip, KeyRange keys) {
  Value row = b.CreateNSWSub(m, mLow), r = b.CreateNSWSub(m, blockLow);
  Value largest = load(b.getFloatTy(), largestAt(row)), shift = shiftOf(largest);
  e.levels.back().values[loops.shift] = shift;
  if (loops.ties)
    countTies(row, r, before, largest, strip, keys);
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

void AttentionEmitter::emitScores(const BlockTiles &tiles, KeyRange strip, KeyRange seen) {
  Value start = e.openLoop(seen.low, seen.high, columns, false), n0 = start;
  if (attention.scores.nSize > columns)
    n0 = smaller(start, b.CreateNSWSub(strip.high, e.i64(columns)));
  tiles.forEachAt(start, [&](Value m0) {
    Value place = floats(scoresOf(b.CreateNSWSub(m0, blockLow)), b.CreateNSWSub(n0, strip.low));
    scores.multiplyInto(m0, n0, place, stride);
  });
  e.closeLoop();
}

void AttentionEmitter::addValues(const BlockTiles &tiles, KeyRange strip, KeyRange seen) {
  panelLow = blockLow; // the block's rows of probabilities lie first
  addProducts(within(strip, seen, b), [&](llvm::function_ref<void(FactorTile)> body) {
    tiles.forEach([&](Value m0, Value, KeyRange keys) {
      body({m0, b.CreateNSWSub(m0, mLow), within(strip, keys, b)});
    });
  });
}

void AttentionEmitter::emitBlockOfQueries(KeyRange strip, Value whole) {
  BlockTiles tiles(e, blockLow, blockHigh, plan.rows);
  KeyRange seen = strip;
  // From the tile of scores on that has the first of them.
  auto keysFrom = [&](Value first, Value last) {
    KeyRange keys = keysOf(first, last, strip, whole);
    Value before = b.CreateUDiv(b.CreateNSWSub(keys.low, strip.low), e.i64(columns));
    keys.low = b.CreateNSWAdd(strip.low, b.CreateNSWMul(before, e.i64(columns)));
    return keys;
  };
  if (isLimited()) {
    seen = keysFrom(blockLow, b.CreateNSWSub(blockHigh, e.i64(1)));
    e.openIf(b.CreateICmpSLT(seen.low, seen.high));
    tiles.limit(attention.block, keysFrom);
  }
  emitScores(tiles, strip, seen);
  tiles.forEach([&](Value first, Value end, KeyRange keys) {
    emitRows(first, end, strip, keys.low ? keys : strip);
  });
  addValues(tiles, strip, seen);
  if (isLimited())
    e.closeLoop();
}

//===--- A cell ---===//

void AttentionEmitter::begin() {
  Value row = e.openLoop(e.i64(0), e.i64(attention.cellRows()), 1, false);
  store(number(-HUGE_VAL), largestAt(row));
  store(llvm::Constant::getNullValue(rowType()), totalAt(row));
  if (loops.ties)
    store(llvm::Constant::getNullValue(rowType()), tiesAt(row));
  clearSums(row);
  e.closeLoop();
}

void AttentionEmitter::overStrips(Value whole) {
  KeyRange all{e.i64(0), e.i64(attention.scores.nSize)};
  KeyRange seen = keysOf(mLow, b.CreateNSWSub(mHigh, e.i64(1)), all, whole);
  Value first =
      b.CreateNSWMul(b.CreateUDiv(seen.low, e.i64(attention.strip)), e.i64(attention.strip));
  KeyRange strip;
  strip.low = e.openLoop(first, seen.high, attention.strip, isLimited());
  strip.high = smaller(b.CreateNSWAdd(strip.low, e.i64(attention.strip)), all.high);
  scores.packKeys(strip.low, strip.high);
  packValues(strip.low, strip.high);
  blockLow = e.openLoop(mLow, mHigh, attention.block, false);
  blockHigh = smaller(b.CreateNSWAdd(blockLow, e.i64(attention.block)), mHigh);
  emitBlockOfQueries(strip, whole);
  e.closeLoop();
  e.closeLoop();
}

// The largest score of a row, of which that of keys beyond its limits is `fill`.
Value AttentionEmitter::largestWithHidden(Value row, Value m) {
  KeyRange all{e.i64(0), e.i64(attention.scores.nSize)}, seen = keysOf(m, m, all, nullptr);
  Value hides =
      b.CreateOr(b.CreateICmpSGT(seen.low, all.low), b.CreateICmpSLT(seen.high, all.high));
  Value largest = load(b.getFloatTy(), largestAt(row));
  Value withFill = apply(Op::Max, {largest, number(loops.limits.fill)});
  return b.CreateSelect(hides, withFill, largest);
}

// Whether a row of the cell has no score so far above `fill` that the others vanish beside. Where what is
// subtracted is of other keys, too, as in a ring of devices, all of the row may vanish.
Value AttentionEmitter::seesNothing() {
  Value found = e.temporary(b.getInt1Ty(), "blind");
  b.CreateStore(b.getFalse(), found);
  Value row = e.openLoop(e.i64(0), b.CreateNSWSub(mHigh, mLow), 1, false);
  Value shift = load(b.getFloatTy(), largestAt(row));
  if (isOfOthers && !loops.ties) {
    Value m = b.CreateNSWAdd(mLow, row);
    Value largest = largestWithHidden(row, m);
    store(largest, largestAt(row));
    bind(plan.m, m);
    e.levels.back().values[loops.largest] = largest;
    shift = e.emit(loops.shift);
  }
  Value isBlind = codegen::seesNothing(e, loops.limits, shift);
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
  Value total = folded(Op::Add, kind, load(rowType(), totalAt(row)));
  if (loops.sum)
    e.levels.back().values[loops.sum] = b.CreateFMul(total, scale);
  if (loops.ties)
    e.levels.back().values[loops.ties] = folded(Op::Add, kind, load(rowType(), tiesAt(row)));
  Value normalizer = loops.normalizer ? e.emit(loops.normalizer) : nullptr;
  for (const auto &further : llvm::drop_begin(nests.nests))
    for (const Root &root : further->roots)
      e.store(function.outputBuffer(root.output), root.kind, root.offset, e.emit(root.value.re));
  finishSums(row, [&](Value sums) {
    unsigned width = plan.columns();
    sums = b.CreateFMul(sums, e.splat(scale, width));
    Value by = normalizer ? e.splat(normalizer, width) : nullptr;
    if (by)
      sums = loops.isDivided ? b.CreateFDiv(sums, by) : b.CreateFMul(sums, by);
    return sums;
  });
  e.closeLoop();
}

// Keys that a mask hides have no part in a row that sees another. A row that sees none has equal
// scores, all of them `fill`: then the cell is computed once more, with all keys.
void AttentionEmitter::emitPoint() {
  scores.packQueries(mLow, mHigh);
  if (loops.limits.each.empty() || loops.limits.fill == -HUGE_VAL) {
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
  JointNests nests(function.kernel);
  if (!nests.build())
    return false;
  std::string why;
  std::optional<AttentionLoops> loops = findAttention(nests, why);
  if (!loops)
    return true;
  known = true;
  AttentionPlan plan = planAttention(std::move(*loops), nests.graph(), function.features);
  Emitter emitter = function.emitter(nests.graph());
  AttentionEmitter(function, nests, plan, emitter).emit();
  return true;
}

} // namespace tessera::codegen
