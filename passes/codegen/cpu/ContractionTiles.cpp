// A contraction of bf16 by the processor's tiles (Intel, AMX): up to 32 x 32 sums in four tiles,
// from 32 rows of a and 32 columns of b, each two tiles. An instruction multiplies 16 rows of a
// unit of 32 k's by the same k's of 16 columns:
//
//   a, row after row, as it lies or copied      b, copied: pairs of k lie together
//     k0 k1 k2 k3 ..                              (k0 k1) of column 0, (k0 k1) of column 1, ..
//     k0 k1 k2 k3 ..                              (k2 k3) of column 0, (k2 k3) of column 1, ..
//
// It adds up the even k's and the odd ones, then both, then that to the sum: an order of its own,
// which chainOfProducts follows where a product is no kernel of this kind (docs/numbers.md).
//
// b's columns of a cell are copied once and stay in the second-level cache, while rows of a go past
// them. The tiles' registers are numbered here: nothing is left for LLVM to allocate.
#include "passes/codegen/cpu/TileEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tessera::codegen {

static constexpr int64_t unit = Reduction::tileUnit, block = Reduction::tileBlock;
static constexpr unsigned firstA = 4, firstB = 6; // the sums are the tiles 0 to 3

void TileEmitter::reserveScratch() {
  if (plan.packsA)
    scratchA = function.reserveScratch(plan.rows * rowLength() * 2);
  if (plan.acrossA)
    scratchTurned = function.reserveScratch(unit * 2 * side * 2);
  scratchB =
      function.reserveScratch(llvm::alignTo(plan.nChunk, plan.columns()) * plan.panelK() * 2);
  if (plan.kBlock)
    scratchSums = function.reserveScratch(plan.sumElements() * 4);
}

// The shapes of the tiles, for the instruction that sets them: rows and the bytes of one.
void TileEmitter::beginCell() {
  std::array<uint8_t, 64> shapes{};
  auto shape = [&](unsigned tile, int64_t rows) {
    shapes[16 + 2 * tile] = 64;
    shapes[48 + tile] = static_cast<uint8_t>(rows);
  };
  shapes[0] = 1; // palette
  for (unsigned r = 0; r < 2; ++r) {
    int64_t rows = std::clamp<int64_t>(plan.rows - r * side, 1, side);
    shape(2 * r, rows);
    shape(2 * r + 1, rows);
    shape(firstA + r, rows);
    shape(firstB + r, side);
  }
  llvm::Constant *value = llvm::ConstantDataArray::get(b.getContext(), shapes);
  auto *place = new llvm::GlobalVariable(function.module, value->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, value, "tiles");
  place->setAlignment(llvm::Align(64));
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {place});
}

void TileEmitter::endCell() {
  b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, llvm::ArrayRef<llvm::Type *>(),
                    llvm::ArrayRef<Value>());
}

void TileEmitter::emitPoint() {
  if (plan.kBlock)
    return emitBlocks();
  packColumns();
  overTiles(mLow, mHigh, plan.rows, plan.mSize, [&](Value m0, Value skipM) {
    if (plan.packsA)
      plan.acrossA ? packRowsAcross(m0) : packRows(m0);
    overTiles(nLow, nHigh, plan.columns(), plan.nSize,
              [&](Value n0, Value skipN) { emitSums({m0, n0, skipM, skipN}); });
  });
}

//===--- Panels ---===//

// At one k: `lanes` elements from `start` on in `group`, as bf16's bits.
Value TileEmitter::rowOfBits(Node *node, Value k, llvm::ArrayRef<unsigned> group, Value start,
                             unsigned lanes, Value mask) {
  e.openBlock();
  if (plan.k.size() == 1)
    bind(plan.k[0], k);
  else
    e.bindLoop(plan.product->reduction->dims, k);
  e.openBlock();
  bind(group, start, lanes, mask);
  Value row = e.splat(e.emit(node), lanes);
  if (node->kind != ElementKind::U16)
    row = e.toMemory(ElementKind::BF16, row);
  e.closeBlock();
  e.closeBlock();
  return row;
}

