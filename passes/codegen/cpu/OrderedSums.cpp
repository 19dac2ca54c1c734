// Sums (products, maxima, ..) in an order that the operation's shape decides, never what it is
// fused with, how its loops are split and merged, or which of them runs by vectors:
//
//   columns: along each reduced dimension terms are added in fours, one after the other; the sums
//            of fours in sixteens, the sums of those in sixteens, and so on. A term of an outer
//            dimension is the sum along the inner ones. A sum of parts (ColumnSums.h), which are sums
//            of fours or sixteens, goes on from there.
//   rows:    the same, where the terms of the innermost dimension are units of sixteen elements
//            side by side, added lane by lane; less than four units that are left over at its end
//            are added last. At the very end the sixteen lanes are folded by halves.
//   chain:   fused multiply-adds, one after the other, in blocks of 128 of the flattened
//            dimensions; then the sums of the blocks. Of bf16 where the processor has tiles for it,
//            as they add (ContractionTiles.cpp): in units of 32 fused multiply-adds of the even
//            terms and of the odd ones, and the sum of both; then the sums of units, one after the
//            other, in blocks of 4096 terms.
//
// So errors grow with the logarithm of the length, or (chain) with the block and the number of
// blocks. See docs/numbers.md.
#include "passes/codegen/cpu/SumSlots.h"

#include <numeric>

