// The panels of a contraction: operands that don't lie as its tiles read them, copied into the
// scratch of a cell. a's rows lie k after k, or side by side ([k][m]); b's columns in panels as
// wide as a tile ([k][columns]); of bf16 two k's lie together, as vdpbf16ps multiplies them.
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "passes/codegen/kernel/ContractionWork.h"

#include <cstdlib>

namespace tessera::codegen {

Value ContractionEmitter::panelOfB(Value n0) {
  int64_t columns = plan.columns();
  // The panel's number, not its (moved) start, says where it lies.
  Value number =
      b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(n0, nLow), e.i64(columns - 1)), e.i64(columns));
  Value panels = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchB);
  return e.element(panels, plan.packedKind(),
                   b.CreateNSWMul(number, e.i64(plan.panelLength() * columns)));
}

// Lanes below high, of those from start on.
static Value lanesBelow(Emitter &e, Value start, Value high, unsigned lanes) {
  llvm::Type *type = llvm::FixedVectorType::get(e.b.getInt32Ty(), lanes);
  Value left = e.b.CreateTrunc(e.b.CreateNSWSub(high, start), e.b.getInt32Ty());
  return e.b.CreateICmpULT(e.b.CreateStepVector(type), e.splat(left, lanes));
}

void ContractionEmitter::byVectors(const LoopGroup &group, Value low, Value high, unsigned lanes,
                                   llvm::function_ref<void(Value, Value)> body) {
  Value length = b.CreateNSWSub(high, low);
  Value whole = b.CreateNSWAdd(low, b.CreateAnd(length, e.i64(-static_cast<int64_t>(lanes))));
  bool isKnown = llvm::isa<llvm::ConstantInt>(length);
  if (whole != low) {
    Value start = e.openLoop(low, whole, lanes, !isKnown);
    bind(group, start, lanes);
    body(start, nullptr);
    e.closeLoop();
  }
  if (lanes == 1 || whole == high)
    return;
  isKnown ? e.openBlock() : (void)e.openLoop(whole, high, lanes, true);
  Value mask = lanesBelow(e, whole, high, lanes);
  bind(group, whole, lanes, mask);
  body(whole, mask);
  isKnown ? e.closeBlock() : e.closeLoop();
}

void ContractionEmitter::storeLanes(Value value, Value place, int64_t align, Value mask) {
  if (mask)
    b.CreateMaskedStore(value, place, llvm::Align(align), mask);
  else
    b.CreateAlignedStore(value, place, llvm::Align(align));
}

Value ContractionEmitter::loadLanes(Value place, Value mask) {
  llvm::Align align(byteSize(kind));
  if (!mask)
    return b.CreateAlignedLoad(vectorType(), place, align);
  return b.CreateMaskedLoad(vectorType(), place, align, mask,
                            llvm::Constant::getNullValue(vectorType()));
}

void ContractionEmitter::packA(Value low, Value high, int64_t length) {
  ElementKind stored = plan.packedKind(plan.a);
  Value panel = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA);
  Value m = e.openLoop(low, high, 1, false);
  bindRow(m);
  Value to = e.element(panel, stored, b.CreateNSWMul(b.CreateNSWSub(m, low), e.i64(length)));
  const LoopGroup &inner = plan.k.back();
  unsigned lanes = e.chooseLanes(boundsOf(graph, inner).second, Graph::reachable({plan.a}));
  overRunsOfK([&](Value first, Value end) {
    byVectors(inner, first, end, lanes, [&](Value, Value mask) {
      Value row = e.splat(e.emit(plan.a), lanes);
      row = e.toMemory(stored, plan.isPaired ? pairedOrder(row) : row);
      storeLanes(row, e.element(to, stored, placeOfK()), byteSize(stored), mask);
    });
  });
  e.closeLoop();
}

llvm::SmallVector<int> pairedLanes(unsigned lanes) {
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < lanes; ++i)
    order.push_back(static_cast<int>(i ^ 1));
  return order;
}

Value ContractionEmitter::pairedOrder(Value row) {
  return b.CreateShuffleVector(
      row, pairedLanes(llvm::cast<llvm::FixedVectorType>(row->getType())->getNumElements()));
}

