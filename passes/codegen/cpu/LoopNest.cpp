#include "passes/codegen/cpu/LoopNest.h"

namespace tessera::codegen {

void loopOver(Emitter &e, llvm::ArrayRef<LoopRange> loops, unsigned lanes,
              llvm::function_ref<void()> body) {
  if (loops.empty()) {
    e.openBlock();
    body();
    e.closeBlock();
    return;
  }
  const LoopRange &loop = loops.front();
  int64_t size = e.graph.dims[loop.dim].size;
  DimSet set = DimSet(1) << loop.dim;
  bool isFixed = !loop.low;
  if (isFixed && size == 0)
    return;
  Value low = isFixed ? e.i64(0) : loop.low, high = isFixed ? e.i64(size) : loop.high;
  if (loops.size() > 1 || lanes == 1) {
    Value variable = e.openLoop(low, high, 1, !isFixed);
    e.bindLevel(loop.dim, set, variable, 1, nullptr);
    loopOver(e, loops.drop_front(), lanes, body);
    e.closeLoop();
    return;
  }
  Value length = e.b.CreateNSWSub(high, low);
  Value whole = e.b.CreateNSWAdd(low, e.b.CreateAnd(length, e.i64(-static_cast<int64_t>(lanes))));
  if (!isFixed || size >= lanes) {
    Value variable = e.openLoop(low, whole, lanes, !isFixed);
    e.bindLevel(loop.dim, set, variable, lanes, nullptr);
    body();
    e.closeLoop();
  }
  if (isFixed && size % lanes == 0)
    return;
  e.openLoop(whole, high, lanes, true);
  llvm::Type *type = llvm::FixedVectorType::get(e.b.getInt32Ty(), lanes);
  Value left = e.b.CreateTrunc(e.b.CreateNSWSub(high, whole), e.b.getInt32Ty());
  Value mask = e.b.CreateICmpULT(e.b.CreateStepVector(type), e.splat(left, lanes));
  e.bindLevel(loop.dim, set, whole, lanes, mask);
  body();
  e.closeLoop();
}

void overVectors(Emitter &e, llvm::ArrayRef<unsigned> group, unsigned lanes, Value from, Value to,
                 int64_t step, llvm::function_ref<void(Value at)> body) {
  auto [first, last] = boundsOf(e.graph, group);
  int64_t size = last - first, rest = size % lanes;
  bool inParts = step != 0;
  Value whole = to;
  if (inParts || rest) {
    Value length = e.b.CreateNSWSub(to, from);
    whole = e.b.CreateNSWAdd(from, e.b.CreateAnd(length, e.i64(-static_cast<int64_t>(lanes))));
  }
  if (size >= lanes) {
    Value variable = e.openLoop(from, whole, lanes, inParts);
    e.bindLevel(group.back(), setOf(group), variable, lanes, nullptr);
    body(variable);
    e.closeLoop();
  }
  // Where parts are whole vectors long only the loop's very end leaves a rest. Each leaves one of its own
  // where the loop, a piece of another, or a part of it begins in mid-vector.
  bool isRagged = inParts && (first % lanes != 0 || step % lanes != 0);
  if (!rest && !isRagged)
    return;
  unsigned tailLanes = isRagged ? lanes : std::max<unsigned>(llvm::PowerOf2Ceil(rest), 2);
  inParts ? (void)e.openLoop(whole, to, lanes, true) : e.openBlock();
  Value mask = nullptr;
  if (isRagged) {
    llvm::Type *type = llvm::FixedVectorType::get(e.b.getInt32Ty(), lanes);
    Value left = e.b.CreateTrunc(e.b.CreateNSWSub(to, whole), e.b.getInt32Ty());
    mask = e.b.CreateICmpULT(e.b.CreateStepVector(type), e.splat(left, lanes));
  } else if (rest != tailLanes) {
    mask = maskOfFirst(e.b, int64_t(rest), tailLanes);
  }
  e.bindLevel(group.back(), setOf(group), whole, tailLanes, mask);
  body(whole);
  inParts ? e.closeLoop() : e.closeBlock();
}

std::pair<Value, Value> chunkRange(Emitter &e, Value number, int64_t chunk, int64_t size) {
  Value low = e.b.CreateNSWMul(number, e.i64(chunk));
  Value high = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, e.b.CreateNSWAdd(low, e.i64(chunk)),
                                         e.i64(size));
  return {low, high};
}

Value takeDigit(Emitter &e, Value &number, int64_t base) {
  if (base == 1)
    return e.i64(0);
  Value digit = e.b.CreateURem(number, e.i64(base));
  number = e.b.CreateUDiv(number, e.i64(base));
  return digit;
}

} // namespace tessera::codegen