namespace tessera::codegen {

llvm::SmallVector<Value> registersOf(llvm::IRBuilder<> &b, Value value, unsigned lanes) {
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

namespace {

class OrderedSum : SumSlots {
public:
  OrderedSum(Emitter &e, const Reduction &reduction, unsigned outerLanes)
      : SumSlots(e, reduction, outerLanes) {
    if (reduction.order != Reduction::Rows)
      return;
    const auto &inner = reduction.loops.back();
    size = pointsOf(e.graph, inner);
    unit = std::min<int64_t>(16, llvm::PowerOf2Ceil(size));
    group = collapseLoops(e.graph, inner, e.live, {});
    isByVectors = outerLanes == 1 && group.size() == 1;
    if (isByVectors)
      width = unit;
  }

  Slots emit() {
    Slots sums = emitSums();
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = accumulators.toTerm(i, sum);
    return sums;
  }

private:
  Slots emitSums() {
    if (reduction.order == Reduction::Rows && !isByVectors)
      return sumLanes();
    Slots total = cleared();
    addLoop(0, total);
    e.resumeInsertion();
    Slots sums = loaded(total);
    return isByVectors ? foldLanes(sums) : sums;
  }

  // The sum over the loops from `depth` on, added to slots that are still clear.
  void addLoop(size_t depth, llvm::ArrayRef<Value> into) {
    const auto &loop = reduction.loops[depth];
    bool isInner = depth + 1 == reduction.loops.size();
    if (isInner && reduction.order == Reduction::Rows)
      return isByVectors ? addRow(into) : addLane(into);
    int64_t count = pointsOf(e.graph, loop);
    auto addTerms = [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      e.bindLoop(loop, e.openLoop(low, high, 1, false));
      if (isInner) {
        add(into, terms());
      } else {
        Slots inner = cleared();
        addLoop(depth + 1, inner);
        add(into, loaded(inner));
      }
      e.closeLoop();
    };
    if (isInner && reduction.isOfParts)
      return inSixteens(e.i64(0), e.i64(count), count, into,
                        [&](Value part, llvm::ArrayRef<Value> into) {
                          addTerms(part, b.CreateNSWAdd(part, e.i64(1)), into);
                        });
    if (count <= 4)
      return addTerms(e.i64(0), e.i64(count), into);
    int64_t fours = llvm::divideCeil(count, 4);
    inSixteens(e.i64(0), e.i64(fours), fours, into, [&](Value four, llvm::ArrayRef<Value> into) {
      Value low = b.CreateShl(four, 2);
      Value high = atMost(b.CreateNSWAdd(low, e.i64(4)), e.i64(count));
      addTerms(low, high, into);
    });
  }

  // The innermost dimension of rows, by vectors.
  void addRow(llvm::ArrayRef<Value> into) {
    auto rowsAhead = e.rowsAhead(reduction);
    auto addVector = [&](Value start, unsigned lanes, Value mask, llvm::ArrayRef<Value> into) {
      e.bindLevel(group[0].back(), setOf(group[0]), start, lanes, mask);
      for (const Emitter::NextRow &row : rowsAhead)
        e.askForNextRow(row, start);
      if (e.besidePass == &reduction)
        e.writeBeside(start, lanes, mask);
      Slots values = terms(lanes);
      for (unsigned part = 0; part < lanes / unit; ++part) {
        Slots registers;
        for (auto [i, value] : llvm::enumerate(values)) {
          registers.push_back(registersOf(b, value, unit)[part]);
          if (mask)
            registers.back() = b.CreateSelect(mask, registers.back(), neutral(i));
        }
        add(into, registers);
      }
    };
    // As many units at a time as registers allow.
    unsigned lanes = e.chooseLanes(4 * unit, Graph::reachable(reduction.inputs));
    lanes = std::clamp<unsigned>(lanes, unit, 4 * unit);
    int64_t fours = size / (4 * unit), whole = fours * 4 * unit;
    if (fours)
      inSixteens(e.i64(0), e.i64(fours), fours, into, [&](Value four, llvm::ArrayRef<Value> into) {
        Value start = b.CreateNSWMul(four, e.i64(4 * unit));
        if (lanes == 4 * unit) {
          e.openBlock();
          addVector(start, lanes, nullptr, into);
          e.closeBlock();
          return;
        }
        addVector(
            e.openLoop(start, b.CreateNSWAdd(start, e.i64(4 * unit)), lanes, /*mayBeEmpty=*/false),
            lanes, nullptr, into);
        e.closeLoop();
      });
    if (whole == size)
      return;
    Slots rest = cleared();
    int64_t end = size - size % unit;
    if (lanes == unit && whole < end) {
      addVector(e.openLoop(e.i64(whole), e.i64(end), unit, false), unit, nullptr, rest);
      e.closeLoop();
      whole = end;
    }
    while (whole < size) {
      bool isEnd = whole == end;
      unsigned width =
          isEnd ? unit : std::min<unsigned>(lanes, llvm::bit_floor<uint64_t>(end - whole));
      e.openBlock();
      addVector(e.i64(whole), width, isEnd ? maskOfFirst(b, size - end, unit) : nullptr, rest);
      e.closeBlock();
      whole += width;
    }
    add(into, loaded(rest));
  }

  // What one lane of rows gets: every `unit`th element, from `lane` on.
  void addLane(llvm::ArrayRef<Value> into) {
    int64_t fours = size / (4 * unit), whole = fours * 4 * unit;
    auto addTerms = [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      e.bindLoop(reduction.loops.back(), e.openLoop(low, high, unit, /*mayBeEmpty=*/true));
      add(into, terms());
      e.closeLoop();
    };
    if (fours)
      inSixteens(e.i64(0), e.i64(fours), fours, into, [&](Value four, llvm::ArrayRef<Value> into) {
        Value start = b.CreateNSWMul(four, e.i64(4 * unit));
        addTerms(b.CreateNSWAdd(start, lane), b.CreateNSWAdd(start, e.i64(4 * unit)), into);
      });
    if (whole == size)
      return;
    Slots rest = cleared();
    addTerms(b.CreateNSWAdd(e.i64(whole), lane), e.i64(size), rest);
    add(into, loaded(rest));
  }

  // Rows where another loop runs by vectors, or the innermost dimension lies in pieces: a lane
  // after the other.
  Slots sumLanes() {
    Slots places;
    for (size_t i = 0; i < reduction.inputs.size(); ++i)
      places.push_back(e.temporary(llvm::ArrayType::get(typeOf(i), unit), "lanes"));
    auto place = [&](size_t input, Value number) {
      return b.CreateInBoundsGEP(typeOf(input), places[input], number);
    };
    lane = e.openLoop(e.i64(0), e.i64(unit), 1, false);
    Slots sum = cleared();
    addLoop(0, sum);
    for (auto [i, value] : llvm::enumerate(loaded(sum)))
      b.CreateStore(value, place(i, lane));
    e.closeLoop();
    e.resumeInsertion();
    std::vector<Slots> lanes(unit);
    for (unsigned number = 0; number < unit; ++number)
      for (size_t i = 0; i < places.size(); ++i)
        lanes[number].push_back(b.CreateLoad(typeOf(i), place(i, e.i64(number))));
    return foldByHalves(std::move(lanes));
  }

  Slots foldLanes(Slots vectors) {
    for (unsigned half = unit / 2; half > 0; half /= 2) {
      Slots lower, upper;
      for (Value vector : vectors) {
        lower.push_back(registersOf(b, vector, half)[0]);
        upper.push_back(registersOf(b, vector, half)[1]);
      }
      vectors = combined(lower, upper);
    }
    for (Value &vector : vectors)
      if (vector->getType()->isVectorTy())
        vector = b.CreateExtractElement(vector, uint64_t(0));
    return vectors;
  }

  // Rows: elements of the innermost dimension, and those of a unit.
  int64_t size = 1;
  unsigned unit = 1;
  llvm::SmallVector<LoopGroup> group;
  bool isByVectors = false;
  Value lane = nullptr;
};

} // namespace

llvm::SmallVector<Value> Emitter::orderedSum(const Reduction &reduction, unsigned outerLanes) {
  Slots sums = OrderedSum(*this, reduction, outerLanes).emit();
  return {sums.begin(), sums.end()};
}

// `body` at the positions [low, high) of the loop over `dims`: they are divided once a run of the
// innermost loop.
void Emitter::overRuns(llvm::ArrayRef<unsigned> dims, Value low, Value high,
                       llvm::function_ref<void()> body) {
  auto groups = collapseLoops(graph, dims, live, {});
  if (groups.size() == 1) {
    bindLoop(groups[0], openLoop(low, high, 1, false));
    body();
    return closeLoop();
  }
  llvm::ArrayRef<unsigned> inner = groups.back();
  llvm::SmallVector<unsigned> around;
  for (const LoopGroup &group : llvm::ArrayRef(groups).drop_back())
    around.append(group.begin(), group.end());
  Value size = i64(pointsOf(graph, inner));
  Value end = b.CreateUDiv(b.CreateNSWAdd(high, b.CreateNSWSub(size, i64(1))), size);
  Value number = openLoop(b.CreateUDiv(low, size), end, 1, false);
  bindLoop(around, number);
  Value start = b.CreateNSWMul(number, size);
  Value first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(low, start), i64(0));
  Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(high, start), size);
  bindLoop(inner, openLoop(first, last, 1, false));
  body();
  closeLoop();
  closeLoop();
}