// What vdpbf16ps multiplies.
Value ContractionEmitter::pairs(Node *node, llvm::ArrayRef<unsigned> group, Value start,
                                unsigned lanes, Value mask) {
  const LoopGroup &inner = plan.k.back();
  Value rows[2], k = e.variables[inner.back()];
  for (int second = 0; second < 2; ++second) {
    e.openBlock();
    bind(inner, second ? b.CreateNSWAdd(k, e.i64(1)) : k);
    e.openBlock();
    bind(group, start, lanes, mask);
    rows[second] = e.toMemory(plan.packedKind(node), e.splat(e.emit(node), lanes));
    e.closeBlock();
    e.closeBlock();
  }
  e.variables[inner.back()] = k;
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < lanes; ++i)
    order.append({static_cast<int>(i + lanes), static_cast<int>(i)});
  return b.CreateShuffleVector(rows[0], rows[1], order);
}

void ContractionEmitter::overRunsOfM(llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t inner = boundsOf(graph, plan.m).second;
  bool isPartOfRun = inner % plan.mPanel == 0 && plan.mChunk % plan.mPanel == 0 && !rowsLow;
  if (plan.mAround.empty()) {
    Value high = isPartOfRun ? b.CreateNSWAdd(panelLow, e.i64(plan.mPanel)) : panelHigh;
    return body(panelLow, high, b.CreateNSWSub(e.i64(0), panelLow));
  }
  Value size = e.i64(inner);
  if (isPartOfRun) {
    e.openBlock();
    Value number = b.CreateUDiv(panelLow, size);
    bindAround(number);
    Value low = b.CreateNSWSub(panelLow, b.CreateNSWMul(number, size));
    body(low, b.CreateNSWAdd(low, e.i64(plan.mPanel)), b.CreateNSWSub(e.i64(0), low));
    return e.closeBlock();
  }
  Value end = b.CreateUDiv(b.CreateNSWAdd(panelHigh, b.CreateNSWSub(size, e.i64(1))), size);
  Value number = e.openLoop(b.CreateUDiv(panelLow, size), end, 1, false);
  bindAround(number);
  Value start = b.CreateNSWMul(number, size), row = b.CreateNSWSub(start, panelLow);
  if (plan.mPanel % inner == 0 && plan.mChunk % inner == 0 && plan.mSize % inner == 0) {
    body(e.i64(0), size, row);
    return e.closeLoop();
  }
  body(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(panelLow, start), e.i64(0)),
       b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(panelHigh, start), size), row);
  e.closeLoop();
}

// a with its rows side by side: [k][m], or [k / 2][m][2].
void ContractionEmitter::packAcrossA() {
  if (plan.inTilesA)
    return copyRows(plan.a, plan.m, panelLow, panelHigh, plan.rows, rowsInTiles(),
                    [&](Value m0) { return tileOfA(m0); });
  constexpr int64_t most = 64;
  int64_t inner = boundsOf(graph, plan.m).second;
  unsigned lanes = 16;
  while (lanes < most && inner % (2 * lanes) == 0 && plan.mPanel % (2 * lanes) == 0)
    lanes *= 2;
  lanes = std::min<unsigned>(plan.isPaired ? 16 : lanes, llvm::PowerOf2Ceil(inner));
  int64_t together = plan.isPaired ? 2 : 1;
  ElementKind stored = plan.packedKind();
  Value to = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA);
  overRunsOfM([&](Value low, Value high, Value row) {
    overK(together, [&] {
      Value line = b.CreateNSWMul(placeOfK(), e.i64(plan.packedRows()));
      byVectors(plan.m, low, high, lanes, [&](Value m, Value mask) {
        Value column = b.CreateNSWMul(b.CreateNSWAdd(row, m), e.i64(together));
        Value place = e.element(to, stored, b.CreateNSWAdd(line, column));
        if (!plan.isPaired)
          return storeLanes(e.splat(e.emit(plan.a), lanes), place, byteSize(stored), mask);
        Value value = pairs(plan.a, plan.m, m, lanes, mask);
        if (mask) {
          llvm::SmallVector<int> twice;
          for (unsigned i = 0; i < lanes; ++i)
            twice.append(2, static_cast<int>(i));
          mask = b.CreateShuffleVector(mask, twice);
        }
        storeLanes(value, place, byteSize(stored), mask);
      });
    });
  });
}

