// A contraction by tiles of registers: `rows` x (`vectors` * `lanes`) sums are held while k runs,
// a's elements are broadcast, b's read as vectors. Operands that don't lie that way are copied into
// panels in the scratch first. Tiles at the end of a chunk overlap the one before rather than being
// smaller. The tile's values then go through the rest of the kernel's graph, row by row. (Goto &
// van de Geijn 2008, Anatomy of High-Performance Matrix Multiplication, has the general scheme.)
#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/cpu/LoopNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tessera::codegen {

static DimSet setOf(llvm::ArrayRef<unsigned> group) {
  DimSet all = 0;
  for (unsigned dim : group)
    all |= DimSet(1) << dim;
  return all;
}

namespace {

// A tile's first row and column, and how many of its rows and columns an earlier tile has done
// (null: none).
struct Tile {
  Value m0, n0, skipM, skipN;
};

class ContractionEmitter {
public:
  ContractionEmitter(KernelFunction &function, NestGraph &nest, const ContractionPlan &plan)
      : function(function), nest(nest), plan(plan), e(nest.g->emitter), graph(nest.g->graph),
        b(e.b), kind(plan.product->kind) {}
  void emit();

private:
  void emitCell(Value cell, llvm::Instruction *before);
  void emitPoint(); // one point of the outer loops
  void packA();
  void packB();
  void overK(int64_t step, llvm::function_ref<void()> body) {
    overK(step, e.i64(0), e.i64(e.bounds(plan.k.back()).second), body);
  }
  void overK(int64_t step, Value innerLow, Value innerHigh, llvm::function_ref<void()> body);
  void multiplyStrided(Tile tile, Value innerLow, Value innerHigh, llvm::ArrayRef<Value> sums);
  void packAcrossA();
  void packAcrossB(Value n0, Value panel);
  Value pairedOrder(Value row);
  // Elements of the two rows of a pair of slots of a or b in turn; `lanes` of them from `start` on
  // in `group`.
  Value pairs(Node *node, llvm::ArrayRef<unsigned> group, Value start, unsigned lanes, Value mask);
  void emitTile(Tile tile);
  void multiply(Tile tile, llvm::ArrayRef<Value> sums);
  void multiplyBlock(Tile tile, Value innerLow, Value innerHigh, llvm::ArrayRef<Value> sums);
  void finishTile(Tile tile, llvm::ArrayRef<Value> sums);

  void bind(llvm::ArrayRef<unsigned> group, Value variable, unsigned lanes = 1,
            Value mask = nullptr) {
    e.bindLevel(group.back(), setOf(group), variable, lanes, mask);
  }
  // Position in the flattened k of the k loops' variables, or of the one loop over panels.
  Value flatK();
  bool readsPanels() const { return plan.packsA && plan.packsB; }
  llvm::Type *vectorType() { return e.typeOf(kind, plan.lanes); }
  llvm::SmallVector<Value> makeSums(const char *name) {
    llvm::SmallVector<Value> sums;
    for (int64_t i = 0; i < plan.rows * plan.vectors; ++i)
      sums.push_back(e.temporary(vectorType(), name));
    return sums;
  }
  void clear(Value sum) { b.CreateStore(llvm::Constant::getNullValue(vectorType()), sum); }
  void addTo(Value sum, Value term) {
    b.CreateStore(b.CreateFAdd(b.CreateLoad(vectorType(), sum), term), sum);
  }
  // Which of the columns [first, first + count) exist; null when all do.
  Value columnMask(int64_t first, int64_t count) {
    if (plan.nSize >= plan.columns())
      return nullptr;
    llvm::SmallVector<llvm::Constant *> exists;
    for (int64_t i = first; i < first + count; ++i)
      exists.push_back(b.getInt1(i < plan.nSize));
    return llvm::ConstantVector::get(exists);
  }
  Value columnMask() { return columnMask(0, plan.columns()); }
  // Runs body with the start of each tile in [low, high). The last one is moved back to end at
  // `high`: by how much is `skip` (null: no tile is).
  void overTiles(Value low, Value high, int64_t step, int64_t size,
                 llvm::function_ref<void(Value start, Value skip)> body);

