// The gradient of attention: what is of keys is computed by blocks of keys that queries go past, what is
// of queries by blocks of queries that keys go past. Each sum belongs to one block, so that nothing is
// added by atomics, and bits are the same from run to run; products are computed once more for that.
#include "passes/codegen/cpu/KeyRange.h"
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/gpu/FlashKernel.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

// What blocks of one side have: columns of results, and what is needed for them.
struct GradientPart {
  bool isOfRows = false;
  llvm::SmallVector<std::pair<size_t, FlashColumns>> results; // by number of loops.results
  llvm::SmallVector<Node *> factors;
  llvm::SmallVector<const ContractionLoops *> products;
  FlashPlan plan;
};

class FlashGradient final : public FlashTiles {
public:
  FlashGradient(EntryFunction &function, Emitter &e, TileMultiplier &multiplier,
                const FlashSpace &space, const GradientPart &part, const GradientLoops &loops,
                const JointNests &nests)
      : FlashTiles(function, e, multiplier, part.plan, space), part(part), loops(loops),
        nests(nests) {}

  void emitBlock(Value first);

private:
  std::vector<llvm::SmallVector<Value>> factorsOf(Value tile) override;
  void setUp();
  KeyRange seen();
  KeyRange keysSeen();
  KeyRange queriesSeen();
  Value lastOf(const FlashSide &side, Value first, int64_t count) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(first, e.i64(count - 1)),
                                   e.i64(side.size - 1));
  }
  bool isLimited() const { return !loops.limits.each.empty(); }

  const GradientPart &part;
  const GradientLoops &loops;
  const JointNests &nests;
};

} // namespace

std::vector<llvm::SmallVector<Value>> FlashGradient::factorsOf(Value tile) {
  std::vector<llvm::SmallVector<Value>> factors(part.factors.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    e.openBlock();
    bind(own, ownRow(i));
    for (size_t j = 0; j < columns.size(); ++j) {
      Value at = b.CreateNSWAdd(tile, columns[j]), exists = existing(other, at);
      e.openBlock();
      bind(other, at);
      for (auto [number, loopsOf] : llvm::enumerate(part.products))
        e.levels.back().values[loopsOf->product] = product(number, i * columns.size() + j);
      for (auto [number, factor] : llvm::enumerate(part.factors)) {
        Value value = e.emit(factor);
        factors[number].push_back(exists ? b.CreateSelect(exists, value, zero()) : value);
      }
      e.closeBlock();
    }
    e.closeBlock();
  }
  return factors;
}

//===--- What a block goes past ---===//

// Keys that the block's queries see: all where one of them sees none.
KeyRange FlashGradient::keysSeen() {
  KeyRange all{e.i64(0), e.i64(other.size)};
  e.openBlock();
  Value row = b.CreateAnd(function.thread, e.i64(TileMultiplier::rowsOfTile - 1));
  bind(own, b.CreateNSWAdd(ownFirst, row));
  Value blind = b.CreateZExt(seesNothing(e, loops.limits, e.emit(loops.shift)), b.getInt32Ty());
  e.closeBlock();
  Value any = overBlock(blind, [&](Value x, Value y) { return b.CreateOr(x, y); });
  Value last = lastOf(own, ownFirst, TileMultiplier::rowsOfTile);
  KeyRange keys = keysWithin(e, loops.limits, own.group, other.group, ownFirst, last, all,
                             b.CreateICmpNE(any, b.getInt32(0)));
  return {b.CreateAnd(keys.low, e.i64(-plan.other)), keys.high};
}

// From the first tile of queries to the last that see one of the block's keys, or none at all. Each
// thread looks at some of them.
KeyRange FlashGradient::queriesSeen() {
  KeyRange all{e.i64(0), e.i64(own.size)};
  Value low = e.temporary(b.getInt32Ty(), "low"), high = e.temporary(b.getInt32Ty(), "high");
  b.CreateStore(b.getInt32(INT32_MAX), low);
  b.CreateStore(b.getInt32(0), high);
  int64_t tiles = llvm::divideCeil(other.size, plan.other);
  Value tile = e.openLoop(function.thread, e.i64(tiles), multiplier.threads(), true);
  Value first = b.CreateNSWMul(tile, e.i64(plan.other)), last = lastOf(other, first, plan.other);
  KeyRange keys = keysWithin(e, loops.limits, other.group, own.group, first, last, all, nullptr);
  Value ownEnd = b.CreateNSWAdd(ownFirst, e.i64(TileMultiplier::rowsOfTile));
  Value sees = e.temporary(b.getInt1Ty(), "sees");
  b.CreateStore(b.CreateAnd(b.CreateICmpSLT(keys.low, keys.high),
                            b.CreateAnd(b.CreateICmpSLT(keys.low, ownEnd),
                                        b.CreateICmpSGT(keys.high, ownFirst))),
                sees);
  Value row = e.openLoop(first, b.CreateNSWAdd(last, e.i64(1)), 1, false);
  e.bindLevel(other.group.back(), setOf(other.group), row, 1, nullptr);
  Value blind = seesNothing(e, loops.limits, e.emit(loops.shift));
  b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt1Ty(), sees), blind), sees);
  e.closeLoop();
  Value is = b.CreateLoad(b.getInt1Ty(), sees), number = b.CreateTrunc(tile, b.getInt32Ty());
  auto widen = [&](Value slot, llvm::Intrinsic::ID id, Value by) {
    Value before = b.CreateLoad(b.getInt32Ty(), slot);
    b.CreateStore(b.CreateSelect(is, b.CreateBinaryIntrinsic(id, before, by), before), slot);
  };
  widen(low, llvm::Intrinsic::smin, number);
  widen(high, llvm::Intrinsic::smax, b.CreateAdd(number, b.getInt32(1)));
  e.closeLoop();
  auto all32 = [&](Value slot, llvm::Intrinsic::ID id) {
    Value value = overBlock(b.CreateLoad(b.getInt32Ty(), slot),
                            [&](Value x, Value y) { return b.CreateBinaryIntrinsic(id, x, y); });
    return b.CreateNSWMul(b.CreateZExt(value, b.getInt64Ty()), e.i64(plan.other));
  };
  return {all32(low, llvm::Intrinsic::smin), all32(high, llvm::Intrinsic::smax)};
}

