// Reductions as loops around the reducer.
//
// Inside a vector loop over kept dimensions (column sums) every lane has its own accumulator and
// the reduced loops are scalar. Otherwise (row sums) the innermost reduced loop is the vector loop:
// partial accumulators, one a lane, that are folded by halves at the end: a fixed order, whatever
// the machine.
#include "passes/codegen/cpu/Emitter.h"

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

static bool isHeavy(Op op) {
  return op == Op::Pow || op == Op::Atan2 || (op >= Op::Exp && op <= Op::Cbrt);
}

unsigned Emitter::chooseLanes(int64_t size, llvm::ArrayRef<Node *> nodes) const {
  // Four registers of the widest element at most; fewer where much is alive at once or lanes are
  // handled singly.
  unsigned heavy = 0, count = 0;
  int64_t widest = 1, narrowest = 8;
  for (Node *node : nodes) {
    heavy += isHeavy(node->op);
    ++count;
    if (node->op == Op::Load) {
      widest = std::max(widest, byteSize(node->kind));
      narrowest = std::min(narrowest, byteSize(node->kind));
    } else if (node->op != Op::Constant && node->op != Op::Iota && node->kind != ElementKind::I1) {
      widest = std::max<int64_t>(widest, isNarrowFloat(node->kind) ? 4 : byteSize(node->kind));
    }
  }
  unsigned registers = heavy > 1 || count > 40 ? 1 : heavy || count > 20 ? 2 : 4;
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

// One round of the innermost loop: slots = combine(slots, inputs).
void Emitter::accumulate(Reduction &reduction, llvm::ArrayRef<Value> slots, unsigned lanes,
                         Value laneMask) {
  llvm::SmallVector<Value> old, fresh;
  for (auto [slot, input] : llvm::zip(slots, reduction.inputs)) {
    fresh.push_back(splat(emit(input), lanes));
    old.push_back(b.CreateLoad(typeOf(input->kind, lanes), slot));
  }
  llvm::SmallVector<Value> next = combine(reduction, old, fresh);
  for (auto [slot, before, after] : llvm::zip(slots, old, next)) {
    Value value = splat(after, lanes);
    b.CreateStore(laneMask ? b.CreateSelect(laneMask, value, before) : value, slot);
  }
}

llvm::SmallVector<Value> Emitter::foldLanes(const Reduction &reduction,
                                            llvm::SmallVector<Value> vectors) {
  unsigned width = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements();
  while (width > 1) {
    width /= 2;
    llvm::SmallVector<int> low, high;
    for (unsigned i = 0; i < width; ++i) {
      low.push_back(i);
      high.push_back(i + width);
    }
    llvm::SmallVector<Value> lower, upper;
    for (Value vector : vectors) {
      lower.push_back(width == 1 ? b.CreateExtractElement(vector, uint64_t(0))
                                 : b.CreateShuffleVector(vector, low));
      upper.push_back(width == 1 ? b.CreateExtractElement(vector, uint64_t(1))
                                 : b.CreateShuffleVector(vector, high));
    }
    vectors = combine(reduction, lower, upper);
  }
  return vectors;
}

// Sums of f32 whose terms are rounded before they are added.
static bool isSumOfSingles(const Reduction &reduction) {
  return !reduction.isProduct &&
         llvm::all_of(reduction.simple, [](Op op) { return op == Op::Add; }) &&
         llvm::all_of(reduction.inputs, [](Node *in) { return in->kind == ElementKind::F32; });
}

llvm::SmallVector<Value> Emitter::reduce(Reduction &reduction) {
  llvm::SmallVector<Value> inits;
  for (Node *init : reduction.inits)
    inits.push_back(emit(init));
  for (unsigned dim : reduction.dims)
    if (graph.dims[dim].size == 0)
      return inits;

  unsigned outerLanes = lanes();
  std::vector<Node *> nodes = Graph::reachable(reduction.inputs);
  auto groups = collapse(reduction.dims, live, {});
  // The loop that most loads run along goes innermost.
  auto contiguous = [&](llvm::ArrayRef<unsigned> group) {
    return llvm::count_if(
        nodes, [&](Node *node) { return node->op == Op::Load && stride(node->index, group) == 1; });
  };
  if (outerLanes == 1 && groups.size() > 1 && !reduction.isStepwise) {
    size_t best = groups.size() - 1;
    for (size_t i = groups.size(); i-- > 0;)
      if (contiguous(groups[i]) > contiguous(groups[best]))
        best = i;
    std::rotate(groups.begin() + best, groups.begin() + best + 1, groups.end());
  }
  bool byRows = outerLanes == 1 && !groups.empty() && !reduction.simple.empty() &&
                !reduction.isStepwise && bounds(groups.back()).second >= 4;
  if (byRows && groups.size() == 1 && reduction.isRowProduct)
    return combine(reduction, inits, sumRowProducts(reduction, groups, nodes));
  if (byRows && isSumOfSingles(reduction))
    return combine(reduction, inits, foldLanes(reduction, sumRows(reduction, groups, nodes)));
  if (outerLanes > 1 && !reduction.isStepwise && !groups.empty() && !reduction.simple.empty() &&
      isSumOfSingles(reduction)) {
    for (Value &init : inits)
      init = splat(init, outerLanes);
    return combine(reduction, inits, sumColumns(reduction, groups, outerLanes));
  }
  unsigned width = byRows ? chooseLanes(bounds(groups.back()).second, nodes) : outerLanes;

  llvm::SmallVector<Value> slots;
  for (auto [i, input] : llvm::enumerate(reduction.inputs)) {
    slots.push_back(temporary(typeOf(input->kind, width), "accumulator"));
    Value start = byRows ? identity(reduction.simple[i], input->kind) : inits[i];
    b.CreateStore(splat(start, width), slots.back());
  }

  auto bind = [&](llvm::ArrayRef<unsigned> group, Value variable, unsigned lanes, Value mask) {
    DimSet all = 0;
    for (unsigned dim : group)
      all |= DimSet(1) << dim;
    bindLevel(group.back(), all, variable, lanes, mask);
  };
  unsigned open = 0;
  for (auto &group : groups) {
    bool isInner = &group == &groups.back();
    int64_t size = bounds(group).second;
    if (!isInner || !byRows) {
      bind(group, openLoop(i64(0), i64(size), 1, false), 1, nullptr);
      ++open;
    } else {
      int64_t whole = size / width * width;
      if (whole) {
        bind(group, openLoop(i64(0), i64(whole), width, false), width, nullptr);
        accumulate(reduction, slots, width, nullptr);
        closeLoop();
      }
      if (whole < size) {
        llvm::SmallVector<llvm::Constant *> exists;
        for (unsigned lane = 0; lane < width; ++lane)
          exists.push_back(b.getInt1(whole + lane < size));
        Value mask = llvm::ConstantVector::get(exists);
        openBlock();
        bind(group, i64(whole), width, mask);
        accumulate(reduction, slots, width, mask);
        closeBlock();
      }
    }
  }
  if (!byRows)
    accumulate(reduction, slots, width, nullptr);
  while (open--)
    closeLoop();
  resumeInsertion();

  llvm::SmallVector<Value> results;
  for (auto [slot, input] : llvm::zip(slots, reduction.inputs))
    results.push_back(b.CreateLoad(typeOf(input->kind, width), slot));
  if (!byRows)
    return results;
  return combine(reduction, inits, foldLanes(reduction, std::move(results)));
}

} // namespace tessera::codegen
