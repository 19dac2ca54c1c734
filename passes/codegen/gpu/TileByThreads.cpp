// Tiles of f32 by fused multiply-adds: 16 threads have four rows together, and 4 columns of each 64.
#include "passes/codegen/gpu/ThreadTiles.h"
#include "passes/codegen/gpu/TileMultiplier.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kAcross = 16, kDown = 16, kRows = TileMultiplier::rowsOfTile / kDown;

class TileByThreads final : public TileMultiplier {
public:
  explicit TileByThreads(Emitter &e) : e(e), b(e.b), own(ElementKind::F32, ThreadLayout::Turned) {}

  const SliceLayout &layout() const override { return own; }
  int64_t threads() const override { return kAcross * kDown; }
  int64_t leastDepth() const override { return 16; }
  int64_t mostDepth() const override { return 16; }
  int64_t leastColumns() const override { return ThreadLayout::leastExtent; }
  bool addsInParts() const override { return true; }
  Node *sourceOf(Graph &, Node *operand) const override { return operand; }
  void begin(Value ofBlock, Value thread) override {
    shared = ofBlock;
    across = b.CreateAnd(thread, e.i64(kAcross - 1));
    down = b.CreateLShr(thread, llvm::Log2_64(kAcross));
  }
  llvm::SmallVector<Value> rows() const override { return places(rowRun(), rowsOfTile); }
  llvm::SmallVector<Value> columns(int64_t ofTile) const override {
    return places(columnRun(ofTile), ofTile);
  }
  int64_t lanesOfRow() const override { return kAcross; }

  void multiply(const Operand &left, const Operand &right, int64_t depth,
                llvm::ArrayRef<Value> slots) override {
    int64_t columns = right.shape.extent;
    multiplyByThread(e, shared, own, {rowsOfTile, left.place, left.k0, rowRun()},
                     {columns, right.place, right.k0, columnRun(columns)}, depth, slots);
  }

  SliceShape factorShape(int64_t columns) const override { return {rowsOfTile, columns, false}; }
  // A column of the thread's rows at a time: they lie side by side.
  void storeFactors(const Operand &to, llvm::ArrayRef<Value> values) override {
    auto terms = columns(to.shape.depth);
    for (auto [j, term] : llvm::enumerate(terms)) {
      Value column = llvm::PoisonValue::get(e.typeOf(ElementKind::F32, kRows));
      for (int64_t i = 0; i < kRows; ++i)
        column = b.CreateInsertElement(column, values[i * terms.size() + j], i);
      Value place = b.CreateNSWAdd(to.place, own.place(b, to.shape, rowRun().first, term));
      b.CreateAlignedStore(column, e.element(shared, ElementKind::F32, place), llvm::Align(16));
    }
  }

  Value lineOf(int64_t rowOfThread, int64_t from) const override {
    return b.CreateNSWAdd(down, e.i64((rowOfThread - from) * kDown));
  }
  Value rowOfLine(Value line, int64_t from) const override {
    Value thread = b.CreateAnd(line, e.i64(kDown - 1));
    Value number = b.CreateNSWAdd(b.CreateLShr(line, llvm::Log2_64(kDown)), e.i64(from));
    return b.CreateNSWAdd(b.CreateNSWMul(thread, e.i64(kRows)), number);
  }
  void stage(Value line, int64_t pitch, int64_t ofTile, llvm::ArrayRef<Value> row) override {
    ThreadRun run = columnRun(ofTile);
    Value start = b.CreateNSWMul(line, e.i64(pitch));
    auto places = columns(ofTile);
    for (size_t j = 0; j < places.size(); j += run.together) {
      Value values = llvm::PoisonValue::get(e.typeOf(ElementKind::F32, run.together));
      for (int64_t i = 0; i < run.together; ++i)
        values = b.CreateInsertElement(values, row[j + i], i);
      b.CreateAlignedStore(values,
                           e.element(shared, ElementKind::F32, b.CreateNSWAdd(start, places[j])),
                           llvm::Align(run.together * 4));
    }
  }

private:
  ThreadRun rowRun() const { return {b.CreateNSWMul(down, e.i64(kRows)), 1, kRows}; }
  ThreadRun columnRun(int64_t ofTile) const {
    int64_t together = std::min<int64_t>(4, ofTile / kAcross);
    return {b.CreateNSWMul(across, e.i64(together)), ofTile / (kAcross * together), together};
  }
  llvm::SmallVector<Value> places(const ThreadRun &run, int64_t ofTile) const {
    llvm::SmallVector<Value> all;
    for (int64_t group = 0; group < run.groups; ++group)
      for (int64_t i = 0; i < run.together; ++i)
        all.push_back(b.CreateNSWAdd(run.first, e.i64(group * ofTile / run.groups + i)));
    return all;
  }

  Emitter &e;
  llvm::IRBuilder<> &b;
  ThreadLayout own;
  Value shared = nullptr, across = nullptr, down = nullptr;
};

} // namespace

std::unique_ptr<TileMultiplier> multiplierByThreads(Emitter &e) {
  return std::make_unique<TileByThreads>(e);
}

} // namespace tessera::codegen::gpu