Value TileEmitter::interleaved(Value even, Value odd) {
  int lanes = llvm::cast<llvm::FixedVectorType>(even->getType())->getNumElements();
  llvm::SmallVector<int> order;
  for (int i = 0; i < lanes; ++i)
    order.append({i, i + lanes});
  return b.CreateShuffleVector(even, odd, order);
}

void TileEmitter::packColumns() {
  if (plan.acrossB)
    overTiles(nLow, nHigh, plan.columns(), plan.nSize,
              [&](Value n0, Value) { packPairsAcrossB(n0, panelOfB(n0)); });
  else
    packPairs();
  // What fills up the last unit.
  int64_t first = llvm::alignTo(plan.kSize, 2);
  if (first >= plan.panelK())
    return;
  overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value) {
    Value panel = panelOfB(n0), k = e.openLoop(e.i64(first), e.i64(plan.panelK()), 2, false);
    storePair(panel, k, llvm::Constant::getNullValue(bitsType(2 * plan.columns())));
    e.closeLoop();
  });
}

void TileEmitter::storePair(Value panel, Value k, Value pair) {
  b.CreateAlignedStore(pair, bytesFrom(panel, b.CreateNSWMul(k, e.i64(plan.columns() * 2))),
                       llvm::Align(4));
}

// All panels at a time: b is read as it lies.
void TileEmitter::packPairs() {
  unsigned columns = plan.columns();
  auto rowAt = [&](Value k, Value n0) {
    return rowOfBits(plan.b, k, plan.n, n0, columns, columnMask());
  };
  if (plan.kSize >= 2) {
    Value low = kLow ? kLow : e.i64(0), high = kLow ? kHigh : e.i64(plan.kSize / 2 * 2);
    Value k = e.openLoop(low, high, 2, false);
    overTiles(nLow, nHigh, columns, plan.nSize, [&](Value n0, Value) {
      Value even = rowAt(k, n0), odd = rowAt(b.CreateNSWAdd(k, e.i64(1)), n0);
      storePair(panelOfB(n0), b.CreateNSWSub(k, low), interleaved(even, odd));
    });
    e.closeLoop();
  }
  if (plan.kSize % 2 == 0)
    return;
  Value last = e.i64(plan.kSize - 1), nothing = llvm::Constant::getNullValue(bitsType(columns));
  overTiles(nLow, nHigh, columns, plan.nSize, [&](Value n0, Value) {
    storePair(panelOfB(n0), last, interleaved(rowAt(last, n0), nothing));
  });
}

void TileEmitter::packRows(Value m0) {
  packA(m0, b.CreateNSWAdd(m0, e.i64(plan.rows)), rowLength());
  int64_t rest = plan.panelK() - plan.kSize;
  if (rest <= 0)
    return;
  Value to = bytesFrom(e.scratch, scratchA + plan.kSize * 2);
  Value r = e.openLoop(e.i64(0), e.i64(plan.rows), 1, false);
  b.CreateAlignedStore(llvm::Constant::getNullValue(bitsType(rest)),
                       bytesFrom(to, b.CreateNSWMul(r, e.i64(rowLength() * 2))), llvm::Align(2));
  e.closeLoop();
}