KeyRange FlashGradient::seen() {
  if (isLimited())
    return part.isOfRows ? keysSeen() : queriesSeen();
  return {e.i64(0), e.i64(other.size)};
}

//===--- A block ---===//

void FlashGradient::setUp() {
  own = {loops.rows, loops.rowCount};
  other = {loops.columns, loops.columnCount};
  if (!part.isOfRows)
    std::swap(own, other);
  for (const ContractionLoops *product : part.products) {
    products.push_back({product->a, product->b, product->k, product->kSize});
    if (!part.isOfRows)
      std::swap(products.back().own, products.back().other);
  }
  for (auto [number, columnsOf] : part.results) {
    const GradientLoops::Result &result = loops.results[number];
    size_t factor = llvm::find(part.factors, loops.factors[result.factor]) - part.factors.begin();
    results.push_back(resultOf(result.loops, nests.nests[result.nest]->roots, factor, columnsOf));
  }
}

void FlashGradient::emitBlock(Value first) {
  setUp();
  begin(first);
  clearSums();
  if (part.isOfRows) {
    KeyRange keys = seen();
    sweep(keys.low, keys.high);
  } else {
    // Queries that share these keys, one group after the other.
    for (const LoopGroup &group : loops.around) {
      Value variable = e.openLoop(e.i64(0), e.i64(boundsOf(e.graph, group).second), 1, false);
      e.bindLevel(group.back(), setOf(group), variable, 1, nullptr);
    }
    KeyRange queries = seen();
    sweep(queries.low, queries.high);
    for (size_t i = 0; i < loops.around.size(); ++i)
      e.closeLoop();
  }
  storeResults();
}

//===--- The kernel ---===//

// The results of one side, in as many parts as their sums take registers.
static void addParts(const GradientLoops &loops, bool ofRows, const TileMultiplier &multiplier,
                     int64_t bytes, std::vector<GradientPart> &parts) {
  llvm::SmallVector<size_t> numbers;
  std::vector<int64_t> sizes;
  for (auto [number, result] : llvm::enumerate(loops.results))
    if (result.isOfRows == ofRows) {
      numbers.push_back(number);
      sizes.push_back(result.loops.nSize);
    }
  for (const auto &group : groupColumns(sizes, multiplier.leastColumns())) {
    GradientPart part;
    part.isOfRows = ofRows;
    FlashSizes needed;
    for (const FlashColumns &columns : group) {
      part.results.push_back({numbers[columns.result], columns});
      needed.columns.push_back(columns.columns);
      Node *factor = loops.factors[loops.results[numbers[columns.result]].factor];
      if (!llvm::is_contained(part.factors, factor))
        part.factors.push_back(factor);
    }
    auto inner = outermostReductions(part.factors);
    for (const ContractionLoops &product : loops.products)
      if (llvm::is_contained(inner, product.product)) {
        part.products.push_back(&product);
        needed.terms.push_back(product.kSize);
      }
    needed.factors = int64_t(part.factors.size());
    needed.nodes = int64_t(nodesAround(part.factors).size());
    part.plan = planFlash(needed, memoryOf(multiplier), bytes);
    parts.push_back(std::move(part));
  }
}

void emitFlashGradient(EntryFunction &function, const GradientLoops &loops,
                       const JointNests &nests) {
  Emitter e = function.emitter(nests.graph());
  e.live = Graph::reachable(nests.rootNodes());
  llvm::SmallVector<const ContractionLoops *> all;
  for (const ContractionLoops &product : loops.products)
    all.push_back(&product);
  for (const GradientLoops::Result &result : loops.results)
    all.push_back(&result.loops);
  auto multiplier = flashMultiplier(e, all, /*across=*/2);
  function.launch.threads = multiplier->threads();
  FlashSpace space = takeVotes(function, *multiplier);
  std::vector<GradientPart> parts;
  for (bool ofRows : {false, true})
    addParts(loops, ofRows, *multiplier, space.bytesLeft, parts);
  for (const GradientPart &part : parts)
    space.bytes = std::max(space.bytes, bytesOf(part.plan, *multiplier));
  takeTiles(function, space);
  for (const GradientPart &part : parts) {
    int64_t tiles = llvm::divideCeil(part.isOfRows ? loops.rowCount : loops.columnCount,
                                     TileMultiplier::rowsOfTile);
    std::vector<LoopGroup> around = loops.outer;
    if (part.isOfRows)
      llvm::append_range(around, loops.around);
    int64_t blocks = tiles * loops.outerCount * (part.isOfRows ? loops.aroundCount : 1);
    function.addBlocks(blocks, [&](Value number, llvm::Instruction *end) {
      e.openBody(end);
      Value first =
          e.b.CreateNSWMul(takeDigit(e, number, tiles), e.i64(TileMultiplier::rowsOfTile));
      openItem(e, around, number, 1);
      FlashGradient(function, e, *multiplier, space, part, loops, nests).emitBlock(first);
      closeItem(e);
    });
  }
}

} // namespace tessera::codegen::gpu