// Runs body for each run along b's innermost loop of k.
void ContractionEmitter::overRunsOfB(llvm::function_ref<void(Value low, Value high)> body) {
  llvm::ArrayRef<LoopGroup> groups = plan.kOfB;
  int64_t size = boundsOf(graph, groups.back()).second;
  if (groups.size() == 1)
    return body(kLow ? kLow : e.i64(0), kHigh ? kHigh : e.i64(size));
  llvm::SmallVector<unsigned> dims;
  for (const LoopGroup &group : groups.drop_back())
    dims.append(group.begin(), group.end());
  Value first = e.i64(0), end = e.i64(plan.kSize / size);
  if (kLow) {
    first = b.CreateUDiv(kLow, e.i64(size));
    end = b.CreateUDiv(b.CreateNSWAdd(kHigh, e.i64(size - 1)), e.i64(size));
  }
  Value number = e.openLoop(first, end, 1, false), start = b.CreateNSWMul(number, e.i64(size));
  e.bindLoop(dims, number);
  flatRun = start;
  if (!kLow)
    body(e.i64(0), e.i64(size));
  else
    body(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(kLow, start), e.i64(0)),
         b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(kHigh, start), e.i64(size)));
  flatRun = nullptr;
  e.closeLoop();
}

// A panel of b from rows of k, by squares that are turned in registers.
void ContractionEmitter::packAcrossB(Value n0, Value panel) {
  overRunsOfK([&](Value low, Value high) { packRunOfB(n0, panel, low, high); });
}

std::optional<int64_t> ContractionEmitter::rowsApart(const LoopGroup &inner) {
  const Node *read = plan.b;
  if (read->op != Op::Load || read->kind != kind || read->mask || !read->index->nodes.empty() ||
      std::abs(strideOf(read->index, inner).value_or(0)) != 1)
    return std::nullopt;
  return strideOf(read->index, plan.n);
}

Value ContractionEmitter::startOfRow(Value row, int64_t behind) {
  e.openBlock();
  bind(plan.n, row);
  Value start = e.element(e.bufferPointer(plan.b->buffer()), kind, e.emitIndex(plan.b->index));
  e.closeBlock();
  return b.CreateConstGEP1_64(e.typeOf(kind, 1), start, behind);
}

Value ContractionEmitter::rowOfB(Value row) {
  e.openBlock();
  bind(plan.n, row);
  Value values = e.splat(e.emit(plan.b), plan.lanes);
  e.closeBlock();
  return values;
}

void ContractionEmitter::packRunOfB(Value n0, Value panel, Value low, Value high) {
  const LoopGroup &inner = plan.isAlongK ? plan.kOfB.back() : plan.k.back();
  int64_t side = plan.lanes, size = boundsOf(graph, inner).second;
  // Where blocks end within a run, what lies behind a run's last square is written over by the next
  // run.
  bool isInRuns = plan.isAlongK ? plan.kOfB.size() > 1 : plan.k.size() > 1;
  bool isRagged = kLow && (isInRuns || size % side != 0), isShort = size < side;
  Value k0 = e.openLoop(low, high, side, false);
  if (!kLow && !isShort)
    k0 = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k0, e.i64(size - side));
  if (plan.isAlongK)
    flat = flatRun ? b.CreateNSWAdd(flatRun, k0) : k0;
  Value mask = isRagged || isShort ? lanesBelow(e, k0, high, side) : nullptr;
  bindMerged(inner, k0, side, mask);
  Value to = e.element(panel, kind, b.CreateNSWMul(placeOfK(), e.i64(plan.columns())));
  Value first = nullptr;
  std::optional<int64_t> apart = rowsApart(inner);
  bool isBackward = apart && strideOf(plan.b->index, inner) == -1;
  if (apart)
    first = startOfRow(n0, isBackward ? 1 - side : 0);
  if (mask && isBackward)
    mask = b.CreateVectorReverse(mask);
  for (unsigned v = 0; v < plan.vectors; ++v) {
    llvm::SmallVector<Value> rows;
    for (int64_t r = v * side; r < (v + 1) * side; ++r) {
      if (r >= plan.nSize)
        rows.push_back(llvm::Constant::getNullValue(vectorType()));
      else if (apart)
        rows.push_back(loadLanes(b.CreateConstGEP1_64(e.typeOf(kind, 1), first, r * *apart), mask));
      else
        rows.push_back(rowOfB(b.CreateNSWAdd(n0, e.i64(r))));
    }
    for (auto [i, column] : llvm::enumerate(e.transpose(std::move(rows)))) {
      int64_t row = isBackward ? side - 1 - int64_t(i) : int64_t(i);
      if (kLow || row < size)
        b.CreateAlignedStore(
            column, b.CreateConstGEP1_64(e.typeOf(kind, 1), to, row * plan.columns() + v * side),
            llvm::Align(byteSize(kind)));
    }
  }
  e.closeLoop();
  flat = nullptr;
}