// Rows of a that lie side by side: a unit of k's, row of m's after row, then turned by squares of
// 16 x 16 pairs.
void TileEmitter::packRowsAcross(Value m0) {
  int64_t width = tileRows() * side;
  llvm::Type *rowType = bitsType(width), *half = bitsType(side);
  Value from = bytesFrom(e.scratch, scratchTurned);
  Value mask = nullptr;
  if (plan.rows < width)
    mask = maskOfFirst(b, plan.rows, unsigned(width));
  e.openBlock();
  if (!plan.mAround.empty()) { // whole tiles lie in one of the innermost loop's runs (chooseCopies)
    Value rows = e.i64(boundsOf(graph, plan.m).second);
    bindAround(b.CreateUDiv(m0, rows));
    m0 = b.CreateURem(m0, rows);
  }
  Value start = kLow ? kLow : e.i64(0), stop = kLow ? kHigh : e.i64(plan.kSize);
  Value k0 = e.openLoop(start, stop, unit, false);
  auto rowOf = [&](Value k) {
    return bytesFrom(from, b.CreateNSWMul(b.CreateNSWSub(k, k0), e.i64(width * 2)));
  };
  Value next = b.CreateNSWAdd(k0, e.i64(unit));
  Value end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, stop);
  Value k = e.openLoop(k0, end, 1, false);
  b.CreateAlignedStore(rowOfBits(plan.a, k, plan.m, m0, width, mask), rowOf(k), llvm::Align(2));
  e.closeLoop();
  if (plan.kSize < plan.panelK()) {
    k = e.openLoop(end, next, 1, true);
    b.CreateAlignedStore(llvm::Constant::getNullValue(rowType), rowOf(k), llvm::Align(2));
    e.closeLoop();
  }
  llvm::Type *square = llvm::FixedVectorType::get(b.getInt32Ty(), side);
  for (int64_t h = 0; h < tileRows(); ++h) {
    llvm::SmallVector<Value> pairs;
    auto load = [&](int64_t row) {
      return b.CreateAlignedLoad(half, bytesFrom(from, (row * width + h * side) * 2),
                                 llvm::Align(32));
    };
    for (int64_t i = 0; i < side; ++i)
      pairs.push_back(b.CreateBitCast(interleaved(load(2 * i), load(2 * i + 1)), square));
    Value to = bytesFrom(bytesFrom(e.scratch, scratchA + h * side * rowLength() * 2),
                         b.CreateNSWMul(b.CreateNSWSub(k0, start), e.i64(2)));
    for (auto [i, row] : llvm::enumerate(e.transpose(std::move(pairs))))
      if (h * side + static_cast<int64_t>(i) < plan.rows)
        b.CreateAlignedStore(row, bytesFrom(to, static_cast<int64_t>(i) * rowLength() * 2),
                             llvm::Align(64));
  }
  e.closeLoop();
  e.closeBlock();
}

//===--- Sums ---===//

// The tiles of sums get the products of k's [low, high).
void TileEmitter::multiplyUnits(Value rows, int64_t stride, Value panel, Value low, Value high) {
  auto tile = [&](int64_t number) { return b.getInt8(static_cast<uint8_t>(number)); };
  auto load = [&](int64_t number, Value from, int64_t bytes) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {tile(number), from, e.i64(bytes)});
  };
  for (int64_t r = 0; r < tileRows(); ++r)
    for (unsigned v = 0; v < plan.vectors; ++v)
      b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {tile(2 * r + v)});
  int64_t columnBytes = plan.columns() * 2;
  Value k = e.openLoop(low, high, unit, false);
  Value fromA = bytesFrom(rows, b.CreateNSWMul(k, e.i64(2)));
  Value fromB = bytesFrom(panel, b.CreateNSWMul(k, e.i64(columnBytes)));
  for (int64_t r = 0; r < tileRows(); ++r) {
    load(firstA + r, bytesFrom(fromA, r * side * stride), stride);
    for (unsigned v = 0; v < plan.vectors; ++v) {
      if (r == 0)
        load(firstB + v, bytesFrom(fromB, int64_t(v) * 64), columnBytes * 2);
      b.CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps, {},
                        {tile(2 * r + v), tile(firstA + r), tile(firstB + v)});
    }
  }
  e.closeLoop();
}

void TileEmitter::storeSums(Value to, int64_t stride) {
  for (int64_t r = 0; r < tileRows(); ++r)
    for (unsigned v = 0; v < plan.vectors; ++v)
      b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                        {b.getInt8(2 * r + v), bytesFrom(to, r * side * stride + int64_t(v) * 64),
                         e.i64(stride)});
}

std::pair<Value, int64_t> TileEmitter::rowsOfA(Tile tile) {
  if (plan.packsA)
    return {bytesFrom(e.scratch, scratchA), rowLength() * 2};
  e.openBlock();
  bind(plan.m, tile.m0);
  bind(plan.k[0], kLow ? kLow : e.i64(0));
  Value rows =
      e.element(e.bufferPointer(plan.a->buffer()), plan.a->kind, e.emitIndex(plan.a->index));
  e.closeBlock();
  return {rows, *strideOf(plan.a->index, plan.m) * 2};
}