std::pair<Value, Value> Emitter::openBlocks(const Reduction &reduction) {
  constexpr int64_t block = Reduction::chainBlock;
  if (reduction.blockEnds.empty()) {
    Value size = i64(pointsOf(graph, reduction.dims)), low = openLoop(i64(0), size, block, false);
    return {low,
            b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, i64(block)), size)};
  }
  llvm::SmallVector<int64_t> bounds{0};
  llvm::append_range(bounds, reduction.blockEnds);
  llvm::Constant *data = llvm::ConstantDataArray::get(b.getContext(), llvm::ArrayRef(bounds));
  auto *table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, data, "ends");
  Value number = openLoop(i64(0), i64(int64_t(reduction.blockEnds.size())), 1, false);
  auto boundAt = [&](int64_t next) {
    Value place = element(table, ElementKind::I64, b.CreateNSWAdd(number, i64(next)));
    return b.CreateAlignedLoad(b.getInt64Ty(), place, llvm::Align(8));
  };
  Value low = boundAt(0);
  return {low, boundAt(1)};
}

Value Emitter::chainOfProducts(const Reduction &reduction, unsigned outerLanes) {
  Node *product = reduction.inputs[0];
  llvm::Type *type = typeOf(product->kind, outerLanes);
  Value sum = temporary(type, "sum"), part = temporary(type, "part");
  auto clear = [&](Value slot) { b.CreateStore(llvm::Constant::getNullValue(type), slot); };
  auto addProduct = [&] {
    Value lhs = splat(emit(product->operands[0]), outerLanes);
    Value rhs = splat(emit(product->operands[1]), outerLanes);
    Value old = b.CreateLoad(type, part);
    b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {lhs, rhs, old}), part);
  };
  int64_t size = pointsOf(graph, reduction.dims);
  bool hasEnds = !reduction.blockEnds.empty(), isOfOneBlock = reduction.blockEnds.size() == 1;
  bool isByUnits = reduction.isOfBf16 && features.bf16Tiles;
  int64_t block = isByUnits ? Reduction::tileBlock : Reduction::chainBlock;
  // The even and the odd ones of a unit take turns in `even` and `odd`.
  auto addUnits = [&](Value low, Value high) {
    Value even = temporary(type, "even"), odd = temporary(type, "odd");
    Value first = openLoop(low, high, Reduction::tileUnit, false);
    Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                         b.CreateNSWAdd(first, i64(Reduction::tileUnit)), high);
    clear(even), clear(odd);
    bindLoop(reduction.dims, openLoop(first, last, 1, false));
    Value lhs = splat(emit(product->operands[0]), outerLanes);
    Value rhs = splat(emit(product->operands[1]), outerLanes);
    Value old = b.CreateLoad(type, even);
    b.CreateStore(b.CreateLoad(type, odd), even);
    b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {lhs, rhs, old}), odd);
    closeLoop();
    Value both = b.CreateFAdd(b.CreateLoad(type, even), b.CreateLoad(type, odd));
    b.CreateStore(b.CreateFAdd(b.CreateLoad(type, part), both), part);
    closeLoop();
  };
  clear(part);
  if (isByUnits && size <= block) {
    addUnits(i64(0), i64(size));
    resumeInsertion();
    return b.CreateLoad(type, part);
  }
  if (hasEnds ? isOfOneBlock : size <= block) {
    auto groups = collapseLoops(graph, reduction.dims, live, {});
    for (const auto &group : groups)
      bindLoop(group, openLoop(i64(0), i64(pointsOf(graph, group)), 1, false));
    addProduct();
    for (size_t i = 0; i < groups.size(); ++i)
      closeLoop();
    resumeInsertion();
    return b.CreateLoad(type, part);
  }
  clear(sum);
  Value low, high;
  if (isByUnits) {
    low = openLoop(i64(0), i64(size), block, false);
    high =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, i64(block)), i64(size));
  } else {
    std::tie(low, high) = openBlocks(reduction);
  }
  clear(part);
  if (isByUnits) {
    addUnits(low, high);
  } else {
    overRuns(reduction.dims, low, high, addProduct);
  }
  b.CreateStore(b.CreateFAdd(b.CreateLoad(type, sum), b.CreateLoad(type, part)), sum);
  closeLoop();
  resumeInsertion();
  return b.CreateLoad(type, sum);
}

} // namespace tessera::codegen