  KernelFunction &function;
  NestGraph &nest;
  const ContractionPlan &plan;
  Emitter &e;
  Graph &graph;
  llvm::IRBuilder<> &b;
  ElementKind kind;
  Value mLow, mHigh, nLow, nHigh;
  Value flat = nullptr; // the variable of a loop over panels
  int64_t scratchA = 0, scratchB = 0;
};

} // namespace

void ContractionEmitter::overTiles(Value low, Value high, int64_t step, int64_t size,
                                   llvm::function_ref<void(Value, Value)> body) {
  Value start = e.openLoop(low, high, step, false), skip = nullptr;
  if (size > step && size % step != 0) {
    Value moved =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, b.CreateNSWSub(high, e.i64(step)));
    skip = b.CreateNSWSub(start, moved);
    start = moved;
  }
  body(start, skip);
  e.closeLoop();
}

Value ContractionEmitter::flatK() {
  if (flat)
    return flat;
  Value sum = nullptr;
  for (auto [group, stride] : llvm::zip(plan.k, plan.kStride)) {
    Value term = e.variables[group.back()];
    if (stride != 1)
      term = b.CreateNSWMul(term, e.i64(stride));
    sum = sum ? b.CreateNSWAdd(sum, term) : term;
  }
  return sum;
}

void ContractionEmitter::overK(int64_t step, Value innerLow, Value innerHigh,
                               llvm::function_ref<void()> body) {
  for (const Group &group : llvm::ArrayRef(plan.k).drop_back())
    bind(group, e.openLoop(e.i64(0), e.i64(e.bounds(group).second), 1, false));
  bind(plan.k.back(), e.openLoop(innerLow, innerHigh, step, false));
  body();
  for (size_t i = 0; i < plan.k.size(); ++i)
    e.closeLoop();
}

//===--- Packing ---===//

// a's rows of this chunk, one after the other, k contiguous.
void ContractionEmitter::packA() {
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  Value to = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA);
  to = e.element(to, stored, b.CreateNSWMul(mLow, e.i64(-plan.kSize)));
  Index offset = graph.multiply(graph.dim(plan.m.back()), plan.kSize);
  for (auto [group, stride] : llvm::zip(plan.k, plan.kStride))
    offset = graph.add(offset, graph.multiply(graph.dim(group.back()), stride));
  bind(plan.m, e.openLoop(mLow, mHigh, 1, false));
  llvm::ArrayRef<Group> outer = llvm::ArrayRef(plan.k).drop_back();
  for (const Group &group : outer)
    bind(group, e.openLoop(e.i64(0), e.i64(e.bounds(group).second), 1, false));
  const Group &inner = plan.k.back();
  int64_t size = e.bounds(inner).second;
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

// Which k a slot of packed pairs holds. vdpbf16ps adds the product of the second of a pair first,
// so that comes to hold the lower k: products are then added in the order of k, with the bits of a
// chain of fused multiply-adds. With a stride of 2 the slots of a group are
// k + 2, k, k + 3, k + 1: the pairs of one strided sum lie 2 * stride slots apart.
static int64_t pairedK(int64_t slot, int64_t stride) {
  int64_t within = slot % (2 * stride);
  return slot - within + within / 2 + (slot % 2 ? 0 : stride);
}

// `row`, k's side by side, as the slots want it.
Value ContractionEmitter::pairedOrder(Value row) {
  llvm::SmallVector<int> order;
  for (int i = 0, n = llvm::cast<llvm::FixedVectorType>(row->getType())->getNumElements(); i < n;
       ++i)
    order.push_back(pairedK(i, plan.sumStride));
  return b.CreateShuffleVector(row, order);
}

