#include "passes/codegen/cpu/KeyRange.h"

namespace tessera::codegen {

KeyRange keysWithin(Emitter &e, const KeyLimits &limits, const LoopGroup &queries,
                    const LoopGroup &columns, Value firstRow, Value lastRow, KeyRange keys,
                    Value whole) {
  llvm::IRBuilder<> &b = e.b;
  auto bind = [&](const LoopGroup &group, Value variable) {
    e.bindLevel(group.back(), setOf(group), variable, 1, nullptr);
  };
  KeyRange seen = keys;
  for (const KeyLimit &limit : limits.each) {
    e.openBlock();
    bind(queries, limit.atLastRow ? lastRow : firstRow);
    e.openBlock();
    bind(columns, e.i64(0));
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
      seen.high =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, seen.high, b.CreateAdd(room, e.i64(1)));
    else
      seen.low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, seen.low, b.CreateNeg(room));
  }
  if (whole) {
    seen.low = b.CreateSelect(whole, keys.low, seen.low);
    seen.high = b.CreateSelect(whole, keys.high, seen.high);
  }
  return seen;
}

Value seesNothing(Emitter &e, const KeyLimits &limits, Value largest) {
  constexpr double vanishes = 104; // exp(-104) is zero
  llvm::Type *type = largest->getType();
  Value above = e.b.CreateFSub(largest, llvm::ConstantFP::get(type, limits.fill));
  return e.b.CreateFCmpULE(above, llvm::ConstantFP::get(type, vanishes));
}

//===--- Tiles ---===//

Value BlockTiles::limitOf(Value first, int64_t which) const {
  llvm::IRBuilder<> &b = e.b;
  Value tile = b.CreateUDiv(b.CreateNSWSub(first, low), e.i64(rows));
  Value at = b.CreateNSWAdd(b.CreateNSWMul(tile, e.i64(2)), e.i64(which));
  return b.CreateInBoundsGEP(b.getInt64Ty(), limits, at);
}

void BlockTiles::limit(int64_t most, llvm::function_ref<KeyRange(Value, Value)> keysOf) {
  llvm::IRBuilder<> &b = e.b;
  Value places =
      e.temporary(llvm::ArrayType::get(b.getInt64Ty(), 2 * llvm::divideCeil(most, rows)), "limits");
  forAll([&](Value first, Value end, KeyRange) {
    KeyRange keys = keysOf(first, b.CreateNSWSub(end, e.i64(1)));
    limits = places;
    b.CreateStore(keys.low, limitOf(first, 0));
    b.CreateStore(keys.high, limitOf(first, 1));
  });
}

void BlockTiles::forAll(llvm::function_ref<void(Value, Value, KeyRange)> body) const {
  llvm::IRBuilder<> &b = e.b;
  Value first = e.openLoop(low, high, rows, false);
  Value end =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(first, e.i64(rows)), high);
  KeyRange keys{};
  if (limits)
    keys = {b.CreateLoad(b.getInt64Ty(), limitOf(first, 0)),
            b.CreateLoad(b.getInt64Ty(), limitOf(first, 1))};
  body(first, end, keys);
  e.closeLoop();
}

void BlockTiles::forEach(llvm::function_ref<void(Value, Value, KeyRange)> body) const {
  forAll([&](Value first, Value end, KeyRange keys) {
    if (!limits)
      return body(first, end, keys);
    e.openIf(e.b.CreateICmpSLT(keys.low, keys.high));
    body(first, end, keys);
    e.closeLoop();
  });
}

void BlockTiles::forEachAt(Value key, llvm::function_ref<void(Value)> body) const {
  forAll([&](Value first, Value, KeyRange keys) {
    if (!limits)
      return body(first);
    e.openIf(e.b.CreateAnd(e.b.CreateICmpSLE(keys.low, key), e.b.CreateICmpSLT(key, keys.high)));
    body(first);
    e.closeLoop();
  });
}

} // namespace tessera::codegen
