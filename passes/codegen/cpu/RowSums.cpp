// Sums of f32 along rows in the order in which XLA:CPU adds (found by probing it; see
// docs/rationale/tolerances.md), so that results are the same bits:
//
//   vectors of one register are added in fours, the sums of fours in fours again, and so on up to
//   1024 elements; what is left over of a larger unit is added to the whole in units of the next
//   smaller one; at the end the lanes are folded by halves.
//
// The error grows with the logarithm of the length, as with pairwise summation.
//
// Sums of products that the pass tessera-mark-row-products has marked:
//
//   four sums of every fourth product, by fused multiply-adds, are added in pairs; then the
//   products that are left over, which are added in pairs, too.
#include "passes/codegen/cpu/Emitter.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::codegen {

using Group = llvm::SmallVector<unsigned, 4>;

// The sums of one row under way, of each input: stack slots of one register.
struct Emitter::RowSums {
  RowSums(Emitter &e, unsigned inputs, unsigned lanes, int64_t fours)
      : e(e), type(e.typeOf(ElementKind::F32, lanes)), fours(fours) {
    auto make = [&](llvm::SmallVector<Value> &slots, const char *name) {
      for (unsigned i = 0; i < inputs; ++i) {
        slots.push_back(e.temporary(type, name));
        clear(slots.back());
      }
    };
    make(row, "row");
    make(four, "four");
    if (fours >= 4)
      make(sixteen, "sixteen");
    if (fours > 16)
      make(chunk, "chunk");
  }

  void clear(Value slot) { e.b.CreateStore(llvm::Constant::getNullValue(type), slot); }
  Value load(Value slot) { return e.b.CreateLoad(type, slot); }
  void addTo(Value slot, Value term) { e.b.CreateStore(e.b.CreateFAdd(load(slot), term), slot); }

  // Adds `part` to `to` where `isWhole`, and leaves it for later elsewhere.
  void flush(Value part, Value to, Value isWhole) {
    Value sum = load(part), old = load(to);
    e.b.CreateStore(e.b.CreateSelect(isWhole, e.b.CreateFAdd(old, sum), old), to);
    e.b.CreateStore(e.b.CreateSelect(isWhole, llvm::Constant::getNullValue(type), sum), part);
  }

  // The sum of the four vectors in `four` goes on to the larger units; `number`: which four of the
  // row.
  void closeFour(Value number) {
    auto &b = e.b;
    int64_t whole = fours / 4 * 4;
    for (unsigned i = 0; i < four.size(); ++i) {
      Value part = load(four[i]);
      clear(four[i]);
      if (sixteen.empty()) {
        addTo(row[i], part);
        continue;
      }
      addTo(sixteen[i], part);
      Value isLast = b.CreateICmpEQ(b.CreateAnd(number, e.i64(3)), e.i64(3));
      Value isWhole = b.CreateOr(isLast, b.CreateICmpSGE(number, e.i64(whole)));
      flush(sixteen[i], chunk.empty() ? row[i] : chunk[i], isWhole);
      if (!chunk.empty())
        flush(chunk[i], row[i],
              b.CreateOr(b.CreateICmpEQ(b.CreateAnd(number, e.i64(15)), e.i64(15)),
                         b.CreateICmpEQ(number, e.i64(fours - 1))));
    }
  }

  Emitter &e;
  llvm::Type *type;
  int64_t fours; // of one row, the last one may be less
  llvm::SmallVector<Value> row, four, sixteen, chunk;
};

// `value`'s registers, one after the other.
static llvm::SmallVector<Value> registersOf(llvm::IRBuilder<> &b, Value value, unsigned lanes) {
  unsigned width = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  if (width == lanes)
    return {value};
  llvm::SmallVector<Value> parts;
  for (unsigned first = 0; first < width; first += lanes) {
    llvm::SmallVector<int> order(lanes);
    std::iota(order.begin(), order.end(), first);
    parts.push_back(b.CreateShuffleVector(value, order));
  }
  return parts;
}