// What vdpbf16ps multiplies.
Value ContractionEmitter::pairs(Node *node, llvm::ArrayRef<unsigned> group, Value start,
                                unsigned lanes, Value mask) {
  const Group &inner = plan.k.back();
  Value rows[2], slot = e.variables[inner.back()];
  int64_t stride = plan.sumStride;
  Value within = b.CreateAnd(slot, e.i64(2 * stride - 1));
  Value k = b.CreateNSWSub(slot, b.CreateLShr(within, 1));
  for (int first = 0; first < 2; ++first) {
    e.openBlock();
    bind(inner, first ? b.CreateNSWAdd(k, e.i64(stride)) : k);
    e.openBlock();
    bind(group, start, lanes, mask);
    rows[first] = e.toMemory(ElementKind::BF16, e.splat(e.emit(node), lanes));
    e.closeBlock();
    e.closeBlock();
  }
  e.variables[inner.back()] = slot;
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
    Value m0 = e.openLoop(mLow, mHigh, lanes, false);
    Value mask = nullptr;
    if (plan.mSize % lanes != 0 || plan.mChunk % lanes != 0) {
      llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
      Value left = b.CreateTrunc(b.CreateNSWSub(mHigh, m0), b.getInt32Ty());
      mask = b.CreateICmpULT(b.CreateStepVector(type), e.splat(left, lanes));
    }
    Value row = b.CreateNSWMul(flatK(), e.i64(plan.packedRows()));
    Value column = b.CreateNSWMul(b.CreateNSWSub(m0, mLow), e.i64(plan.isPaired ? 2 : 1));
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
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  llvm::Type *element = plan.isPaired ? static_cast<llvm::Type *>(b.getInt32Ty()) : b.getFloatTy();
  llvm::Type *square = llvm::FixedVectorType::get(element, 16);
  int64_t step = plan.isPaired ? 32 : 16, stride = e.coefficient(plan.b->index, plan.n);
  for (const Group &group : llvm::ArrayRef(plan.k).drop_back())
    bind(group, e.openLoop(e.i64(0), e.i64(e.bounds(group).second), 1, false));
  const Group &inner = plan.k.back();
  int64_t size = e.bounds(inner).second;
  Value k0 = e.openLoop(e.i64(0), e.i64(size), step, false);
  k0 = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k0, e.i64(size - step));
  e.openBlock();
  bind(inner, k0);
  bind(plan.n, n0);
  Value from = e.element(e.bufferPointer(plan.b->buffer()), stored, e.emitIndex(plan.b->index));
  Value to = e.element(panel, stored, b.CreateNSWMul(flatK(), e.i64(plan.columns())));
  for (unsigned v = 0; v < plan.vectors; ++v) {
    llvm::SmallVector<Value> rows;
    for (int64_t r = v * 16; r < (v + 1) * 16; ++r) {
      Value row = b.CreateConstGEP1_64(memoryType(stored, b.getContext()), from, r * stride);
      Value loaded = llvm::Constant::getNullValue(square);
      if (r < plan.nSize && plan.isPaired) {
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

// b's columns of this chunk, in panels as wide as a tile.
void ContractionEmitter::packB() {
  int64_t columns = plan.columns();
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  overTiles(nLow, nHigh, columns, plan.nSize, [&](Value n0, Value) {
    // The panel's number, not its (moved) start, says where it lies.
    Value number =
        b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(n0, nLow), e.i64(columns - 1)), e.i64(columns));
    Value panel = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchB);
    panel = e.element(panel, stored, b.CreateNSWMul(number, e.i64(plan.kSize * columns)));
    if (plan.acrossB)
      return packAcrossB(n0, panel);
    overK(plan.isPaired ? 2 : 1, [&] {
      Value to = e.element(panel, stored, b.CreateNSWMul(flatK(), e.i64(columns)));
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

//===--- Tiles ---===//

// A long sum is made of sums over blocks of k: its rounding error grows with the block and the
// number of blocks, not with k.
void ContractionEmitter::multiply(Tile tile, llvm::ArrayRef<Value> sums) {
  int64_t size = readsPanels() ? plan.kSize : e.bounds(plan.k.back()).second;
  if ((plan.k.size() > 1 && !readsPanels()) || plan.kBlock >= size)
    return multiplyStrided(tile, e.i64(0), e.i64(size), sums);
  llvm::for_each(sums, [&](Value sum) { clear(sum); });
  llvm::SmallVector<Value> parts = makeSums("part");
  Value low = e.openLoop(e.i64(0), e.i64(size), plan.kBlock, false);
  Value high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                       b.CreateNSWAdd(low, e.i64(plan.kBlock)), e.i64(size));
  multiplyStrided(tile, low, high, parts);
  for (auto [sum, part] : llvm::zip(sums, parts))
    addTo(sum, b.CreateLoad(vectorType(), part));
  e.closeLoop();
}

// A block: for each remainder of k by the stride a sum of its own, (s0 + s1) + (s2 + s3).
void ContractionEmitter::multiplyStrided(Tile tile, Value innerLow, Value innerHigh,
                                         llvm::ArrayRef<Value> sums) {
  llvm::for_each(sums, [&](Value sum) { clear(sum); });
  if (plan.sumStride == 1)
    return multiplyBlock(tile, innerLow, innerHigh, sums);
  llvm::SmallVector<Value> parts = makeSums("strided");
  int64_t pairs = plan.sumStride / 2, count = sums.size();
  Value pair = e.temporary(llvm::ArrayType::get(vectorType(), pairs * count), "pair");
  auto place = [&](Value first, int64_t i) {
    return b.CreateInBoundsGEP(vectorType(), pair, b.CreateNSWAdd(first, e.i64(i)));
  };
  for (int64_t i = 0; i < pairs * count; ++i)
    clear(place(e.i64(0), i));
  Value remainder = e.openLoop(e.i64(0), e.i64(plan.sumStride), 1, false);
  llvm::for_each(parts, [&](Value part) { clear(part); });
  Value slot = plan.isPaired ? b.CreateShl(remainder, 1) : remainder;
  multiplyBlock(tile, b.CreateNSWAdd(innerLow, slot), innerHigh, parts);
  Value first = b.CreateNSWMul(b.CreateLShr(remainder, 1), e.i64(count));
  for (auto [i, part] : llvm::enumerate(parts))
    addTo(place(first, i), b.CreateLoad(vectorType(), part));
  e.closeLoop();
  for (int64_t p = 0; p < pairs; ++p)
    for (int64_t i = 0; i < count; ++i)
      addTo(sums[i], b.CreateLoad(vectorType(), place(e.i64(p * count), i)));
}

void ContractionEmitter::multiplyBlock(Tile tile, Value innerLow, Value innerHigh,
                                       llvm::ArrayRef<Value> sums) {
  Value m0 = tile.m0, n0 = tile.n0;
  int64_t columns = plan.columns(), bytes = byteSize(kind);
  ElementKind stored = plan.isPaired ? ElementKind::BF16 : kind;
  Value rowsOfA = nullptr, panel = nullptr;
  if (plan.packsA) {
    int64_t step = !plan.acrossA ? plan.kSize : plan.isPaired ? 2 : 1;
    Value first = b.CreateNSWMul(b.CreateNSWSub(m0, mLow), e.i64(step));
    rowsOfA = e.element(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA), stored, first);
  }
  if (plan.packsB) {
    Value number =
        b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(n0, nLow), e.i64(columns - 1)), e.i64(columns));
    panel = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchB);
    panel = e.element(panel, stored, b.CreateNSWMul(number, e.i64(plan.kSize * columns)));
  }
  int64_t aStride = plan.acrossA  ? (plan.isPaired ? 2 : 1)
                    : plan.packsA ? plan.kSize
                                  : e.coefficient(plan.a->index, plan.m);
  auto multiplyStep = [&] {
    Value fromA =
        plan.packsA
            ? e.element(rowsOfA, stored,
                        b.CreateNSWMul(flatK(), e.i64(plan.acrossA ? plan.packedRows() : 1)))
            : e.element(e.bufferPointer(plan.a->buffer()), stored, e.emitIndex(plan.a->index));
    Value fromB = plan.packsB ? e.element(panel, stored, b.CreateNSWMul(flatK(), e.i64(columns)))
                              : e.element(e.bufferPointer(plan.b->buffer()), stored,
                                          e.emitIndex(plan.b->index));
    llvm::SmallVector<Value> right;
    for (unsigned v = 0; v < plan.vectors; ++v) {
      // A register holds `lanes` elements, or as many pairs.
      Value from = b.CreateConstGEP1_64(b.getInt8Ty(), fromB, v * plan.lanes * bytes);
      llvm::Type *type =
          plan.isPaired ? llvm::FixedVectorType::get(b.getBFloatTy(), 32) : vectorType();
      llvm::Align align(byteSize(stored));
      Value mask = columnMask(v * plan.lanes, plan.lanes);
      if (mask && !plan.packsB)
        right.push_back(
            b.CreateMaskedLoad(type, from, align, mask, llvm::Constant::getNullValue(type)));
      else
        right.push_back(b.CreateAlignedLoad(type, from, align));
    }
    for (int64_t r = 0; r < plan.rows; ++r) {
      Value from = b.CreateConstGEP1_64(memoryType(stored, b.getContext()), fromA, r * aStride);
      Value left;
      if (plan.isPaired) {
        left = b.CreateAlignedLoad(b.getInt32Ty(), from, llvm::Align(2));
        left = b.CreateBitCast(b.CreateVectorSplat(16, left),
                               llvm::FixedVectorType::get(b.getBFloatTy(), 32));
      } else {
        left = b.CreateAlignedLoad(memoryType(stored, b.getContext()), from, llvm::Align(bytes));
        left = e.splat(left, plan.lanes);
      }
      for (unsigned v = 0; v < plan.vectors; ++v) {
        Value slot = sums[r * plan.vectors + v];
        Value old = b.CreateLoad(vectorType(), slot), sum;
        if (plan.isPaired)
          sum = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                                  {old, left, right[v]});
        else
          sum = b.CreateIntrinsic(llvm::Intrinsic::fma, {vectorType()}, {left, right[v], old});
        b.CreateStore(sum, slot);
      }
    }
  };
  int64_t step = plan.isPaired ? 2 * plan.sumStride : plan.sumStride;
  if (!readsPanels())
    return overK(step, innerLow, innerHigh, multiplyStep);
  flat = e.openLoop(innerLow, innerHigh, step, false);
  multiplyStep();
  e.closeLoop();
  flat = nullptr;
}

