// The panels of a contraction: operands that don't lie as its tiles read them, copied into the
// scratch of a cell. a's rows lie k after k, or side by side ([k][m]); b's columns in panels as
// wide as a tile ([k][columns]); of bf16 two k's lie together, as vdpbf16ps multiplies them.
#include "passes/codegen/cpu/ContractionEmitter.h"

namespace tessera::codegen {

Value ContractionEmitter::panelOfB(Value n0) {
  int64_t columns = plan.columns();
  // The panel's number, not its (moved) start, says where it lies.
  Value number =
      b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(n0, nLow), e.i64(columns - 1)), e.i64(columns));
  Value panels = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchB);
  return e.element(panels, plan.hasPairs() ? ElementKind::BF16 : kind,
                   b.CreateNSWMul(number, e.i64(plan.panelK() * columns)));
}

void ContractionEmitter::packA(Value low, Value high, int64_t length) {
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  if (plan.byTiles)
    stored = plan.a->kind == ElementKind::U16 ? ElementKind::U16 : ElementKind::BF16;
  Value to = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA);
  to = e.element(to, stored, b.CreateNSWMul(low, e.i64(-length)));
  Index offset = graph.multiply(graph.dim(plan.m.back()), length);
  for (auto [group, stride] : llvm::zip(plan.k, plan.kStride))
    offset = graph.add(offset, graph.multiply(graph.dim(group.back()), stride));
  bind(plan.m, e.openLoop(low, high, 1, false));
  llvm::ArrayRef<LoopGroup> outer = llvm::ArrayRef(plan.k).drop_back();
  for (const LoopGroup &group : outer)
    bind(group, e.openLoop(e.i64(0), e.i64(boundsOf(graph, group).second), 1, false));
  const LoopGroup &inner = plan.k.back();
  int64_t size = boundsOf(graph, inner).second;
  unsigned lanes = e.chooseLanes(size, Graph::reachable({plan.a}));
  int64_t whole = size / lanes * lanes;
  auto copy = [&] {
    Value row = e.emit(plan.a);
    e.store(to, stored, offset, plan.isPaired ? pairedOrder(row) : row);
  };
  if (whole) {
    bind(inner, e.openLoop(e.i64(0), e.i64(whole), lanes, false), lanes);
    copy();
    e.closeLoop();
  }
  if (whole < size) {
    unsigned rest = std::max<unsigned>(llvm::PowerOf2Ceil(size - whole), 2);
    llvm::SmallVector<llvm::Constant *> exists;
    for (unsigned i = 0; i < rest; ++i)
      exists.push_back(b.getInt1(whole + i < size));
    e.openBlock();
    bind(inner, e.i64(whole), rest, llvm::ConstantVector::get(exists));
    copy();
    e.closeBlock();
  }
  for (size_t i = 0; i < outer.size() + 1; ++i)
    e.closeLoop();
}

// vdpbf16ps adds the product of the second of a pair first, so that comes to hold the lower k:
// products are then added in the order of k, as fused multiply-adds elsewhere add them.
Value ContractionEmitter::pairedOrder(Value row) {
  llvm::SmallVector<int> order;
  for (int i = 0, n = llvm::cast<llvm::FixedVectorType>(row->getType())->getNumElements(); i < n;
       ++i)
    order.push_back(i ^ 1);
  return b.CreateShuffleVector(row, order);
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
    rows[second] = e.toMemory(ElementKind::BF16, e.splat(e.emit(node), lanes));
    e.closeBlock();
    e.closeBlock();
  }
  e.variables[inner.back()] = k;
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < lanes; ++i)
    order.append({static_cast<int>(i + lanes), static_cast<int>(i)});
  return b.CreateShuffleVector(rows[0], rows[1], order);
}

