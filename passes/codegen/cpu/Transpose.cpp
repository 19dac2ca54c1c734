// Squares of elements that are turned in registers.
//
// With AVX-512 one instruction interleaves the elements of two registers from end to end. Older instructions do so
// within each 16 bytes only: across them LLVM makes an interleaving of three instructions. So a square there is
// made of squares of a register's width, each of which exchanges halves of its rows first:
//
//   a b | c d        a b | i j        a e | i m
//   e f | g h        e f | m n        b f | j n
//   i j | k l   ->   c d | k l   ->   c g | k o
//   m n | o p        g h | o p        d h | l p
//                   by halves      within halves
#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/cpu/Fence.h"
#include "passes/codegen/cpu/SumSlots.h"

#include "llvm/Analysis/VectorUtils.h"

namespace tessera::codegen {

static int64_t lanesOf(Value value) {
  return llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
}

// Interleaving the halves log2(n) times. LLVM chooses instructions for a shuffle by looking through all
// those that it is made of: of four rounds that takes four times as long as of two and two, for the same
// instructions.
static llvm::SmallVector<Value> interleaved(llvm::IRBuilder<> &b, llvm::SmallVector<Value> rows) {
  int n = rows.size(), width = lanesOf(rows[0]);
  llvm::SmallVector<int> low, high;
  for (int square = 0; square < width; square += n)
    for (int i = square; i < square + n / 2; ++i) {
      low.append({i, width + i});
      high.append({n / 2 + i, width + n / 2 + i});
    }
  constexpr int together = 2;
  llvm::Type *type = rows[0]->getType();
  bool isOfWords = type->getPrimitiveSizeInBits() % 32 == 0; // few booleans are not
  for (int left = n, rounds = 1; left > 1; left /= 2, ++rounds) {
    llvm::SmallVector<Value> next;
    for (int i = 0; i < n / 2; ++i) {
      next.push_back(b.CreateShuffleVector(rows[i], rows[i + n / 2], low));
      next.push_back(b.CreateShuffleVector(rows[i], rows[i + n / 2], high));
    }
    rows = std::move(next);
    if (isOfWords && left > 2 && rounds % together == 0)
      llvm::transform(rows, rows.begin(),
                      [&](Value row) { return b.CreateBitCast(fencedWords(b, row), type); });
  }
  return rows;
}

// The blocks of a square, each of a register's width, or of half of it.
static llvm::SmallVector<Value> byRegisters(llvm::IRBuilder<> &b, int64_t bytes,
                                            llvm::ArrayRef<Value> rows) {
  int64_t bits = rows[0]->getType()->getScalarSizeInBits(), size = rows.size();
  int64_t side = std::min<int64_t>(size, 8 * bytes / bits), inLane = 128 / bits;
  std::vector<llvm::SmallVector<Value>> turned(size); // by row the parts of it
  for (int64_t down = 0; down < size; down += side)
    for (int64_t across = 0; across < size; across += side) {
      llvm::SmallVector<Value> block;
      for (Value row : rows.slice(down, side))
        block.push_back(registersOf(b, row, side)[across / side]);
      llvm::SmallVector<Value> done;
      for (int64_t lane = 0; lane < side; lane += inLane) {
        llvm::SmallVector<Value> beside; // that lane of rows inLane apart
        for (int64_t row = 0; row < inLane; ++row) {
          llvm::SmallVector<Value> parts;
          for (int64_t other = row; other < side; other += inLane)
            parts.push_back(registersOf(b, block[other], inLane)[lane / inLane]);
          beside.push_back(llvm::concatenateVectors(b, parts));
        }
        llvm::append_range(done, interleaved(b, std::move(beside)));
      }
      for (auto [row, part] : llvm::enumerate(done))
        turned[across + row].push_back(part);
    }
  llvm::SmallVector<Value> columns;
  for (auto &parts : turned)
    columns.push_back(llvm::concatenateVectors(b, parts));
  return columns;
}

llvm::SmallVector<Value> Emitter::transpose(llvm::SmallVector<Value> rows) {
  constexpr int64_t interleavedBits = 128;
  int64_t size = rows.size(), bits = rows[0]->getType()->getScalarSizeInBits();
  bool goesAcross = size == lanesOf(rows[0]) && size * bits > interleavedBits;
  if (features.masks || !goesAcross || bits < 8)
    return interleaved(b, std::move(rows));
  return byRegisters(b, features.bytes, rows);
}

} // namespace tessera::codegen
