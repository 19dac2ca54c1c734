// Products of f16 and bf16 by tensor cores: a warp multiplies 16 rows by 8 columns over 16 terms at a
// time (mma.sync), its operands brought by ldmatrix from slices that lie as the operands do in memory,
// [rows][depth] or [depth][rows], each line 16 bytes longer than it has to be, so that eight of them meet
// no bank twice.
//
// The 16 products and what was added up before are one sum of the processor's, in f32; these sums come
// in the order of k, in blocks of 4,096 terms, and then the sums of blocks (docs/numbers.md).
#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kRows = 16, kColumns = 8, kTerms = 16; // of one mma.sync
constexpr int64_t kLine = 8;                             // elements of 16 bytes

class CoreProducts : public ProductEmitter {
public:
  CoreProducts(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops)
      : ProductEmitter(function, nest, loops, Multiplier::Cores),
        isBf16(unwidened(loops.a)->kind == ElementKind::BF16) {}

private:
  ElementKind storedKind() const override { return ElementKind::U16; }
  int64_t blockOfK() const override { return Reduction::tileBlock; }
  int64_t sliceElements(const ProductSide &side) const override {
    return side.alongK ? side.extent * lineOf(side) : tile.depth * lineOf(side);
  }
  bool isRun(const ProductSide &) const override { return true; }
  Value placeInSlice(const ProductSide &side, Value row, Value k) override {
    Value line = side.alongK ? row : k, at = side.alongK ? k : row;
    return b.CreateNSWAdd(b.CreateNSWMul(line, constant(lineOf(side))), at);
  }
  Node *sourceOf(Node *operand) override;
  void makeSums() override;
  void multiply(Value stageOffset) override;
  void addBlock() override { addAndClear(sums, parts); }
  void stageSums(Value group) override;
  // Four lines of sums' pairs lie side by side in the banks.
  int64_t pitch() const override { return tile.columns + 8; }
  Value rowOf(Value group, Value row) override;

  int64_t lineOf(const ProductSide &side) const {
    return (side.alongK ? tile.depth : side.extent) + kLine;
  }
  int64_t rowTiles() const { return tile.warpRows / kRows; } // of a warp
  int64_t columnTiles() const { return tile.warpColumns / kColumns; }
  int64_t groupTiles() const { return rowTiles() / tile.rowGroups; }
  llvm::SmallVector<Value> matrices(const ProductSide &side, Value stageOffset, Value row, Value k);
  Value bits(Value value, int64_t mask, int64_t from) {
    return b.CreateAnd(from ? b.CreateLShr(value, from) : value, constant(mask));
  }

  bool isBf16;
  Value lane = nullptr, warpRow = nullptr, warpColumn = nullptr; // numbers of warps
  llvm::SmallVector<Value> parts, sums; // by row tile, column tile, and four of a thread
};

} // namespace

// What is only moved goes as its bits; what is computed is rounded to its type as it is stored.
Node *CoreProducts::sourceOf(Node *operand) {
  Node *narrow = unwidened(operand);
  if (Node *moved = graph.movedBits(narrow))
    return moved;
  return graph.make(Op::Bitcast, ElementKind::U16, {narrow});
}

void CoreProducts::makeSums() {
  lane = bits(function.thread, kWarp - 1, 0);
  Value warp = b.CreateLShr(function.thread, llvm::Log2_64(kWarp));
  warpColumn = bits(warp, tile.columnWarps() - 1, 0);
  warpRow = b.CreateLShr(warp, llvm::Log2_64(tile.columnWarps()));
  int64_t count = rowTiles() * columnTiles() * 4;
  parts = makeSlots(count, "part");
  if (isInBlocks())
    sums = makeSlots(count, "sum");
}

// Four matrices of 8 rows by 8 terms, of 16 rows and 16 terms from there on: those of one 8 of rows come
// first where `right`, of one 8 of terms where `left`.
llvm::SmallVector<Value> CoreProducts::matrices(const ProductSide &side, Value stageOffset,
                                                Value row, Value k) {
  // Eight lanes name the lines of a matrix, which are rows, or terms.
  Value inMatrix = bits(lane, 7, 0), second = bits(lane, 1, 3), fourth = bits(lane, 1, 4);
  bool isLeft = &side == &left;
  Value rowEight = b.CreateShl(isLeft ? second : fourth, 3);
  Value termEight = b.CreateShl(isLeft ? fourth : second, 3);
  (side.alongK ? rowEight : termEight) = b.CreateOr(side.alongK ? rowEight : termEight, inMatrix);
  Value place = placeInSlice(side, b.CreateNSWAdd(row, rowEight), b.CreateNSWAdd(k, termEight));
  Value offset = b.CreateNSWAdd(b.CreateNSWAdd(stageOffset, constant(side.offset)), place);
  auto id = side.alongK ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                        : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16;
  Value from = sharedPlace(ElementKind::U16, offset);
  Value loaded = b.CreateIntrinsic(id, {from->getType()}, {from});
  llvm::SmallVector<Value> registers;
  for (unsigned i = 0; i < 4; ++i)
    registers.push_back(b.CreateExtractValue(loaded, i));
  return registers;
}

