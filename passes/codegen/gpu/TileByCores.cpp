// Tiles of f16 and bf16 by tensor cores: a warp has 16 rows of some columns, and a thread two of them:
// lane / 4, and that 8 further on, with two columns side by side in each eight.
#include "passes/codegen/gpu/TileMultiplier.h"
#include "passes/codegen/gpu/WarpMatrices.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kDown = TileMultiplier::rowsOfTile / kMmaRows, kLanesOfRow = 4,
                  kLines = kMmaRows / 2; // of a warp, of each of a thread's rows

class TileByCores final : public TileMultiplier {
public:
  TileByCores(Emitter &e, ElementKind kind, int64_t across)
      : e(e), b(e.b), kind(kind), across(across), matrices(e, own, kind == ElementKind::BF16) {}

  const SliceLayout &layout() const override { return own; }
  int64_t threads() const override { return kDown * across * kWarp; }
  int64_t leastDepth() const override { return 32; }
  int64_t mostDepth() const override { return 64; }
  int64_t leastColumns() const override { return 2 * kMmaColumns * across; }
  bool addsInParts() const override { return false; }
  Node *sourceOf(Graph &graph, Node *operand) const override {
    return bitsOfOperand(graph, operand);
  }
  void begin(Value ofBlock, Value thread) override {
    shared = matrices.shared = ofBlock;
    lane = matrices.lane = b.CreateAnd(thread, e.i64(kWarp - 1));
    Value warp = b.CreateLShr(thread, llvm::Log2_64(kWarp));
    warpDown = b.CreateAnd(warp, e.i64(kDown - 1));
    warpAcross = b.CreateLShr(warp, llvm::Log2_64(kDown));
  }
  llvm::SmallVector<Value> rows() const override {
    Value first = b.CreateNSWAdd(warpRow(), b.CreateLShr(lane, llvm::Log2_64(kLanesOfRow)));
    return {first, b.CreateNSWAdd(first, e.i64(kLines))};
  }
  llvm::SmallVector<Value> columns(int64_t ofTile) const override {
    Value first = b.CreateNSWAdd(b.CreateShl(b.CreateAnd(lane, e.i64(kLanesOfRow - 1)), 1),
                                 warpColumn(ofTile));
    llvm::SmallVector<Value> all;
    for (int64_t eight = 0; eight < ofTile / across; eight += kMmaColumns)
      for (int64_t i = 0; i < 2; ++i)
        all.push_back(b.CreateNSWAdd(first, e.i64(eight + i)));
    return all;
  }
  int64_t lanesOfRow() const override { return kLanesOfRow; }

  void multiply(const Operand &left, const Operand &right, int64_t depth,
                llvm::ArrayRef<Value> slots) override {
    Value k = e.openLoop(e.i64(0), e.i64(depth), kMmaTerms, /*mayBeEmpty=*/false);
    auto termsOf = [&](const Operand &operand) {
      return operand.k0 ? b.CreateNSWAdd(operand.k0, k) : k;
    };
    int64_t columns = right.shape.extent / across, ofRow = columns / kLanesOfRow;
    auto a = matrices.load({left.shape, left.place}, /*isLeft=*/true, warpRow(), termsOf(left));
    for (int64_t j = 0; j < columns; j += 2 * kMmaColumns) {
      auto pair =
          matrices.load({right.shape, right.place}, /*isLeft=*/false,
                        b.CreateNSWAdd(warpColumn(right.shape.extent), e.i64(j)), termsOf(right));
      for (int64_t half = 0; half < 2; ++half) {
        int64_t at = (j + half * kMmaColumns) / kLanesOfRow;
        matrices.multiply(a, pair, half,
                          {slots[at], slots[at + 1], slots[ofRow + at], slots[ofRow + at + 1]});
      }
    }
    e.closeLoop();
  }

  SliceShape factorShape(int64_t columns) const override { return {rowsOfTile, columns, true}; }
  void storeFactors(const Operand &to, llvm::ArrayRef<Value> values) override {
    auto lines = rows(), terms = columns(to.shape.depth);
    for (auto [i, line] : llvm::enumerate(lines))
      for (size_t j = 0; j < terms.size(); j += 2) {
        Value pair = llvm::PoisonValue::get(e.typeOf(ElementKind::F32, 2));
        for (size_t number = 0; number < 2; ++number)
          pair = b.CreateInsertElement(pair, values[i * terms.size() + j + number], number);
        Value place = b.CreateNSWAdd(to.place, own.place(b, to.shape, line, terms[j]));
        b.CreateAlignedStore(e.toMemory(kind, pair), e.element(shared, ElementKind::U16, place),
                             llvm::Align(4));
      }
  }

  Value lineOf(int64_t rowOfThread, int64_t from) const override {
    Value ofWarp = b.CreateNSWAdd(b.CreateNSWMul(warpDown, e.i64(kLines)),
                                  b.CreateLShr(lane, llvm::Log2_64(kLanesOfRow)));
    return b.CreateNSWAdd(ofWarp, e.i64((rowOfThread - from) * kDown * kLines));
  }
  Value rowOfLine(Value line, int64_t from) const override {
    Value ofWarp = b.CreateAnd(b.CreateLShr(line, llvm::Log2_64(kLines)), e.i64(kDown - 1));
    Value number = b.CreateNSWAdd(b.CreateLShr(line, llvm::Log2_64(kLines * kDown)), e.i64(from));
    Value within =
        b.CreateNSWAdd(b.CreateAnd(line, e.i64(kLines - 1)), b.CreateNSWMul(number, e.i64(kLines)));
    return b.CreateNSWAdd(b.CreateNSWMul(ofWarp, e.i64(kMmaRows)), within);
  }
  void stage(Value line, int64_t pitch, int64_t ofTile, llvm::ArrayRef<Value> row) override {
    Value start = b.CreateNSWMul(line, e.i64(pitch));
    auto places = columns(ofTile);
    for (size_t j = 0; j < places.size(); j += 2) {
      Value pair = llvm::PoisonValue::get(e.typeOf(ElementKind::F32, 2));
      for (size_t i = 0; i < 2; ++i)
        pair = b.CreateInsertElement(pair, row[j + i], i);
      b.CreateAlignedStore(pair,
                           e.element(shared, ElementKind::F32, b.CreateNSWAdd(start, places[j])),
                           llvm::Align(8));
    }
  }

private:
  Value warpRow() const { return b.CreateNSWMul(warpDown, e.i64(kMmaRows)); }
  Value warpColumn(int64_t ofTile) const {
    return b.CreateNSWMul(warpAcross, e.i64(ofTile / across));
  }

  Emitter &e;
  llvm::IRBuilder<> &b;
  ElementKind kind;
  int64_t across; // warps
  CoreLayout own;
  WarpMatrices matrices;
  Value shared = nullptr, lane = nullptr, warpDown = nullptr, warpAcross = nullptr;
};

} // namespace

std::unique_ptr<TileMultiplier> multiplierByCores(Emitter &e, ElementKind kind, int64_t across) {
  return std::make_unique<TileByCores>(e, kind, across);
}

} // namespace tessera::codegen::gpu