// a with its rows side by side: [k][m], or [k / 2][m][2].
void ContractionEmitter::packAcrossA() {
  constexpr unsigned lanes = 16;
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  Value to = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA);
  overK(plan.isPaired ? 2 : 1, [&] {
    Value m0 = e.openLoop(panelLow, panelHigh, lanes, false);
    Value mask = nullptr;
    if (plan.mSize % lanes != 0 || plan.mPanel % lanes != 0) {
      llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
      Value left = b.CreateTrunc(b.CreateNSWSub(panelHigh, m0), b.getInt32Ty());
      mask = b.CreateICmpULT(b.CreateStepVector(type), e.splat(left, lanes));
    }
    Value row = b.CreateNSWMul(placeOfK(), e.i64(plan.packedRows()));
    Value column = b.CreateNSWMul(b.CreateNSWSub(m0, panelLow), e.i64(plan.isPaired ? 2 : 1));
    Value place = e.element(to, stored, b.CreateNSWAdd(row, column)), value;
    if (plan.isPaired) {
      value = pairs(plan.a, plan.m, m0, lanes, mask);
    } else {
      e.openBlock();
      bind(plan.m, m0, lanes, mask);
      value = e.splat(e.emit(plan.a), lanes);
      e.closeBlock();
    }
    b.CreateAlignedStore(value, place, llvm::Align(byteSize(stored)));
    e.closeLoop();
  });
}

// A panel of b from rows of k: by squares of 16 x 16 elements, or pairs of them.
void ContractionEmitter::packAcrossB(Value n0, Value panel) {
  ElementKind stored = plan.hasPairs() ? ElementKind::BF16 : kind;
  llvm::Type *element =
      plan.hasPairs() ? static_cast<llvm::Type *>(b.getInt32Ty()) : b.getFloatTy();
  llvm::Type *square = llvm::FixedVectorType::get(element, 16);
  int64_t step = plan.hasPairs() ? 32 : 16, stride = *strideOf(plan.b->index, plan.n);
  for (const LoopGroup &group : llvm::ArrayRef(plan.k).drop_back())
    bind(group, e.openLoop(e.i64(0), e.i64(boundsOf(graph, group).second), 1, false));
  const LoopGroup &inner = plan.k.back();
  int64_t size = boundsOf(graph, inner).second;
  Value k0 = e.openLoop(kLow ? kLow : e.i64(0), kHigh ? kHigh : e.i64(size), step, false);
  k0 = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k0, e.i64(size - step));
  e.openBlock();
  bind(inner, k0);
  bind(plan.n, n0);
  Value from = e.element(e.bufferPointer(plan.b->buffer()), stored, e.emitIndex(plan.b->index));
  Value to = e.element(panel, stored, b.CreateNSWMul(placeOfK(), e.i64(plan.columns())));
  for (unsigned v = 0; v < plan.vectors; ++v) {
    llvm::SmallVector<Value> rows;
    for (int64_t r = v * 16; r < (v + 1) * 16; ++r) {
      Value row = b.CreateConstGEP1_64(memoryType(stored, b.getContext()), from, r * stride);
      Value loaded = llvm::Constant::getNullValue(square);
      if (r < plan.nSize && plan.byTiles) {
        loaded = b.CreateAlignedLoad(square, row, llvm::Align(2));
      } else if (r < plan.nSize && plan.isPaired) {
        auto *pairs = llvm::FixedVectorType::get(b.getInt16Ty(), 32);
        loaded = pairedOrder(b.CreateAlignedLoad(pairs, row, llvm::Align(2)));
        loaded = b.CreateBitCast(loaded, square);
      } else if (r < plan.nSize) {
        loaded = b.CreateAlignedLoad(square, row, llvm::Align(2));
      }
      rows.push_back(loaded);
    }
    for (auto [i, column] : llvm::enumerate(e.transpose(std::move(rows))))
      b.CreateAlignedStore(column, b.CreateConstGEP1_64(element, to, i * plan.columns() + v * 16),
                           llvm::Align(4));
  }
  e.closeBlock();
  for (size_t i = 0; i < plan.k.size(); ++i)
    e.closeLoop();
}

// b's columns of this chunk, in panels as wide as a tile. Rows of k are read as they lie, so that
// what comes next in memory is fetched ahead.
void ContractionEmitter::packB() {
  int64_t columns = plan.columns();
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  if (plan.acrossB)
    return overTiles(nLow, nHigh, columns, plan.nSize,
                     [&](Value n0, Value) { packAcrossB(n0, panelOfB(n0)); });
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
