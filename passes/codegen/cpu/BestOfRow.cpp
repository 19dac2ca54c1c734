// The best of a row, and where it is first: each lane has the best of its places, the first of them, and
// at the end the best of the lanes is taken. What the row's length leaves over is compared with places
// that were compared before, which changes nothing.
#include "passes/codegen/cpu/SumSlots.h"

namespace tessera::codegen {

// Whether number `fresh` is better than `old`: NaN is the best.
static Value isBetter(llvm::IRBuilder<> &b, Reduction::Best best, ElementKind kind, Value fresh,
                      Value old) {
  bool isLargest = best == Reduction::Largest;
  if (isFloat(kind)) {
    Value beats = isLargest ? b.CreateFCmpUGT(fresh, old) : b.CreateFCmpULT(fresh, old);
    return b.CreateAnd(beats, b.CreateFCmpORD(old, old));
  }
  if (isSigned(kind))
    return isLargest ? b.CreateICmpSGT(fresh, old) : b.CreateICmpSLT(fresh, old);
  return isLargest ? b.CreateICmpUGT(fresh, old) : b.CreateICmpULT(fresh, old);
}

llvm::SmallVector<Value> Emitter::betterOf(const Reduction &reduction, llvm::ArrayRef<Value> old,
                                           llvm::ArrayRef<Value> fresh) {
  ElementKind kind = reduction.inputs[0]->kind, places = reduction.inputs[1]->kind;
  Value isWorse = isBetter(b, reduction.best, kind, old[0], fresh[0]);
  Value isEarlier =
      isSigned(places) ? b.CreateICmpSLT(fresh[1], old[1]) : b.CreateICmpULT(fresh[1], old[1]);
  Value takes = b.CreateOr(isBetter(b, reduction.best, kind, fresh[0], old[0]),
                           b.CreateAnd(isEarlier, b.CreateNot(isWorse)));
  return {b.CreateSelect(takes, fresh[0], old[0]), b.CreateSelect(takes, fresh[1], old[1])};
}

llvm::SmallVector<Value> Emitter::bestOfRow(const Reduction &reduction) {
  const auto &row = reduction.loops.back();
  auto groups = collapseLoops(graph, row, live, {});
  int64_t size = pointsOf(graph, row);
  unsigned width = 64;
  while (width > size)
    width /= 2;
  width = std::min(width, chooseLanes(size, Graph::reachable(reduction.inputs)));
  if (reduction.loops.size() != 1 || groups.size() != 1 || width < 4)
    return {};
  llvm::SmallVector<Value, 2> slots;
  for (Node *input : reduction.inputs)
    slots.push_back(temporary(typeOf(input->kind, width), "best"));
  auto loaded = [&] {
    llvm::SmallVector<Value> values;
    for (auto [slot, input] : llvm::zip(slots, reduction.inputs))
      values.push_back(b.CreateLoad(typeOf(input->kind, width), slot));
    return values;
  };
  Value start = openLoop(i64(0), i64(size), width, /*mayBeEmpty=*/false);
  Value first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, i64(size - width));
  bindLevel(groups[0].back(), setOf(groups[0]), first, width, nullptr);
  llvm::SmallVector<Value> fresh, old = loaded();
  for (Node *input : reduction.inputs)
    fresh.push_back(splat(emit(input), width));
  // A lane's places come one after the other.
  Value better = isBetter(b, reduction.best, reduction.inputs[0]->kind, fresh[0], old[0]);
  Value takes = b.CreateOr(better, splat(b.CreateICmpEQ(start, i64(0)), width));
  for (auto [i, slot] : llvm::enumerate(slots))
    b.CreateStore(b.CreateSelect(takes, fresh[i], old[i]), slot);
  closeLoop();
  resumeInsertion();
  llvm::SmallVector<Value> best = loaded();
  for (unsigned half = width / 2; half > 0; half /= 2) {
    auto numbers = registersOf(b, best[0], half), places = registersOf(b, best[1], half);
    best = betterOf(reduction, {numbers[0], places[0]}, {numbers[1], places[1]});
  }
  for (Value &value : best)
    value = b.CreateExtractElement(value, uint64_t(0));
  return best;
}

} // namespace tessera::codegen
