#include "passes/codegen/cpu/TurnedBlock.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"

namespace tessera::codegen {

static constexpr int64_t line = 64, widestVector = 64; // bytes, elements

TurnedBlock::TurnedBlock(Emitter &emitter, const TurnedLoads &turned,
                         llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector, Walk walk)
    : alongSide(walk.beyond ? turned.side / 2 : turned.side),
      vectorSide(walk.beyond ? turned.side * 2 : turned.side), e(emitter), turned(turned),
      along(along), vector(vector), walk(walk),
      rowElements(llvm::alignTo(vectorSide + walk.beyond, widestVector)) {
  int64_t alongSize = highest(along) - lowest(along), size = highest(vector) - lowest(vector);
  for (Node *node : turned.loads) {
    int64_t bytes = byteSize(node->kind);
    // A last vector reads elements behind its row, a first one before it.
    int64_t place = (alongSide * rowElements + 2 * widestVector) * bytes;
    auto *slot = llvm::cast<llvm::AllocaInst>(
        e.temporary(llvm::ArrayType::get(e.b.getInt8Ty(), place), "block"));
    slot->setAlignment(llvm::Align(line));
    memory.push_back(e.b.CreateConstGEP1_64(e.b.getInt8Ty(), slot, widestVector * bytes));
    // Instructions that interleave two registers do so in each 16 bytes of them, but for those of
    // AVX-512 for elements of four bytes and more.
    int64_t lane = bytes >= 4 && e.features.masks ? e.features.bytes / bytes : 16 / bytes;
    int64_t across = std::min<int64_t>(lane, llvm::bit_floor<uint64_t>(std::min(alongSize, size)));
    int64_t rows = std::min<int64_t>(
        {int64_t(e.features.bytes / bytes), vectorSide, int64_t(llvm::bit_floor<uint64_t>(size))});
    squares.push_back({across, std::max(across, rows)});
  }
}

int64_t TurnedBlock::lowest(llvm::ArrayRef<unsigned> group) const {
  return boundsOf(e.graph, group).first;
}
int64_t TurnedBlock::highest(llvm::ArrayRef<unsigned> group) const {
  return boundsOf(e.graph, group).second;
}

Value TurnedBlock::pointer(unsigned number, Value row, Value column) {
  Value place = e.b.CreateNSWAdd(e.b.CreateNSWMul(row, e.i64(rowElements)), column);
  return e.element(memory[number], turned.loads[number]->kind, place);
}

void TurnedBlock::turn(Value a0, Value a1, Value v0, Value v1) {
  // No square reaches past the loops' ends: the block's base is so far from there.
  int64_t mostAlong = 1, mostRows = 1;
  for (const Square &square : squares) {
    mostAlong = std::max(mostAlong, square.along);
    mostRows = std::max(mostRows, square.rows);
  }
  auto moved = [&](Value start, int64_t last) {
    return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, e.i64(last));
  };
  alongBase = moved(a0, highest(along) - mostAlong);
  vectorBase = moved(v0, highest(vector) - mostRows);
  for (unsigned number = 0; number < turned.loads.size(); ++number)
    turnSquares(number, a1, v1);
}

void TurnedBlock::turnSquares(unsigned number, Value a1, Value v1) {
  auto &b = e.b;
  Node *node = turned.loads[number];
  Square square = squares[number];
  llvm::Type *type = memoryType(node->kind, b.getContext());
  llvm::Align align(byteSize(node->kind));
  // The last square of a loop is moved back: some of it is read twice.
  auto open = [&](llvm::ArrayRef<unsigned> group, Value base, Value end, int64_t step) {
    Value start = e.openLoop(base, end, step, false);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, e.i64(highest(group) - step));
  };
  Value v = open(vector, vectorBase, v1, square.rows);
  Value a = open(along, alongBase, a1, square.along);
  e.bindLevel(vector.back(), setOf(vector), v, 1, nullptr);
  e.bindLevel(along.back(), setOf(along), a, 1, nullptr);
  Value row = b.CreateNSWSub(a, alongBase), column = b.CreateNSWSub(v, vectorBase);
  Value first = e.element(e.bufferPointer(node->buffer()), node->kind, e.emitIndex(node->index));
  int64_t stride = *strideOf(node->index, vector);
  llvm::SmallVector<Value> read;
  for (int64_t i = 0; i < square.rows; ++i)
    read.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(type, square.along),
                                       b.CreateConstGEP1_64(type, first, i * stride), align));
  prefetchNext(node, square, first, row);
  // Rows that far apart lie side by side in a register.
  llvm::SmallVector<Value> rows;
  for (int64_t i = 0; i < square.along; ++i) {
    llvm::SmallVector<Value> parts;
    for (int64_t j = i; j < square.rows; j += square.along)
      parts.push_back(read[j]);
    rows.push_back(llvm::concatenateVectors(b, parts));
  }
  Value to = pointer(number, row, column);
  for (auto [i, value] : llvm::enumerate(e.transpose(std::move(rows))))
    b.CreateAlignedStore(value, b.CreateConstGEP1_64(type, to, int64_t(i) * rowElements), align);
  e.closeLoop();
  e.closeLoop();
}

// The lines of the block that comes next, each once: squares of a line take turns with its rows.
void TurnedBlock::prefetchNext(const Node *node, Square square, Value first, Value row) {
  auto &b = e.b;
  int64_t stride = *strideOf(node->index, vector);
  bool goesAlong = walk.isWholeAlong && highest(along) - lowest(along) > alongSide;
  int64_t ahead = goesAlong ? alongSide : vectorSide * stride;
  int64_t turns = std::max<int64_t>(line / (square.along * byteSize(node->kind)), 1);
  turns = std::min(turns, square.rows);
  Value turn = b.CreateAnd(b.CreateUDiv(row, e.i64(square.along)), e.i64(turns - 1));
  Value next = e.element(first, node->kind, b.CreateNSWMul(turn, e.i64(stride)));
  llvm::Type *type = memoryType(node->kind, b.getContext());
  for (int64_t i = 0; i < square.rows; i += turns)
    e.askForLine(b.CreateConstGEP1_64(type, next, i * stride + ahead));
}

void TurnedBlock::bind(Value a, Value v) {
  auto &b = e.b;
  Value row = b.CreateNSWSub(a, alongBase), column = b.CreateNSWSub(v, vectorBase);
  for (auto [number, node] : llvm::enumerate(turned.loads)) {
    llvm::Type *type =
        llvm::FixedVectorType::get(memoryType(node->kind, b.getContext()), e.lanes());
    e.levels.back().values[node] =
        e.fromMemory(node->kind, b.CreateAlignedLoad(type, pointer(number, row, column),
                                                     llvm::Align(byteSize(node->kind))));
  }
}

} // namespace tessera::codegen
