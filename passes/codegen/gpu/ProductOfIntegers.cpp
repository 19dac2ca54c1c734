// Products of integers with sums of 32 bits, which wrap: they may be added in any order. Of 8 bits they go by the
// tensor cores of warps (mma.sync, IntegerMatrices.h); others by threads (ProductByThreads.cpp).
#include "passes/codegen/gpu/CoreSums.h"
#include "passes/codegen/gpu/IntegerMatrices.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

namespace {

class ByteProducts : public CoreSums {
public:
  ByteProducts(EntryFunction &function, NestGraph &nest, const ProductLoops &loops)
      : CoreSums(function, nest, loops, Multiplier::ByteCores, kBytes),
        matrices(e, isSigned(unwidened(loops.a)->kind), isSigned(unwidened(loops.b)->kind)) {}

private:
  int64_t blockOfK() const override { return loops.kSize; }
  void placeThread() override {
    CoreSums::placeThread();
    matrices.lane = lane;
    matrices.shared = shared;
  }
  void multiply(Value stageOffset) override;
  // Lines of a warp's stores lie in banks of their own: a thread's are two of four rows, or of eight, and two or
  // four columns.
  int64_t pitch() const override {
    return tile.columns + (left.shape.alongK ? 8 : 4) * (right.shape.alongK ? 1 : 2);
  }
  void stageSums(Value group) override;
  Value sumOf(Value group, int64_t rowTile, int64_t rowEight, int64_t column);

  static const ByteLayout kBytes;
  ByteMatrices matrices;
};

const ByteLayout ByteProducts::kBytes;

} // namespace

void ByteProducts::multiply(Value stageOffset) {
  Value k = e.openLoop(constant(0), constant(tile.depth), kByteTerms, /*mayBeEmpty=*/false);
  WarpOperand ofLeft{left.shape, stageOffset};
  WarpOperand ofRight{right.shape, b.CreateNSWAdd(stageOffset, constant(rightOffset))};
  auto fragments = [&](const WarpOperand &operand, Value warp, int64_t each) {
    std::vector<ByteMatrices::Fragment> found;
    for (int64_t at = 0; at < each; at += kMmaRows)
      found.push_back(matrices.load(
          operand, b.CreateNSWAdd(b.CreateNSWMul(warp, constant(each)), constant(at)), k));
    return found;
  };
  auto ofA = fragments(ofLeft, warpRow, tile.warpRows);
  auto ofB = fragments(ofRight, warpColumn, tile.warpColumns);
  llvm::ArrayRef<Value> slots = parts;
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j, slots = slots.drop_front(4))
      matrices.multiply(ofA[i], ofB[j / 2], j % 2, slots.take_front(4));
  e.closeLoop();
}

// Of 16 columns that two instructions have: a thread has two of each, which are side by side, or alternate.
Value ByteProducts::sumOf(Value group, int64_t rowTile, int64_t rowEight, int64_t column) {
  int64_t sixteen = column / 4, eight = column % 4 / 2, number = column % 2;
  if (!right.shape.alongK)
    std::swap(eight, number);
  return sumInGroup(group, rowTile, sixteen * 2 + eight, rowEight * 2 + number);
}

void ByteProducts::stageSums(Value group) {
  int64_t rowStep = left.shape.alongK ? 1 : 2, lanes = right.shape.alongK ? 2 : 4;
  Value four = b.CreateLShr(lane, 2), inFour = b.CreateAnd(lane, constant(3));
  Value firstRow = b.CreateNSWAdd(b.CreateNSWMul(warpRow, constant(groupTiles() * kMmaRows)),
                                  b.CreateNSWMul(four, constant(rowStep)));
  Value firstColumn = b.CreateNSWAdd(b.CreateNSWMul(warpColumn, constant(tile.warpColumns)),
                                     b.CreateNSWMul(inFour, constant(lanes)));
  int64_t columns = columnTiles() * 2; // of a thread
  for (int64_t i = 0; i < groupTiles(); ++i)
    for (int64_t eight = 0; eight < 2; ++eight)
      for (int64_t column = 0; column < columns; column += lanes) {
        Value values = llvm::PoisonValue::get(e.typeOf(sumKind(), lanes));
        for (int64_t n = 0; n < lanes; ++n)
          values = b.CreateInsertElement(values, sumOf(group, i, eight, column + n), n);
        int64_t down = i * kMmaRows + eight * (left.shape.alongK ? 8 : 1);
        Value row = b.CreateNSWAdd(firstRow, constant(down));
        Value at = b.CreateNSWAdd(b.CreateNSWMul(row, constant(pitch())),
                                  b.CreateNSWAdd(firstColumn, constant(column * 4)));
        b.CreateAlignedStore(values, sharedPlace(sumKind(), at), llvm::Align(lanes * 4));
      }
}

static bool isOfBytes(Node *operand) {
  ElementKind kind = unwidened(operand)->kind;
  return kind == ElementKind::I8 || kind == ElementKind::U8;
}

void emitProductOfIntegers(EntryFunction &function, NestGraph &nest, const ProductLoops &loops) {
  if (isOfBytes(loops.a) && isOfBytes(loops.b) && loops.kSize >= kByteTerms / 2)
    ByteProducts(function, nest, loops).emit();
  else
    emitProductByThreads(function, nest, loops);
}

} // namespace tessera::codegen::gpu
