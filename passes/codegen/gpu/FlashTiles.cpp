#include "passes/codegen/gpu/FlashTiles.h"

#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/LaneShuffle.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"

namespace tessera::codegen::gpu {

//===--- Shared memory ---===//

FlashSpace takeVotes(EntryFunction &function, const TileMultiplier &multiplier) {
  FlashSpace space;
  llvm::Type *type = llvm::Type::getInt32Ty(function.module.getContext());
  space.votes =
      function.takeShared(llvm::ArrayType::get(type, multiplier.threads() / kWarp), "_votes");
  space.bytesLeft = kMostSharedBytes - llvm::alignTo(function.sharedBytes, kAccessBytes);
  return space;
}

void takeTiles(EntryFunction &function, FlashSpace &space) {
  llvm::Type *type = llvm::Type::getInt8Ty(function.module.getContext());
  space.tiles = function.takeShared(llvm::ArrayType::get(type, space.bytes), "_tiles");
}

int64_t bytesOf(const FlashPlan &plan, const TileMultiplier &multiplier) {
  return plan.elements() * byteSize(multiplier.layout().kind());
}

FlashMultiplier memoryOf(const TileMultiplier &multiplier) {
  const SliceLayout &layout = multiplier.layout();
  SliceShape line{1, multiplier.leastDepth(), /*alongK=*/true};
  return {TileMultiplier::rowsOfTile, multiplier.threads(),    multiplier.leastDepth(),
          multiplier.mostDepth(),     byteSize(layout.kind()), layout.elements(line) - line.depth};
}

std::unique_ptr<TileMultiplier>
flashMultiplier(Emitter &e, llvm::ArrayRef<const ContractionLoops *> products, int64_t across) {
  ElementKind kind = unwidened(products.front()->a)->kind;
  bool byCores = (kind == ElementKind::BF16 || kind == ElementKind::F16) &&
                 llvm::all_of(products, [&](const ContractionLoops *loops) {
                   return unwidened(loops->a)->kind == kind && unwidened(loops->b)->kind == kind;
                 });
  return byCores ? multiplierByCores(e, kind, across) : multiplierByThreads(e);
}

//===--- Registers ---===//

static llvm::SmallVector<Value> makeSlots(Emitter &e, int64_t count, const char *name) {
  llvm::SmallVector<Value> slots;
  for (int64_t i = 0; i < count; ++i)
    slots.push_back(e.temporary(e.b.getFloatTy(), name));
  return slots;
}

static void clear(Emitter &e, llvm::ArrayRef<Value> slots) {
  for (Value slot : slots)
    e.b.CreateStore(llvm::ConstantFP::get(e.b.getFloatTy(), 0), slot);
}

void FlashTiles::begin(Value first) {
  ownFirst = first;
  loader.shared = shared;
  loader.thread = function.thread;
  multiplier.begin(shared, function.thread);
  rows = multiplier.rows();
  columns = multiplier.columns(plan.other);
  stage = e.temporary(b.getInt32Ty(), "stage");
  b.CreateStore(b.getInt32(0), stage);
  int64_t kept = plan.keptAt();
  auto sideOf = [&](Node *node, const FlashSide &side, const Product &product, int64_t extent) {
    return loader.sideOf(multiplier.sourceOf(e.graph, node), {side.group}, side.size, product.k,
                         product.kSize, extent, plan.depth);
  };
  for (Product &product : products) {
    product.ownSide = sideOf(product.own, own, product, TileMultiplier::rowsOfTile);
    product.ownSide.first = ownFirst;
    product.otherSide = sideOf(product.other, other, product, plan.other);
    product.sums = makeSlots(e, multiplier.slots(plan.other), "product");
    loader.makeRegisters(product.ownSide);
    loader.makeRegisters(product.otherSide);
    product.kept = kept;
    kept += llvm::divideCeil(product.kSize, plan.depth) *
            multiplier.layout().elements(product.ownSide.shape);
    if (plan.keepsOwn)
      keepOwn(product);
  }
  for (Result &result : results) {
    result.side =
        loader.sideOf(multiplier.sourceOf(e.graph, result.other), {result.n}, result.nSize,
                      {other.group}, other.size, result.columns, plan.resultDepth);
    result.side.first = e.i64(result.first);
    result.side.kStep = plan.other;
    loader.makeRegisters(result.side);
    result.sums = makeSlots(e, multiplier.slots(result.columns), "sum");
    if (multiplier.addsInParts())
      result.parts = makeSlots(e, multiplier.slots(result.columns), "part");
  }
}

void FlashTiles::keepOwn(Product &product) {
  Value k0 = e.openLoop(e.i64(0), e.i64(product.kSize), plan.depth, /*mayBeEmpty=*/false);
  Value number = b.CreateLShr(k0, llvm::Log2_64(plan.depth));
  Value place = b.CreateNSWAdd(
      b.CreateNSWMul(number, e.i64(multiplier.layout().elements(product.ownSide.shape))),
      e.i64(product.kept));
  loader.fetch(product.ownSide, k0, place);
  loader.store(product.ownSide, place);
  e.closeLoop();
}

//===--- Slices ---===//

Value FlashTiles::currentStage() {
  llvm::LoadInst *place = b.CreateLoad(b.getInt32Ty(), stage);
  place->setMetadata(llvm::LLVMContext::MD_range,
                     llvm::MDBuilder(b.getContext())
                         .createRange(llvm::APInt(32, 0), llvm::APInt(32, plan.stage + 1)));
  return b.CreateZExt(place, b.getInt64Ty());
}

Value FlashTiles::nextStage() { return b.CreateNSWSub(e.i64(plan.stage), currentStage()); }

void FlashTiles::fetch(int64_t segment, Value k0, Value tile) {
  Value place = nextStage();
  if (segment >= int64_t(products.size())) {
    SliceSide &side = results[segment - products.size()].side;
    return loader.fetch(side, b.CreateNSWAdd(tile, k0), place);
  }
  Product &product = products[segment];
  product.otherSide.first = tile;
  loader.fetch(product.otherSide, k0, place);
  if (!plan.keepsOwn)
    loader.fetch(
        product.ownSide, k0,
        b.CreateNSWAdd(place, e.i64(multiplier.layout().elements(product.otherSide.shape))));
}

// Who is past the barrier knows that all are done with the other stage, to which the next slices go.
void FlashTiles::arrive(int64_t segment) {
  Value place = nextStage();
  b.CreateStore(b.CreateTrunc(place, b.getInt32Ty()), stage);
  if (segment >= int64_t(products.size())) {
    loader.store(results[segment - products.size()].side, place);
  } else {
    Product &product = products[segment];
    loader.store(product.otherSide, place);
    if (!plan.keepsOwn)
      loader.store(
          product.ownSide,
          b.CreateNSWAdd(place, e.i64(multiplier.layout().elements(product.otherSide.shape))));
  }
  loader.await();
  barrier(b);
}

void FlashTiles::multiply(int64_t segment, Value k0) {
  Value place = currentStage();
  if (segment >= int64_t(products.size())) {
    Result &result = results[segment - products.size()];
    TileMultiplier::Operand factor{multiplier.factorShape(plan.other),
                                   e.i64(plan.factorAt(int64_t(result.factor))), k0};
    multiplier.multiply(factor, {result.side.shape, place, nullptr}, plan.resultDepth,
                        result.parts.empty() ? result.sums : result.parts);
    return;
  }
  Product &product = products[segment];
  const SliceLayout &layout = multiplier.layout();
  Value ownPlace = b.CreateNSWAdd(place, e.i64(layout.elements(product.otherSide.shape)));
  if (plan.keepsOwn) {
    Value number = b.CreateLShr(k0, llvm::Log2_64(plan.depth));
    ownPlace = b.CreateNSWAdd(b.CreateNSWMul(number, e.i64(layout.elements(product.ownSide.shape))),
                              e.i64(product.kept));
  }
  multiplier.multiply({product.ownSide.shape, ownPlace, nullptr},
                      {product.otherSide.shape, place, nullptr}, plan.depth, product.sums);
}

// The slices of one product, or result: before each is multiplied the one after it is fetched, that of
// the next segment or tile.
void FlashTiles::addSegment(int64_t segment, Value tile, Value next, Value high) {
  bool isProduct = segment < int64_t(products.size());
  int64_t size = isProduct ? products[segment].kSize : plan.other;
  int64_t depth = isProduct ? plan.depth : plan.resultDepth;
  Value k0 = e.openLoop(e.i64(0), e.i64(size), depth, /*mayBeEmpty=*/false);
  arrive(segment);
  Value after = b.CreateNSWAdd(k0, e.i64(depth));
  if (size > depth) {
    e.openIf(b.CreateICmpSLT(after, e.i64(size)));
    fetch(segment, after, tile);
    e.closeLoop();
  }
  bool isLast = segment + 1 == segments();
  Value isDone = b.CreateICmpSGE(after, e.i64(size));
  e.openIf(isLast ? b.CreateAnd(isDone, b.CreateICmpSLT(next, high)) : isDone);
  fetch(isLast ? 0 : segment + 1, e.i64(0), isLast ? next : tile);
  e.closeLoop();
  multiply(segment, k0);
  e.closeLoop();
}

//===--- Tiles ---===//

void FlashTiles::sweep(Value low, Value high) {
  e.openIf(b.CreateICmpSLT(low, high));
  fetch(0, e.i64(0), low);
  Value tile = e.openLoop(low, high, plan.other, /*mayBeEmpty=*/false);
  Value next = b.CreateNSWAdd(tile, e.i64(plan.other));
  for (Product &product : products)
    clear(e, product.sums);
  for (int64_t i = 0; i < int64_t(products.size()); ++i)
    addSegment(i, tile, next, high);
  SliceShape shape = multiplier.factorShape(plan.other);
  for (auto [number, factor] : llvm::enumerate(factorsOf(tile)))
    multiplier.storeFactors({shape, e.i64(plan.factorAt(int64_t(number))), nullptr}, factor);
  for (auto [i, result] : llvm::enumerate(results)) {
    clear(e, result.parts);
    addSegment(int64_t(products.size() + i), tile, next, high);
    for (auto [sum, part] : llvm::zip(result.sums, result.parts))
      b.CreateStore(
          b.CreateFAdd(b.CreateLoad(b.getFloatTy(), sum), b.CreateLoad(b.getFloatTy(), part)), sum);
  }
  e.closeLoop();
  e.closeLoop();
}

Value FlashTiles::existing(const FlashSide &side, Value row) {
  int64_t tile = &side == &own ? TileMultiplier::rowsOfTile : plan.other;
  return side.size % tile ? b.CreateICmpSLT(row, e.i64(side.size)) : nullptr;
}

void FlashTiles::bind(const FlashSide &side, Value row) {
  if (existing(side, row))
    row = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e.i64(side.size - 1));
  e.bindLevel(side.group.back(), setOf(side.group), row, 1, nullptr);
}

