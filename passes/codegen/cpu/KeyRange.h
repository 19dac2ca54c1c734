// The keys that queries can see, as code.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/KeyLimits.h"

namespace tessera::codegen {

// The keys that a tile or a cell reads.
struct KeyRange {
  Value low, high;
};

// Those of `keys` that rows [firstRow, lastRow] of queries can see; all where `whole` (null: never)
// holds.
KeyRange keysWithin(Emitter &e, const KeyLimits &limits, const LoopGroup &queries,
                    const LoopGroup &columns, Value firstRow, Value lastRow, KeyRange keys,
                    Value whole);

// Whether a row whose largest score is `largest` has none so far above what is filled in that the others
// vanish beside it: then keys beyond the limits have a part in it.
Value seesNothing(Emitter &e, const KeyLimits &limits, Value largest);

} // namespace tessera::codegen
