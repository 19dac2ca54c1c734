#include "passes/codegen/cpu/TurnedBlock.h"

#include "passes/codegen/cpu/SumSlots.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"

namespace tessera::codegen {

static constexpr int64_t line = 64, widestVector = 64; // bytes, elements

TurnedBlock::TurnedBlock(Emitter &emitter, const TurnedLoads &turned,
                         llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector,
                         int64_t beyond)
    : alongSide(turned.alongSide(beyond != 0)), vectorSide(turned.vectorSide(beyond != 0)),
      e(emitter), turned(turned), along(along), vector(vector), beyond(beyond),
      rowElements(llvm::alignTo(vectorSide + beyond, widestVector)) {
  for (Node *node : turned.loads) {
    int64_t bytes = byteSize(node->kind);
    // A last vector reads elements behind its row, a first one before it.
    int64_t place = (alongSide * rowElements + 2 * widestVector) * bytes;
    auto *slot = llvm::cast<llvm::AllocaInst>(
        e.temporary(llvm::ArrayType::get(e.b.getInt8Ty(), place), "block"));
    slot->setAlignment(llvm::Align(line));
    memory.push_back(e.b.CreateConstGEP1_64(e.b.getInt8Ty(), slot, widestVector * bytes));
    squares.push_back(squaresOf(node));
  }
  straight = straightLoads();
}

// Rows of a block are a few lines of each of theirs, too short for the processor to foresee the next.
llvm::SmallVector<Node *> TurnedBlock::straightLoads() const {
  llvm::SmallVector<Node *> loads;
  for (Node *node : e.live)
    if (node->op == Op::Load && node->operands.empty() && e.asksFor(node) &&
        strideOf(node->index, vector) == 1 &&
        std::abs(strideOf(node->index, along).value_or(0)) * byteSize(node->kind) > line)
      loads.push_back(node);
  return loads;
}

// Of a row whole lines are read at once: between two reads of one, rows a power of two apart would take
// its place in the first cache. Of an array that a core's own cache holds lines come again soon, and
// registers of rows below each other are stored whole; so are squares that are smaller for a loop's sake.
TurnedBlock::Squares TurnedBlock::squaresOf(const Node *node) const {
  int64_t bytes = byteSize(node->kind), inRegister = e.features.bytes / bytes;
  auto whole = [&](llvm::ArrayRef<unsigned> group) {
    return int64_t(llvm::bit_floor<uint64_t>(extent(group)));
  };
  // Instructions that interleave two registers do so in each 16 bytes of them, but for those of
  // AVX-512 for elements of four bytes and more.
  int64_t lane = bytes >= 4 && e.features.masks ? inRegister : 16 / bytes;
  int64_t side = std::min({lane, whole(along), whole(vector)});
  auto inOne = [&](int64_t most) {
    return std::max<int64_t>(std::min(inRegister, most) / side, 1);
  };
  int64_t beside = side == lane && e.asksFor(node) ? inOne(std::min(alongSide, whole(along))) : 1;
  int64_t below = beside == 1 ? inOne(std::min(vectorSide, whole(vector))) : 1;
  return {side, beside, below};
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
  for (const Squares &square : squares) {
    mostAlong = std::max(mostAlong, square.along());
    mostRows = std::max(mostRows, square.rows());
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
  Squares square = squares[number];
  llvm::Type *type = memoryType(node->kind, b.getContext());
  llvm::Align align(byteSize(node->kind));
  // The last square of a loop is moved back: some of it is read twice.
  auto open = [&](llvm::ArrayRef<unsigned> group, Value base, Value end, int64_t step) {
    Value start = e.openLoop(base, end, step, false);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, e.i64(highest(group) - step));
  };
  Value v = open(vector, vectorBase, v1, square.rows());
  Value a = open(along, alongBase, a1, square.along());
  e.bindLevel(vector.back(), setOf(vector), v, 1, nullptr);
  e.bindLevel(along.back(), setOf(along), a, 1, nullptr);
  Value row = b.CreateNSWSub(a, alongBase), column = b.CreateNSWSub(v, vectorBase);
  Value first = e.element(e.bufferPointer(node->buffer()), node->kind, e.emitIndex(node->index));
  int64_t stride = *strideOf(node->index, vector);
  llvm::SmallVector<Value> read;
  for (int64_t i = 0; i < square.rows(); ++i)
    read.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(type, square.along()),
                                       b.CreateConstGEP1_64(type, first, i * stride), align));
  llvm::SmallVector<Value> registers;
  for (int64_t i = 0; i < square.side; ++i) {
    llvm::SmallVector<Value> below;
    for (int64_t j = i; j < square.rows(); j += square.side)
      below.push_back(read[j]);
    registers.push_back(llvm::concatenateVectors(b, below));
  }
  Value to = pointer(number, row, column);
  for (auto [i, value] : llvm::enumerate(e.transpose(std::move(registers))))
    for (auto [beside, part] : llvm::enumerate(registersOf(b, value, square.rows()))) {
      int64_t place = int64_t(beside) * square.side + int64_t(i);
      b.CreateAlignedStore(part, b.CreateConstGEP1_64(type, to, place * rowElements), align);
    }
  e.closeLoop();
  e.closeLoop();
}