// The sums through the rest of the graph, row by row, to the outputs.
void ContractionEmitter::finishTile(Tile tile, llvm::ArrayRef<Value> sums) {
  auto [m0, n0, skipM, skipN] = tile;
  unsigned columns = plan.columns();
  llvm::Type *row = e.typeOf(kind, columns);
  Value place = e.temporary(llvm::ArrayType::get(row, plan.rows), "tile");
  for (int64_t r = 0; r < plan.rows; ++r)
    for (unsigned v = 0; v < plan.vectors; ++v)
      b.CreateAlignedStore(b.CreateLoad(vectorType(), sums[r * plan.vectors + v]),
                           b.CreateConstGEP1_64(vectorType(), place, r * plan.vectors + v),
                           llvm::Align(4));
  // What an earlier tile wrote over its own operand must not be done twice.
  bool isShared = llvm::any_of(function.kernel.inplace, [](int64_t input) { return input >= 0; });
  Value r = e.openLoop(isShared && skipM ? skipM : e.i64(0), e.i64(plan.rows), 1, false);
  bind(plan.m, b.CreateNSWAdd(m0, r));
  Value mask = columnMask();
  if (isShared && skipN) {
    llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), columns);
    Value done = e.splat(b.CreateTrunc(skipN, b.getInt32Ty()), columns);
    mask = b.CreateICmpUGE(b.CreateStepVector(type), done);
  }
  e.openBlock();
  bind(plan.n, n0, columns, mask);
  e.levels.back().values[plan.product] =
      b.CreateAlignedLoad(row, b.CreateInBoundsGEP(row, place, r), llvm::Align(4));
  llvm::SmallVector<Value> values;
  for (const Root &root : nest.roots)
    values.push_back(e.emit(root.value.re));
  for (auto [root, value] : llvm::zip(nest.roots, values))
    e.store(function.buffers[function.inputCount() + root.output], root.kind, root.offset, value);
  e.closeBlock();
  e.closeLoop();
}

