// Attention: a block has some queries, and keys go past them.
//
//   x = function of query * key, m' = max(m, x), e = exp(x - m')     a thread's elements of a tile
//   sums *= exp(m - m'), sums += e * value
//   results = sums / (sum of e)
//
// What is known of a row is the same in all lanes that have it, but for what each of them has added up.
// A causal mask or a window leaves out tiles of keys that no row of a block can see.
#include "passes/codegen/cpu/KeyRange.h"
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/gpu/FlashKernel.h"
#include "passes/codegen/gpu/Items.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

class FlashForward final : public FlashTiles {
public:
  FlashForward(EntryFunction &function, Emitter &e, TileMultiplier &multiplier,
               const FlashPlan &plan, const FlashSpace &space, const AttentionLoops &loops,
               const JointNests &nests)
      : FlashTiles(function, e, multiplier, plan, space), loops(loops), nests(nests) {}

  void emitBlock(Value known, Value first, const FlashColumns &columnsOfBlock);

  // What is known of each row, in shared memory.
  enum Known { Largest, Total, Ties, Scale, Normalizer, KnownOfRow };

private:
  std::vector<llvm::SmallVector<Value>> factorsOf(Value keys) override;
  Value finished(Value row, Value sum) override;
  void start();
  void overKeys(Value whole);
  Value isBlind();
  void finishRows(bool storesFurther);

  Value knownAt(Known what, Value row) {
    Value at = b.CreateNSWAdd(row, e.i64(what * TileMultiplier::rowsOfTile));
    return b.CreateInBoundsGEP(b.getFloatTy(), knownOfRows, at);
  }
  Value load(Value from) { return b.CreateLoad(b.getFloatTy(), from); }
  Value number(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  Value apply(Op op, llvm::ArrayRef<Value> operands) {
    return e.arithmetic(op, ElementKind::F32, operands);
  }
  // What is subtracted from the scores of a row until its largest is known.
  Value shiftOf(Value most) {
    return b.CreateSelect(b.CreateFCmpOEQ(most, number(-HUGE_VAL)), number(0), most);
  }
  void setKnown(Value row);

  const AttentionLoops &loops;
  const JointNests &nests;
  Value knownOfRows = nullptr;
  llvm::SmallVector<Value> largest, totals, ties; // slots, by row
};

} // namespace

void FlashForward::start() {
  clearSums();
  for (size_t i = 0; i < rows.size(); ++i) {
    b.CreateStore(number(-HUGE_VAL), largest[i]);
    b.CreateStore(zero(), totals[i]);
    b.CreateStore(zero(), ties[i]);
  }
}

std::vector<llvm::SmallVector<Value>> FlashForward::factorsOf(Value keys) {
  llvm::SmallVector<Value> factors;
  for (size_t i = 0; i < rows.size(); ++i) {
    llvm::SmallVector<Value> scores;
    Value before = load(largest[i]), most = number(-HUGE_VAL);
    e.openBlock();
    bind(own, ownRow(i));
    auto overColumns = [&](llvm::function_ref<void(size_t j, Value exists)> body) {
      for (size_t j = 0; j < columns.size(); ++j) {
        Value key = b.CreateNSWAdd(keys, columns[j]), exists = existing(other, key);
        e.openBlock();
        bind(other, key);
        body(j, exists);
        e.closeBlock();
      }
    };
    overColumns([&](size_t j, Value exists) {
      e.levels.back().values[loops.scores.product] = product(0, i * columns.size() + j);
      Value x = e.emit(loops.score);
      scores.push_back(exists ? b.CreateSelect(exists, x, number(-HUGE_VAL)) : x);
      most = apply(Op::Max, {most, scores.back()});
    });
    most = overLanesOfRow(most, [&](Value x, Value y) { return apply(Op::Max, {x, y}); });
    most = apply(Op::Max, {before, most});
    b.CreateStore(most, largest[i]);
    Value shift = shiftOf(most), total = zero(), equal = zero();
    e.levels.back().values[loops.shift] = shift;
    overColumns([&](size_t j, Value exists) {
      if (loops.ties) {
        Value isOne = b.CreateFCmpOEQ(scores[j], most);
        if (exists)
          isOne = b.CreateAnd(isOne, exists);
        equal = b.CreateFAdd(equal, b.CreateSelect(isOne, number(1), zero()));
      }
      e.levels.back().values[loops.score] = scores[j];
      Value exponential = e.emit(loops.exponential);
      if (loops.quotient)
        e.levels.back().values[loops.quotient] = exponential;
      factors.push_back(e.emit(loops.values.a));
      total = b.CreateFAdd(total, exponential);
    });
    Value scale = apply(Op::Exp, {b.CreateFSub(before, shift)});
    b.CreateStore(b.CreateFAdd(b.CreateFMul(load(totals[i]), scale), total), totals[i]);
    if (loops.ties) { // from the beginning where one is larger than those before
      Value stays = b.CreateFCmpOEQ(before, most);
      b.CreateStore(b.CreateFAdd(b.CreateSelect(stays, load(ties[i]), zero()), equal), ties[i]);
    }
    multiplySums(i, scale);
    e.closeBlock();
  }
  return {factors};
}