// A tile's sums so far get those of a block.
void TileEmitter::addToSums(Value sums, Value part) {
  llvm::Type *row = e.typeOf(kind, plan.columns());
  auto at = [&](Value from, Value r) { return b.CreateInBoundsGEP(row, from, r); };
  Value r = e.openLoop(e.i64(0), e.i64(plan.rows), 1, false);
  Value sum = b.CreateFAdd(b.CreateAlignedLoad(row, at(sums, r), llvm::Align(64)),
                           b.CreateAlignedLoad(row, at(part, r), llvm::Align(64)));
  b.CreateAlignedStore(sum, at(sums, r), llvm::Align(64));
  e.closeLoop();
}

// Block after block of k: sums of all of the cell's tiles wait in the scratch.
void TileEmitter::emitBlocks() {
  llvm::Type *row = e.typeOf(kind, plan.columns());
  Value all = bytesFrom(e.scratch, scratchSums);
  Value r = e.openLoop(e.i64(0), e.i64(plan.sumElements() / plan.columns()), 1, false);
  b.CreateAlignedStore(llvm::Constant::getNullValue(row), b.CreateInBoundsGEP(row, all, r),
                       llvm::Align(64));
  e.closeLoop();
  Value part = alignedTemporary(plan.rows * plan.columns() * 4, "part");
  kLow = e.openLoop(e.i64(0), e.i64(plan.kSize), plan.kBlock, false);
  kHigh = b.CreateNSWAdd(kLow, e.i64(plan.kBlock));
  packColumns();
  overTiles(mLow, mHigh, plan.rows, plan.mSize, [&](Value m0, Value skipM) {
    if (plan.packsA)
      plan.acrossA ? packRowsAcross(m0) : packRows(m0);
    overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
      Tile tile{m0, n0, skipM, skipN};
      auto [rows, stride] = rowsOfA(tile);
      multiplyUnits(rows, stride, panelOfB(n0), e.i64(0), e.i64(plan.kBlock));
      storeSums(part, plan.columns() * 4);
      addToSums(sumsOf(tile), part);
    });
  });
  e.closeLoop();
  kLow = kHigh = nullptr;
  overTiles(mLow, mHigh, plan.rows, plan.mSize, [&](Value m0, Value skipM) {
    overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
      Tile tile{m0, n0, skipM, skipN};
      finishTile(tile, sumsOf(tile));
    });
  });
}

void TileEmitter::emitSums(Tile tile) {
  auto [rows, stride] = rowsOfA(tile);
  Value panel = panelOfB(tile.n0);
  int64_t rowBytes = plan.columns() * 4;
  if (isPlain() && plan.panelK() <= block) {
    multiplyUnits(rows, stride, panel, e.i64(0), e.i64(plan.panelK()));
    const Root &root = nest.roots[0];
    e.openBlock();
    bindRow(tile.m0);
    bind(plan.n, tile.n0);
    Value to = e.element(function.outputBuffer(root.output), kind, e.emitIndex(root.offset));
    storeSums(to, *strideOfRows(plan, graph, root.offset) * 4);
    e.closeBlock();
    return;
  }
  Value sums = alignedTemporary(plan.rows * rowBytes, "sums");
  if (plan.panelK() <= block) {
    multiplyUnits(rows, stride, panel, e.i64(0), e.i64(plan.panelK()));
    storeSums(sums, rowBytes);
    return finishTile(tile, sums);
  }
  llvm::Type *row = e.typeOf(kind, plan.columns());
  auto at = [&](Value from, Value r) { return b.CreateInBoundsGEP(row, from, r); };
  Value part = alignedTemporary(plan.rows * rowBytes, "part");
  Value r = e.openLoop(e.i64(0), e.i64(plan.rows), 1, false);
  b.CreateAlignedStore(llvm::Constant::getNullValue(row), at(sums, r), llvm::Align(64));
  e.closeLoop();
  Value low = e.openLoop(e.i64(0), e.i64(plan.panelK()), block, false);
  Value high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, e.i64(block)),
                                       e.i64(plan.panelK()));
  multiplyUnits(rows, stride, panel, low, high);
  storeSums(part, rowBytes);
  addToSums(sums, part);
  e.closeLoop();
  finishTile(tile, sums);
}

void emitContractionByTiles(KernelFunction &function, NestGraph &nest,
                            const ContractionPlan &plan) {
  Emitter emitter = function.emitter(nest.g->graph);
  TileEmitter(function, nest, plan, emitter).emit();
}

} // namespace tessera::codegen