llvm::SmallVector<Value> Emitter::sumRows(Reduction &reduction, llvm::ArrayRef<Group> groups,
                                          llvm::ArrayRef<Node *> nodes) {
  const Group &inner = groups.back();
  int64_t size = bounds(inner).second;
  unsigned lanes = std::min<int64_t>(features.bytes / 4, llvm::PowerOf2Ceil(size));
  int64_t step = 4 * static_cast<int64_t>(lanes);
  auto bind = [&](llvm::ArrayRef<unsigned> group, Value variable, unsigned lanes, Value mask) {
    DimSet all = 0;
    for (unsigned dim : group)
      all |= DimSet(1) << dim;
    bindLevel(group.back(), all, variable, lanes, mask);
  };
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  RowSums sums(*this, reduction.inputs.size(), lanes, llvm::divideCeil(size, step));
  auto add = [&](unsigned width, Value mask) {
    for (auto [i, input] : llvm::enumerate(reduction.inputs)) {
      Value terms = splat(emit(input), width);
      llvm::IRBuilderBase::FastMathFlagGuard guard(b);
      b.setFastMathFlags({});
      if (mask)
        terms = b.CreateSelect(mask, terms, llvm::Constant::getNullValue(terms->getType()));
      for (Value part : registersOf(b, terms, lanes))
        sums.addTo(sums.four[i], part);
    }
  };
  auto close = [&](Value number) {
    llvm::IRBuilderBase::FastMathFlagGuard guard(b);
    b.setFastMathFlags({});
    sums.closeFour(number);
  };
  // Four registers at a time, or one where much is alive at once.
  bool isWide = chooseLanes(step, nodes) >= step;
  unsigned width = isWide ? step : lanes;
  auto addTail = [&](int64_t whole) {
    unsigned rest = std::max<unsigned>(llvm::PowerOf2Ceil(size - whole), lanes);
    llvm::SmallVector<llvm::Constant *> exists;
    for (unsigned lane = 0; lane < rest; ++lane)
      exists.push_back(b.getInt1(whole + lane < size));
    Value mask = llvm::ConstantVector::get(exists);
    openBlock();
    bind(inner, i64(whole), rest, mask);
    add(rest, mask);
    closeBlock();
  };

  for (const Group &group : groups.drop_back())
    bind(group, openLoop(i64(0), i64(bounds(group).second), 1, false), 1, nullptr);
  int64_t whole = size / width * width;
  if (isWide) {
    if (whole) {
      Value start = openLoop(i64(0), i64(whole), step, false);
      bind(inner, start, width, nullptr);
      add(width, nullptr);
      close(b.CreateUDiv(start, i64(step)));
      closeLoop();
    }
    if (whole < size) {
      addTail(whole);
      close(i64(sums.fours - 1));
    }
  } else {
    // The last four is closed after the tail, which belongs to it.
    int64_t closed = (size - 1) / step * step;
    auto addVectors = [&](Value low, Value high) {
      bind(inner, openLoop(low, high, lanes, false), lanes, nullptr);
      add(lanes, nullptr);
      closeLoop();
    };
    if (closed) {
      Value start = openLoop(i64(0), i64(closed), step, false);
      addVectors(start, b.CreateNSWAdd(start, i64(step)));
      close(b.CreateUDiv(start, i64(step)));
      closeLoop();
    }
    if (closed < whole)
      addVectors(i64(closed), i64(whole));
    if (whole < size)
      addTail(whole);
    close(i64(sums.fours - 1));
  }
  for (size_t i = 0; i + 1 < groups.size(); ++i)
    closeLoop();
  resumeInsertion();
  llvm::SmallVector<Value> results;
  for (Value slot : sums.row)
    results.push_back(sums.load(slot));
  return results;
}

llvm::SmallVector<Value> Emitter::sumRowProducts(Reduction &reduction, llvm::ArrayRef<Group> groups,
                                                 llvm::ArrayRef<Node *> nodes) {
  constexpr unsigned lanes = 4;
  const Group &inner = groups.back();
  int64_t size = bounds(inner).second;
  llvm::Type *type = typeOf(ElementKind::F32, lanes);
  Node *product = reduction.inputs[0];
  Value sum = temporary(type, "four"), rest = temporary(type, "rest");
  for (Value slot : {sum, rest})
    b.CreateStore(llvm::Constant::getNullValue(type), slot);
  // Multiplies `width` elements from `start` on and adds the products of the first `count`.
  auto add = [&](Value start, unsigned width, int64_t count) {
    Value mask = nullptr;
    if (count < width) {
      llvm::SmallVector<llvm::Constant *> exists;
      for (unsigned lane = 0; lane < width; ++lane)
        exists.push_back(b.getInt1(lane < count));
      mask = llvm::ConstantVector::get(exists);
    }
    DimSet all = 0;
    for (unsigned dim : inner)
      all |= DimSet(1) << dim;
    bindLevel(inner.back(), all, start, width, mask);
    auto factor = [&](Node *node) {
      Value value = splat(emit(node), width);
      if (mask)
        value = b.CreateSelect(mask, value, llvm::Constant::getNullValue(value->getType()));
      return registersOf(b, value, lanes);
    };
    llvm::SmallVector<Value> lhs = factor(product->operands[0]);
    llvm::SmallVector<Value> rhs = factor(product->operands[1]);
    for (int64_t i = 0; i * lanes < count; ++i) {
      Value slot = (i + 1) * lanes <= count ? sum : rest;
      Value total = b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                      {lhs[i], rhs[i], b.CreateLoad(type, slot)});
      b.CreateStore(total, slot);
    }
  };
  unsigned width = std::max(chooseLanes(size, nodes), lanes);
  int64_t whole = size / width * width;
  if (whole) {
    add(openLoop(i64(0), i64(whole), width, false), width, width);
    closeLoop();
  }
  if (whole < size) {
    openBlock();
    add(i64(whole), std::max<unsigned>(llvm::PowerOf2Ceil(size - whole), lanes), size - whole);
    closeBlock();
  }
  resumeInsertion();
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.setFastMathFlags({});
  auto inPairs = [&](Value slot) {
    Value vector = b.CreateLoad(type, slot);
    auto at = [&](uint64_t lane) { return b.CreateExtractElement(vector, lane); };
    return b.CreateFAdd(b.CreateFAdd(at(0), at(1)), b.CreateFAdd(at(2), at(3)));
  };
  Value total = inPairs(sum);
  return {size % lanes ? b.CreateFAdd(total, inPairs(rest)) : total};
}

} // namespace tessera::codegen