void CoreProducts::multiply(Value stageOffset) {
  llvm::Type *sum = b.getFloatTy();
  Value k = e.openLoop(constant(0), constant(tile.depth), kTerms, /*mayBeEmpty=*/false);
  auto rowsFrom = [&](Value warp, int64_t each, int64_t at) {
    return b.CreateNSWAdd(b.CreateNSWMul(warp, constant(each)), constant(at));
  };
  auto operand = [&](Value value) { // f16 comes as pairs
    return isBf16 ? value : b.CreateBitCast(value, llvm::FixedVectorType::get(b.getHalfTy(), 2));
  };
  std::vector<llvm::SmallVector<Value>> ofA, ofB;
  for (int64_t i = 0; i < rowTiles(); ++i)
    ofA.push_back(matrices(left, stageOffset, rowsFrom(warpRow, tile.warpRows, i * kRows), k));
  for (int64_t j = 0; j < columnTiles(); j += 2) // two at a time
    ofB.push_back(
        matrices(right, stageOffset, rowsFrom(warpColumn, tile.warpColumns, j * kColumns), k));
  const Value *slot = parts.begin();
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j, slot += 4) {
      llvm::SmallVector<Value> given;
      for (Value value : ofA[i])
        given.push_back(operand(value));
      for (int64_t half = 0; half < 2; ++half)
        given.push_back(operand(ofB[j / 2][j % 2 * 2 + half]));
      for (int64_t number = 0; number < 4; ++number)
        given.push_back(b.CreateLoad(sum, slot[number]));
      auto id = isBf16 ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                       : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
      Value added = b.CreateIntrinsic(id, {}, given);
      for (unsigned number = 0; number < 4; ++number)
        b.CreateStore(b.CreateExtractValue(added, number), slot[number]);
    }
  e.closeLoop();
}

// Of a warp's rows each group has as many, side by side.
Value CoreProducts::rowOf(Value group, Value row) {
  int64_t each = groupTiles() * kRows;
  Value warp = b.CreateLShr(row, llvm::Log2_64(each));
  Value within = b.CreateNSWAdd(b.CreateNSWMul(group, constant(each)), bits(row, each - 1, 0));
  return b.CreateNSWAdd(b.CreateNSWMul(warp, constant(tile.warpRows)), within);
}

// A thread has two elements side by side of row lane / 4, and two of the row eight further on.
void CoreProducts::stageSums(Value group) {
  const auto &slots = sums.empty() ? parts : sums;
  Value firstRow = b.CreateNSWAdd(b.CreateNSWMul(warpRow, constant(groupTiles() * kRows)),
                                  b.CreateLShr(lane, 2));
  Value firstColumn = b.CreateNSWAdd(b.CreateNSWMul(warpColumn, constant(tile.warpColumns)),
                                     b.CreateShl(bits(lane, 3, 0), 1));
  for (int64_t i = 0; i < groupTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j)
      for (int64_t half = 0; half < 2; ++half) {
        Value pair = llvm::PoisonValue::get(e.typeOf(sumKind(), 2));
        for (int64_t number = 0; number < 2; ++number) {
          Value sum = ofGroup(group, tile.rowGroups, [&](int64_t which) {
            int64_t tileNumber = (which * groupTiles() + i) * columnTiles() + j;
            return slots[tileNumber * 4 + half * 2 + number];
          });
          pair = b.CreateInsertElement(pair, sum, number);
        }
        Value row = b.CreateNSWAdd(firstRow, constant(i * kRows + half * 8));
        Value at = b.CreateNSWAdd(b.CreateNSWMul(row, constant(pitch())),
                                  b.CreateNSWAdd(firstColumn, constant(j * kColumns)));
        b.CreateAlignedStore(pair, sharedPlace(sumKind(), at), llvm::Align(8));
      }
}

bool isForCores(const ContractionLoops &loops) {
  ElementKind a = unwidened(loops.a)->kind, b = unwidened(loops.b)->kind;
  return loops.product->kind == ElementKind::F32 && a == b && loops.kSize >= kTerms &&
         (a == ElementKind::BF16 || a == ElementKind::F16);
}

void emitProductByCores(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops) {
  CoreProducts(function, nest, loops).emit();
}

} // namespace tessera::codegen::gpu