void ContractionEmitter::emitTile(Tile tile) {
  auto [m0, n0, skipM, skipN] = tile;
  llvm::SmallVector<Value> sums = makeSums("sum");
  e.openBlock();
  bind(plan.m, m0);
  bind(plan.n, n0);
  multiply(tile, sums);
  e.closeBlock();

  bool isPlain = nest.roots.size() == 1 && nest.roots[0].value.re == plan.product && !columnMask();
  if (!isPlain)
    return finishTile(tile, sums);
  const Root &root = nest.roots[0];
  e.openBlock();
  bind(plan.m, m0);
  bind(plan.n, n0);
  Value to = e.element(function.buffers[function.inputCount() + root.output], kind,
                       e.emitIndex(root.offset));
  int64_t stride = e.coefficient(root.offset, plan.m);
  for (int64_t r = 0; r < plan.rows; ++r)
    for (unsigned v = 0; v < plan.vectors; ++v) {
      Value place =
          b.CreateConstGEP1_64(memoryType(kind, b.getContext()), to, r * stride + v * plan.lanes);
      b.CreateAlignedStore(b.CreateLoad(vectorType(), sums[r * plan.vectors + v]), place,
                           llvm::Align(byteSize(kind)));
    }
  e.closeBlock();
}

//===--- Cells ---===//

