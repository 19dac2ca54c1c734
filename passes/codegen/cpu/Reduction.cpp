// Reductions as loops around the reducer. Inside a vector loop over kept dimensions every lane has
// its own accumulator; otherwise the innermost reduced loop may be the vector loop. The order is
// the same (OrderedSums.cpp).
#include "passes/codegen/cpu/Accumulators.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tessera::codegen {

// x such that op(x, y) = y, as it is computed with.
Value Emitter::identity(Op op, ElementKind kind) {
  llvm::Type *type = computeType(kind, b.getContext());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (isFloat(kind)) // of a sum -0 would be exact; 0 only differs where all else is -0
    return llvm::ConstantFP::get(type, op == Op::Mul   ? 1
                                       : op == Op::Max ? -infinity
                                       : op == Op::Min ? infinity
                                                       : 0);
  unsigned width = bitWidth(kind);
  auto number = [&](const llvm::APInt &value) { return llvm::ConstantInt::get(type, value); };
  switch (op) {
  case Op::Mul:
    return number(llvm::APInt(width, 1));
  case Op::And:
    return number(llvm::APInt::getAllOnes(width));
  case Op::Max:
    return number(isSigned(kind) ? llvm::APInt::getSignedMinValue(width)
                                 : llvm::APInt::getMinValue(width));
  case Op::Min:
    return number(isSigned(kind) ? llvm::APInt::getSignedMaxValue(width)
                                 : llvm::APInt::getMaxValue(width));
  default:
    return number(llvm::APInt::getZero(width));
  }
}

unsigned Emitter::chooseLanes(int64_t size, llvm::ArrayRef<Node *> nodes) const {
  // Four registers of the widest element at most; fewer where much is alive at once or lanes are
  // handled singly. Steps that wait for each other take turns with those of other registers: with 32
  // registers there is room for twice as many.
  unsigned heavy = 0, count = 0;
  int64_t widest = 1, narrowest = 8;
  for (Node *node : nodes) {
    heavy += isFunction(node->op);
    ++count;
    if (node->op == Op::Load) {
      widest = std::max(widest, byteSize(node->kind));
      narrowest = std::min(narrowest, byteSize(node->kind));
    } else if (node->op != Op::Constant && node->op != Op::Iota && node->kind != ElementKind::I1) {
      widest = std::max<int64_t>(widest, isNarrowFloat(node->kind) ? 4 : byteSize(node->kind));
    }
  }
  unsigned registers = heavy > 1 || count > 40 ? 1 : heavy || count > 20 ? 2 : 4;
  if (features.masks)
    registers = std::min(2 * registers, 4u);
  int64_t most = std::min<int64_t>(64, std::max<int64_t>(registers * features.bytes / widest, 8));
  for (int64_t lanes = most; lanes >= 16; lanes /= 2)
    if (size % lanes == 0)
      return lanes;
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(size));
}

Value Emitter::reduced(Node *node) {
  Reduction &reduction = *node->reduction;
  if (auto it = levels.back().reductions.find(&reduction); it != levels.back().reductions.end())
    return it->second[node->aux];
  llvm::SmallVector<Value> values = reduce(reduction);
  Value value = values[node->aux];
  levels.back().reductions[&reduction] = std::move(values);
  return value;
}

llvm::SmallVector<Value> Emitter::reduce(Reduction &reduction) {
  llvm::SmallVector<Value> inits;
  unsigned outerLanes = lanes();
  for (Node *init : reduction.inits)
    inits.push_back(splat(emit(init), outerLanes));
  if (pointsOf(graph, reduction.dims) == 0)
    return inits;
  if (reduction.order == Reduction::Chain)
    return {chainOfProducts(reduction, outerLanes)};
  if (reduction.best != Reduction::NoBest && reduction.order == Reduction::Rows && outerLanes == 1)
    if (auto best = bestOfRow(reduction); !best.empty())
      return combine(reduction, inits, best);
  bool isInTurn = reduction.simple.empty() || reduction.loops.empty();
  bool isExact = llvm::all_of(llvm::zip(reduction.simple, reduction.inputs), [](auto pair) {
    auto [op, input] = pair;
    return op == Op::Max || op == Op::Min || !isFloat(input->kind);
  });
  if (isInTurn || (isExact && reduction.order == Reduction::Columns)) // simpler
    return reduceInTurn(reduction, inits, outerLanes);
  return combine(reduction, inits, orderedSum(reduction, outerLanes));
}

// slots = combine(slots, inputs), element after element.
llvm::SmallVector<Value> Emitter::reduceInTurn(const Reduction &reduction,
                                               llvm::ArrayRef<Value> inits, unsigned lanes) {
  Accumulators accumulators(*this, reduction, /*takesWords=*/true);
  llvm::SmallVector<Value> slots;
  for (auto [i, init] : llvm::enumerate(inits)) {
    slots.push_back(temporary(typeOf(accumulators.kind(i), lanes), "accumulator"));
    b.CreateStore(accumulators.fromTerm(i, init), slots.back());
  }
  auto loaded = [&] {
    llvm::SmallVector<Value> values;
    for (auto [i, slot] : llvm::enumerate(slots))
      values.push_back(b.CreateLoad(typeOf(accumulators.kind(i), lanes), slot));
    return values;
  };
  for (const auto &loop : reduction.loops)
    bindLoop(loop, openLoop(i64(0), i64(pointsOf(graph, loop)), 1, false));
  llvm::SmallVector<Value> fresh;
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    fresh.push_back(accumulators.term(i, lanes));
  for (auto [slot, value] : llvm::zip(slots, combine(accumulators.reduction(), loaded(), fresh)))
    b.CreateStore(splat(value, lanes), slot);
  for (size_t i = 0; i < reduction.loops.size(); ++i)
    closeLoop();
  resumeInsertion();
  llvm::SmallVector<Value> results = loaded();
  for (auto [i, value] : llvm::enumerate(results))
    value = accumulators.toTerm(i, value);
  return results;
}

} // namespace tessera::codegen