void FlashTiles::clearSums() {
  for (Result &result : results)
    clear(e, result.sums);
}

void FlashTiles::multiplySums(size_t row, Value by) {
  for (Result &result : results) {
    size_t count = result.sums.size() / rows.size();
    for (Value slot : llvm::ArrayRef(result.sums).slice(row * count, count))
      b.CreateStore(b.CreateFMul(b.CreateLoad(b.getFloatTy(), slot), by), slot);
  }
}

Value FlashTiles::overLanesOfRow(Value value, llvm::function_ref<Value(Value, Value)> fold) {
  for (int64_t distance = 1; distance < multiplier.lanesOfRow(); distance *= 2)
    value = fold(value, fromLane(b, value, distance));
  return value;
}

Value FlashTiles::overBlock(Value value, llvm::function_ref<Value(Value, Value)> fold) {
  for (int64_t distance = 1; distance < kWarp; distance *= 2)
    value = fold(value, fromLane(b, value, distance));
  auto place = [&](Value warp) { return b.CreateInBoundsGEP(b.getInt32Ty(), votes, warp); };
  barrier(b); // what was there before is read
  e.openIf(b.CreateICmpEQ(b.CreateAnd(function.thread, e.i64(kWarp - 1)), e.i64(0)));
  b.CreateStore(value, place(b.CreateLShr(function.thread, llvm::Log2_64(kWarp))));
  e.closeLoop();
  barrier(b);
  Value all = b.CreateLoad(b.getInt32Ty(), place(e.i64(0)));
  for (int64_t warp = 1; warp < multiplier.threads() / kWarp; ++warp)
    all = fold(all, b.CreateLoad(b.getInt32Ty(), place(e.i64(warp))));
  return all;
}

