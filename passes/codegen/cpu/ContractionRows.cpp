// Operands that lie along their rows, or columns, and are copied with k outermost: some k's at a
// time.
//
//   a: [k][m]  ->  [tile][k][rows]        b: [k][n]  ->  [panel][k][columns]
//
// A tile of a is then some lines in order. Side by side with the rows of other tiles each k of it would be a line
// of its own, so many that they did not stay in the first-level cache with a panel of b.
#include "passes/codegen/cpu/ContractionEmitter.h"

namespace tessera::codegen {

Value ContractionEmitter::tileOfA(Value m0) {
  // As of panels of b.
  Value number = b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(m0, panelLow), e.i64(plan.rows - 1)),
                              e.i64(plan.rows));
  return e.element(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA), plan.packedKind(),
                   b.CreateNSWMul(number, e.i64(plan.tileOfA())));
}

// Rows of k of such an array, by tiles of `lanes`, to [tile][k][lanes]. Some rows at a time: what is written of a
// tile is then some lines that lie one after the other.
void ContractionEmitter::copyRows(Node *node, const LoopGroup &along, Value low, Value high,
                                  unsigned lanes, int64_t size,
                                  llvm::function_ref<Value(Value)> placeOf) {
  constexpr int64_t together = 8;
  const LoopGroup &inner = plan.k.back();
  int64_t bytes = byteSize(kind), stride = strideOf(node->index, inner).value_or(0) * bytes;
  llvm::Type *type = e.typeOf(kind, lanes);
  llvm::Align align(bytes);
  auto copy = [&](Value k, int64_t rows) {
    bind(inner, k);
    Value at = b.CreateNSWMul(placeOfK(), e.i64(lanes));
    overTiles(low, high, lanes, size, [&](Value start, Value) {
      e.openBlock();
      bind(along, start);
      Value from = e.element(e.bufferPointer(node->buffer()), kind, e.emitIndex(node->index));
      Value to = e.element(placeOf(start), kind, at);
      for (int64_t row = 0; row < rows; ++row) {
        Value own = b.CreateConstGEP1_64(b.getInt8Ty(), from, row * stride);
        Value place = b.CreateConstGEP1_64(b.getInt8Ty(), to, row * lanes * bytes);
        b.CreateAlignedStore(b.CreateAlignedLoad(type, own, align), place, align);
      }
      e.closeBlock();
    });
    e.closeLoop();
  };
  overRunsOfK([&](Value first, Value end) {
    Value whole = b.CreateNSWAdd(first, b.CreateAnd(b.CreateNSWSub(end, first), e.i64(-together)));
    copy(e.openLoop(first, whole, together, true), together);
    copy(e.openLoop(whole, end, 1, true), 1);
  });
}

} // namespace tessera::codegen