void TurnedBlock::expect(Value a, Value v, llvm::ArrayRef<unsigned> around, Value trip) {
  e.openBlock();
  e.bindLevel(vector.back(), setOf(vector), v, 1, nullptr);
  e.bindLevel(along.back(), setOf(along), a, 1, nullptr);
  Value here = around.empty() ? nullptr : e.variables[around.back()];
  if (here)
    e.bindLevel(around.back(), setOf(around), trip, 1, nullptr);
  auto startsOf = [&](llvm::ArrayRef<Node *> loads) {
    llvm::SmallVector<Value> starts; // they may lie past the end: nothing is read there
    for (Node *node : loads)
      starts.push_back(e.b.CreateGEP(memoryType(node->kind, e.b.getContext()),
                                     e.bufferPointer(node->buffer()), e.emitIndex(node->index)));
    return starts;
  };
  next = startsOf(turned.loads);
  nextStraight = startsOf(straight);
  e.closeBlock();
  if (here)
    e.variables[around.back()] = here;
}

// Whether what a row has along `group` begins anywhere in a line.
bool TurnedBlock::beginsInLines(const Node *node, llvm::ArrayRef<unsigned> group) const {
  int64_t inLine = line / byteSize(node->kind);
  return node->index->constant % inLine != 0 || !node->index->nodes.empty() ||
         llvm::any_of(node->index->dims, [&](auto term) {
           return !llvm::is_contained(group, term.first) && term.second % inLine != 0;
         });
}

// As many rows at each as a whole block asks for; where there are less of them, several times.
void TurnedBlock::askForNext(Value a, Value a0, Value a1) {
  auto &b = e.b;
  askForStraight(b.CreateNSWSub(a, a0));
  if (llvm::none_of(turned.loads, [&](const Node *node) { return e.asksFor(node); }))
    return;
  int64_t count = std::min(vectorSide + beyond, extent(vector));
  int64_t share = llvm::divideCeil(count, std::min(alongSide, extent(along)));
  Value step = b.CreateNSWMul(b.CreateNSWSub(a1, a0), e.i64(share));
  Value times = b.CreateUDiv(b.CreateNSWAdd(step, e.i64(count - 1)), step);
  Value time = e.openLoop(e.i64(0), times, 1, /*mayBeEmpty=*/false);
  Value row = b.CreateNSWAdd(b.CreateNSWMul(b.CreateNSWSub(a, a0), e.i64(share)),
                             b.CreateNSWMul(time, step));
  for (auto [number, node] : llvm::enumerate(turned.loads)) {
    if (!e.asksFor(node))
      continue;
    int64_t bytes = std::min(alongSide, extent(along)) * byteSize(node->kind);
    int64_t stride = *strideOf(node->index, vector);
    llvm::Type *type = memoryType(node->kind, b.getContext());
    Value first = b.CreateGEP(type, next[number], b.CreateNSWMul(row, e.i64(stride)));
    auto ask = [&](int64_t i, int64_t byte) {
      Value place = b.CreateConstGEP1_64(type, first, i * stride);
      e.askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), place, byte), /*isNear=*/false);
    };
    for (int64_t i = 0; i < share; ++i) {
      for (int64_t byte = 0; byte < bytes; byte += line)
        ask(i, byte);
      if (beginsInLines(node, along))
        ask(i, bytes - 1);
    }
  }
  e.closeLoop();
}

// The same row of the next block.
void TurnedBlock::askForStraight(Value row) {
  auto &b = e.b;
  for (auto [node, start] : llvm::zip(straight, nextStraight)) {
    int64_t bytes = std::min(vectorSide, extent(vector)) * byteSize(node->kind);
    Value first = b.CreateGEP(memoryType(node->kind, b.getContext()), start,
                              b.CreateNSWMul(row, e.i64(*strideOf(node->index, along))));
    auto ask = [&](int64_t byte) {
      e.askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), first, byte), /*isNear=*/false);
    };
    for (int64_t byte = 0; byte < bytes; byte += line)
      ask(byte);
    if (beginsInLines(node, vector))
      ask(bytes - 1);
  }
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