void FlashForward::overKeys(Value whole) {
  KeyRange all{e.i64(0), e.i64(other.size)}, seen = all;
  if (!loops.limits.each.empty()) {
    Value end = b.CreateNSWAdd(ownFirst, e.i64(TileMultiplier::rowsOfTile - 1));
    Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, e.i64(own.size - 1));
    seen = keysWithin(e, loops.limits, own.group, other.group, ownFirst, last, all, whole);
    seen.low = b.CreateAnd(seen.low, e.i64(-plan.other));
  }
  sweep(seen.low, seen.high);
}

// Whether a row has no score so far above what is filled in that the others vanish beside.
Value FlashForward::isBlind() {
  Value any = b.getFalse();
  for (Value slot : largest)
    any = b.CreateOr(any, seesNothing(e, loops.limits, load(slot)));
  Value all = overBlock(b.CreateZExt(any, b.getInt32Ty()),
                        [&](Value x, Value y) { return b.CreateOr(x, y); });
  return b.CreateICmpNE(all, b.getInt32(0));
}

// In a level in which the row is bound.
void FlashForward::setKnown(Value row) {
  auto &values = e.levels.back().values;
  values[loops.largest] = load(knownAt(Largest, row));
  if (loops.sum)
    values[loops.sum] = load(knownAt(Total, row));
  if (loops.ties)
    values[loops.ties] = load(knownAt(Ties, row));
}

void FlashForward::finishRows(bool storesFurther) {
  auto add = [&](Value x, Value y) { return b.CreateFAdd(x, y); };
  Value isFirst =
      b.CreateICmpEQ(b.CreateAnd(function.thread, e.i64(multiplier.lanesOfRow() - 1)), e.i64(0));
  for (size_t i = 0; i < rows.size(); ++i) {
    Value total = overLanesOfRow(load(totals[i]), add), equal = load(ties[i]);
    if (loops.ties)
      equal = overLanesOfRow(equal, add);
    e.openIf(isFirst);
    b.CreateStore(load(largest[i]), knownAt(Largest, rows[i]));
    b.CreateStore(total, knownAt(Total, rows[i]));
    b.CreateStore(equal, knownAt(Ties, rows[i]));
    e.closeLoop();
  }
  barrier(b);
  e.openIf(b.CreateICmpSLT(function.thread, e.i64(TileMultiplier::rowsOfTile)));
  Value row = function.thread, m = b.CreateNSWAdd(ownFirst, row), exists = existing(own, m);
  e.openBlock();
  bind(own, m);
  Value most = load(knownAt(Largest, row));
  e.levels.back().values[loops.largest] = most;
  // What the program subtracts is mostly the largest score itself; all is right if it is not.
  Value scale = apply(Op::Exp, {b.CreateFSub(shiftOf(most), e.emit(loops.shift))});
  b.CreateStore(scale, knownAt(Scale, row));
  b.CreateStore(b.CreateFMul(load(knownAt(Total, row)), scale), knownAt(Total, row));
  setKnown(row);
  if (loops.normalizer)
    b.CreateStore(e.emit(loops.normalizer), knownAt(Normalizer, row));
  if (storesFurther && nests.nests.size() > 1) {
    e.openIf(exists ? exists : b.getTrue());
    for (const auto &further : llvm::drop_begin(nests.nests))
      for (const Root &root : further->roots)
        e.store(function.outputBuffer(root.output), root.kind, root.offset, e.emit(root.value.re));
    e.closeLoop();
  }
  e.closeBlock();
  e.closeLoop();
}