//===--- Results ---===//

// Some of each thread's rows go through shared memory, to be stored side by side.
void FlashTiles::storeGroup(Result &result, int64_t from, int64_t count) {
  int64_t pitch = TileMultiplier::pitchOf(result.columns);
  size_t ofRow = result.sums.size() / rows.size();
  barrier(b); // all are done with what lies there
  for (int64_t i = from; i < from + count; ++i) {
    llvm::SmallVector<Value> values;
    for (Value slot : llvm::ArrayRef(result.sums).slice(i * ofRow, ofRow))
      values.push_back(b.CreateLoad(b.getFloatTy(), slot));
    multiplier.stage(multiplier.lineOf(i, from), pitch, result.columns, values);
  }
  barrier(b);
  int64_t lanes = lanesOfResults(e.graph, result.roots, result.n, ElementKind::F32);
  int64_t inLine = result.columns / lanes;
  int64_t items = TileMultiplier::rowsOfTile / int64_t(rows.size()) * count * inLine;
  Value number = e.openLoop(function.thread, e.i64(items), multiplier.threads(), true);
  Value line = b.CreateLShr(number, llvm::Log2_64(inLine));
  Value column = b.CreateNSWMul(b.CreateAnd(number, e.i64(inLine - 1)), e.i64(lanes));
  Value row = multiplier.rowOfLine(line, from), m = b.CreateNSWAdd(ownFirst, row);
  Value n = b.CreateNSWAdd(e.i64(result.first), column);
  Value exists = b.CreateICmpSLT(n, e.i64(result.nSize));
  if (Value known = existing(own, m))
    exists = b.CreateAnd(exists, known);
  e.openIf(exists);
  openItem(e, {own.group}, m, 1);
  Value place = b.CreateNSWAdd(b.CreateNSWMul(line, e.i64(pitch)), column);
  Value sum =
      b.CreateAlignedLoad(e.typeOf(ElementKind::F32, lanes),
                          e.element(shared, ElementKind::F32, place), llvm::Align(lanes * 4));
  sum = finished(row, sum);
  openItem(e, {result.n}, lanes > 1 ? b.CreateLShr(n, llvm::Log2_64(lanes)) : n, lanes);
  e.levels.back().values[result.product] = sum;
  for (const Root &root : result.roots)
    e.store(function.outputBuffer(root.output), root.kind, root.offset, e.emit(root.value.re));
  closeItem(e);
  closeItem(e);
  e.closeLoop();
  e.closeLoop();
}

void FlashTiles::storeResults() {
  int64_t bytes = plan.elements() * byteSize(multiplier.layout().kind());
  for (Result &result : results) {
    int64_t all = int64_t(rows.size()), count = all;
    while (count > 1 &&
           TileMultiplier::rowsOfTile / all * count * TileMultiplier::pitchOf(result.columns) * 4 >
               bytes)
      count /= 2;
    for (int64_t from = 0; from < all; from += count)
      storeGroup(result, from, count);
  }
}

} // namespace tessera::codegen::gpu
