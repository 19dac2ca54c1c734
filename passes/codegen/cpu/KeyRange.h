// The keys that queries can see, as code.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/KeyLimits.h"

namespace tessera::codegen {

// The keys that a tile or a cell reads.
struct KeyRange {
  Value low, high;
};

// The same (null: all) counted from the first of `strip`.
inline KeyRange within(KeyRange strip, KeyRange keys, llvm::IRBuilder<> &b) {
  if (!keys.low)
    return keys;
  return {b.CreateNSWSub(keys.low, strip.low), b.CreateNSWSub(keys.high, strip.low)};
}

// Those of `keys` that rows [firstRow, lastRow] of queries can see; all where `whole` (null: never)
// holds.
KeyRange keysWithin(Emitter &e, const KeyLimits &limits, const LoopGroup &queries,
                    const LoopGroup &columns, Value firstRow, Value lastRow, KeyRange keys,
                    Value whole);

// Whether a row whose largest score is `largest` has none so far above what is filled in that the others
// vanish beside it: then keys beyond the limits have a part in it.
Value seesNothing(Emitter &e, const KeyLimits &limits, Value largest);

// The tiles of a block of queries, in registers, and the keys that each of them sees.
class BlockTiles {
public:
  // Tiles of `rows` rows of [low, high).
  BlockTiles(Emitter &e, Value low, Value high, int64_t rows)
      : e(e), low(low), high(high), rows(rows) {}
  // Of at most `most` rows: those that rows [first, last] of a tile see are `keysOf` them.
  void limit(int64_t most, llvm::function_ref<KeyRange(Value first, Value last)> keysOf);
  // Runs body for each tile, with its first row, the one behind its last, and its keys (null: all).
  void forAll(llvm::function_ref<void(Value first, Value end, KeyRange keys)> body) const;
  // The same of those that have keys.
  void forEach(llvm::function_ref<void(Value first, Value end, KeyRange keys)> body) const;
  // Runs it for each tile that sees keys from `key` on.
  void forEachAt(Value key, llvm::function_ref<void(Value first)> body) const;

private:
  Value limitOf(Value first, int64_t which) const;

  Emitter &e;
  Value low, high, limits = nullptr;
  int64_t rows;
};

} // namespace tessera::codegen
