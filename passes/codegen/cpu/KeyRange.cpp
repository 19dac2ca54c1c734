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

} // namespace tessera::codegen