// The same of pairs, by squares of as many rows of them as a register holds.
void ContractionEmitter::packPairsAcrossB(Value n0, Value panel) {
  int64_t side = plan.lanes, step = 2 * side;
  llvm::Type *square = llvm::FixedVectorType::get(b.getInt32Ty(), side);
  Node *read = unwidened(plan.b);
  llvm::Type *element = memoryType(read->kind, b.getContext());
  int64_t stride = *strideOf(read->index, plan.n);
  const LoopGroup &inner = plan.k.back();
  int64_t size = boundsOf(graph, inner).second;
  ElementKind stored = plan.packedKind();
  overRunsOfK([&](Value low, Value high) {
    Value k0 = e.openLoop(low, high, step, false);
    k0 = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k0, e.i64(size - step));
    e.openBlock();
    bind(inner, k0);
    bind(plan.n, n0);
    Value from = e.element(e.bufferPointer(read->buffer()), read->kind, e.emitIndex(read->index));
    Value to = e.element(panel, stored, b.CreateNSWMul(placeOfK(), e.i64(plan.columns())));
    for (unsigned v = 0; v < plan.vectors; ++v) {
      llvm::SmallVector<Value> rows;
      for (int64_t r = v * side; r < (v + 1) * side; ++r) {
        Value row = b.CreateConstGEP1_64(element, from, r * stride);
        rows.push_back(r < plan.nSize ? pairsOfRow(row, read->kind)
                                      : llvm::Constant::getNullValue(square));
      }
      for (auto [i, column] : llvm::enumerate(e.transpose(std::move(rows))))
        b.CreateAlignedStore(
            column, b.CreateConstGEP1_64(b.getInt32Ty(), to, i * plan.columns() + v * side),
            llvm::Align(4));
    }
    e.closeBlock();
    e.closeLoop();
  });
}

// A register of pairs of a row of b in memory.
Value ContractionEmitter::pairsOfRow(Value row, ElementKind read) {
  llvm::Type *pair = llvm::FixedVectorType::get(b.getInt32Ty(), plan.lanes);
  llvm::Align align(byteSize(read));
  if (plan.byTiles)
    return b.CreateAlignedLoad(pair, row, align);
  llvm::Type *element = plan.isOfIntegers() ? memoryType(read, b.getContext()) : b.getInt16Ty();
  Value loaded =
      b.CreateAlignedLoad(llvm::FixedVectorType::get(element, 2 * plan.lanes), row, align);
  if (byteSize(read) == 1) {
    llvm::Type *wide = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * plan.lanes);
    loaded = isSigned(read) ? b.CreateSExt(loaded, wide) : b.CreateZExt(loaded, wide);
  }
  return b.CreateBitCast(pairedOrder(loaded), pair);
}

// b's columns of this chunk, in panels as wide as a tile. Rows of k are read as they lie, so that
// what comes next in memory is fetched ahead.
void ContractionEmitter::packB() {
  int64_t columns = plan.columns();
  ElementKind stored = plan.packedKind();
  if (plan.isAlongK) // rows of k that lie side by side in memory, for all columns
    return overRunsOfB([&](Value low, Value high) {
      overTiles(nLow, nHigh, columns, plan.nSize,
                [&](Value n0, Value) { packRunOfB(n0, panelOfB(n0), low, high); });
    });
  if (plan.acrossB)
    return overTiles(nLow, nHigh, columns, plan.nSize, [&](Value n0, Value) {
      plan.isPaired ? packPairsAcrossB(n0, panelOfB(n0)) : packAcrossB(n0, panelOfB(n0));
    });
  if (plan.nSize >= columns && plan.isBySets && liesAlong(plan.b, kind, plan.n))
    return copyRows(plan.b, plan.n, nLow, nHigh, columns, plan.nSize,
                    [&](Value n0) { return panelOfB(n0); });
  overK(plan.isPaired ? 2 : 1, [&] {
    Value row = b.CreateNSWMul(placeOfK(), e.i64(columns));
    overTiles(nLow, nHigh, columns, plan.nSize, [&](Value n0, Value) {
      Value to = e.element(panelOfB(n0), stored, row);
      if (plan.isPaired) {
        b.CreateAlignedStore(pairs(plan.b, plan.n, n0, columns, columnMask()), to, llvm::Align(4));
        return;
      }
      e.openBlock();
      bind(plan.n, n0, columns, columnMask());
      b.CreateAlignedStore(e.splat(e.emit(plan.b), columns), to, llvm::Align(byteSize(kind)));
      e.closeBlock();
    });
  });
}

} // namespace tessera::codegen