Value FlashForward::finished(Value row, Value sum) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(sum->getType());
  unsigned lanes = vector ? vector->getNumElements() : 1;
  setKnown(row);
  sum = b.CreateFMul(sum, e.splat(load(knownAt(Scale, row)), lanes));
  if (!loops.normalizer)
    return sum;
  Value by = e.splat(load(knownAt(Normalizer, row)), lanes);
  return loops.isDivided ? b.CreateFDiv(sum, by) : b.CreateFMul(sum, by);
}

// Keys that a mask hides have no part in a row that sees another. A row that sees none has equal
// scores, all of them what is filled in: then the block is computed once more, with all keys.
void FlashForward::emitBlock(Value known, Value first, const FlashColumns &ofBlock) {
  own = {loops.values.m, loops.values.mSize};
  other = {loops.scores.n, loops.scores.nSize};
  knownOfRows = known;
  products = {{loops.scores.a, loops.scores.b, loops.scores.k, loops.scores.kSize}};
  results = {resultOf(loops.values, nests.nests.front()->roots, 0, ofBlock)};
  begin(first);
  for (auto *slots : {&largest, &totals, &ties})
    for (size_t i = 0; i < rows.size(); ++i)
      slots->push_back(e.temporary(b.getFloatTy(), "ofRow"));
  if (loops.limits.each.empty() || loops.limits.fill == -HUGE_VAL) {
    start();
    overKeys(nullptr);
  } else {
    Value again = e.temporary(b.getInt1Ty(), "again");
    b.CreateStore(b.getTrue(), again);
    Value round = e.openLoop(e.i64(0), e.i64(2), 1, false);
    e.openIf(b.CreateLoad(b.getInt1Ty(), again));
    start();
    overKeys(b.CreateICmpNE(round, e.i64(0)));
    b.CreateStore(isBlind(), again);
    e.closeLoop();
    e.closeLoop();
  }
  finishRows(ofBlock.first == 0);
  storeResults();
}

//===--- The kernel ---===//

void emitFlashForward(EntryFunction &function, const AttentionLoops &loops,
                      const JointNests &nests) {
  Emitter e = function.emitter(nests.graph());
  e.live = Graph::reachable(nests.rootNodes());
  auto multiplier = flashMultiplier(e, {&loops.scores, &loops.values}, /*across=*/1);
  function.launch.threads = multiplier->threads();
  Value known = function.takeShared(
      llvm::ArrayType::get(e.b.getFloatTy(), FlashForward::KnownOfRow * TileMultiplier::rowsOfTile),
      "_known");
  FlashSpace space = takeVotes(function, *multiplier);
  std::vector<std::pair<FlashColumns, FlashPlan>> parts;
  for (const auto &group : groupColumns({loops.values.nSize}, multiplier->leastColumns()))
    for (const FlashColumns &columns : group) {
      FlashSizes sizes{{loops.scores.kSize}, {columns.columns}, 1, 0};
      sizes.nodes = int64_t(nodesAround({loops.values.a, loops.score}).size());
      parts.push_back({columns, planFlash(sizes, memoryOf(*multiplier), space.bytesLeft)});
      space.bytes = std::max(space.bytes, bytesOf(parts.back().second, *multiplier));
    }
  takeTiles(function, space);
  int64_t tiles = llvm::divideCeil(loops.values.mSize, TileMultiplier::rowsOfTile);
  for (const auto &[columns, plan] : parts)
    function.addBlocks(tiles * loops.values.outerCount, [&](Value number, llvm::Instruction *end) {
      e.openBody(end);
      Value first =
          e.b.CreateNSWMul(takeDigit(e, number, tiles), e.i64(TileMultiplier::rowsOfTile));
      openItem(e, loops.values.outer, number, 1);
      FlashForward(function, e, *multiplier, plan, space, loops, nests)
          .emitBlock(known, first, columns);
      closeItem(e);
    });
}

} // namespace tessera::codegen::gpu