void ContractionEmitter::emitPoint() {
  if (plan.packsB)
    packB();
  if (plan.packsA)
    plan.acrossA ? packAcrossA() : packA();
  overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
    overTiles(mLow, mHigh, plan.rows, plan.mSize,
              [&](Value m0, Value skipM) { emitTile({m0, n0, skipM, skipN}); });
  });
}

void ContractionEmitter::emitCell(Value cell, llvm::Instruction *before) {
  e.openBody(before);
  int64_t nChunks = llvm::divideCeil(plan.nSize, plan.nChunk);
  int64_t mChunks = llvm::divideCeil(plan.mSize, plan.mChunk);
  Value rest = cell;
  auto digit = [&](int64_t base) {
    Value value = base == 1 ? e.i64(0) : b.CreateURem(rest, e.i64(base));
    if (base != 1)
      rest = b.CreateUDiv(rest, e.i64(base));
    return value;
  };
  std::tie(mLow, mHigh) = chunkRange(e, digit(mChunks), plan.mChunk, plan.mSize);
  std::tie(nLow, nHigh) = chunkRange(e, digit(nChunks), plan.nChunk, plan.nSize);
  auto [low, high] = chunkRange(e, rest, plan.outerChunk, plan.outerCount);
  rest = e.openLoop(low, high, 1, false);
  for (const Group &group : llvm::reverse(plan.outer))
    bind(group, digit(e.bounds(group).second));
  emitPoint();
  e.closeLoop();
}

void ContractionEmitter::emit() {
  int64_t bytes = plan.isPaired ? 2 : byteSize(kind);
  if (plan.packsA)
    scratchA = function.reserveScratch((plan.acrossA ? plan.packedRows() : plan.mChunk) *
                                       plan.kSize * bytes);
  if (plan.packsB)
    scratchB =
        function.reserveScratch(llvm::alignTo(plan.nChunk, plan.columns()) * plan.kSize * bytes);
  int64_t cells = llvm::divideCeil(plan.nSize, plan.nChunk) *
                  llvm::divideCeil(plan.mSize, plan.mChunk) *
                  llvm::divideCeil(plan.outerCount, plan.outerChunk);
  // A multiplication and an addition for each product; the rest as it is counted elsewhere.
  function.info.flops += workOf(graph, e.live).flops;
  function.forEachCell(cells,
                       [&](Value cell, llvm::Instruction *before) { emitCell(cell, before); });
}

bool emitContraction(KernelFunction &function, bool &known) {
  known = false;
  auto outputs = function.kernel.outputs();
  llvm::SmallVector<unsigned> all;
  for (unsigned i = 0; i < outputs.size(); ++i) {
    all.push_back(i);
    if (mlir::cast<mlir::ShapedType>(outputs[i].getType()).getNumElements() !=
        mlir::cast<mlir::ShapedType>(outputs[0].getType()).getNumElements())
      return true;
  }
  NestGraph nest(function, all, /*update=*/false);
  if (mlir::cast<mlir::ShapedType>(outputs[0].getType()).getNumElements() == 0)
    return true;
  if (!nest.build())
    return false;
  for (const Root &root : nest.roots)
    if (root.value.im)
      return true;
  nest.g->emitter.live = Graph::reachable(nest.rootNodes());
  std::optional<ContractionPlan> plan = planContraction(nest);
  if (!plan)
    return true;
  known = true;
  ContractionEmitter(function, nest, *plan).emit();
  return true;
}

} // namespace tessera::codegen
