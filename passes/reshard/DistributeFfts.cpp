// Fourier transforms along sharded dimensions.
//
// FourStepFft.h says how one along a single dimension goes. Passes.td shows an example.
#include "lib/sharding/RowExchange.h"
#include "passes/OpsWithin.h"
#include "passes/reshard/FourStepFft.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/PlacedOps.h"
#include "passes/reshard/ShardedSort.h"
#include <numeric>

namespace tessera {
#define GEN_PASS_DEF_DISTRIBUTEFFTS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using namespace tessera::stablehlo;
using sharding::TensorSharding;

MovedBytes costOf(ShardedFft fft, const ValueShardings &shardings,
                  sharding::ReshardPlanner &planner) {
  Value operand = fft.op.getOperand(), result = fft.op.getResult();
  TensorSharding place = shardings.of(operand), byRows = place;
  int64_t bytes = std::max(elementBytes(operand), elementBytes(result)); // of a point
  int64_t kept = fft.isReal() && !fft.isHalved() ? fft.points / 2 + 1 : fft.points;
  MovedBytes cost =
      movedBytes(shapeOf(result), elementBytes(result), place, shardings.of(result), planner);
  SmallVector<int64_t> lines(shapeOf(operand).drop_back()), split = lines;
  split.append({fft.rows, fft.columns()});
  byRows.dims.emplace_back();
  TensorSharding byColumns = byRows;
  std::swap(byColumns.dims.end()[-1], byColumns.dims.end()[-2]);
  auto collective = [&](double sent) {
    cost.seconds += cost::collectiveSeconds(planner.getTopology(), planner.getMesh(),
                                            cost::CollectiveKind::Permute, sent, fft.axes);
    cost.wireBytes += sent;
  };
  auto held = [&](const TensorSharding &sharding) {
    double size = double(bytes);
    for (int64_t tile : sharding::localShape(canonicalLayout(split, sharding)))
      size *= double(tile);
    return size;
  };
  // Shards of whole rows, or those back; as far as p divides them, they are.
  auto evened = [&](int64_t points) {
    int64_t tile = llvm::divideCeil(points, fft.shards);
    int64_t whole = int64_t(llvm::divideCeil(split.end()[-2], fft.shards)) * split.back();
    for (const sharding::RowPiece &piece :
         sharding::planExchange({points, fft.shards, tile}, {whole, 0, whole}).pieces)
      if (piece.distance != 0)
        collective(held(byRows) / double(whole) * double(piece.end - piece.begin));
  };
  auto moved = [&](const TensorSharding &from, const TensorSharding &to) {
    cost += movedBytes(split, bytes, from, to, planner);
    cost.seconds += cost::computeSeconds(planner.getTopology(), planner.getMesh(), 0, 2 * held(to));
  };
  evened(fft.points);
  moved(byRows, byColumns);
  moved(byColumns, byRows);
  split.end()[-1] = fft.rows;
  split.end()[-2] = llvm::divideCeil(kept, fft.rows);
  moved(byColumns, byRows);
  evened(kept);
  if (fft.isHalved()) // Z[k] meets Z[N - k]
    collective(held(byRows));
  return cost;
}

// Transforms of one dimension each.
class OneByOne {
public:
  OneByOne(FftOp op, const ValueShardings &shardings)
      : b(op), op(op), shardings(shardings), rank(shapeOf(op.getOperand()).size()),
        first(rank - op.getFftLength().size()) {}

  bool isNeeded() {
    auto isSharded = [&](Value value) {
      return llvm::any_of(ArrayRef(shardings.of(value).dims).drop_front(first),
                          [](const sharding::DimSharding &dim) { return !dim.axes.empty(); });
    };
    return op.getFftLength().size() > 1 &&
           (isSharded(op.getOperand()) || isSharded(op.getResult()));
  }

  Value build() {
    SmallVector<int64_t> dims, sharded;
    TensorSharding from = shardings.of(op.getOperand());
    for (int64_t d = first; d < rank - 1; ++d)
      if (op.getFftLength()[d - first] > 1)
        (from.dims[d].axes.empty() ? dims : sharded).push_back(d);
    dims.append(sharded);
    // Of a real one, the last dimension is the first or the last to go.
    bool forward = op.getFftType() == FftType::RFFT, backward = op.getFftType() == FftType::IRFFT;
    bool lastIsLast = backward || (!forward && !from.dims[rank - 1].axes.empty());
    dims.insert(lastIsLast ? dims.end() : dims.begin(), rank - 1);
    Value value = op.getOperand();
    for (int64_t d : dims) {
      FftType type = op.getFftType();
      if (d != rank - 1 && type != FftType::FFT)
        type = forward ? FftType::FFT : FftType::IFFT;
      value = along(value, d, type, d == dims.back());
    }
    return value;
  }

private:
  Value along(Value value, int64_t dim, FftType type, bool isEnd) {
    SmallVector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[dim], order[rank - 1]);
    TensorSharding after = shardings.of(isEnd ? op.getResult() : value);
    value = swapped(value, order, shardings.of(value));
    auto result = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(result.getShape());
    Type element = result.getElementType();
    if (dim == rank - 1) {
      shape.back() = shapeOf(op.getResult())[dim];
      if (type == FftType::RFFT)
        element = cast<RankedTensorType>(op.getType()).getElementType();
      if (type == FftType::IRFFT)
        element = cast<ComplexType>(element).getElementType();
    }
    value = FftOp::create(b, op.getLoc(), RankedTensorType::get(shape, element), value, type,
                          ArrayRef<int64_t>{op.getFftLength()[dim - first]});
    TensorSharding there = after;
    std::swap(there.dims[dim], there.dims[rank - 1]);
    shardings.set(value, there);
    return swapped(value, order, there);
  }

  // Transposed, where that changes anything; an own inverse.
  Value swapped(Value value, ArrayRef<int64_t> order, const TensorSharding &from) {
    if (llvm::is_sorted(order))
      return value;
    TensorSharding to = from;
    for (auto [r, o] : llvm::enumerate(order))
      to.dims[r] = from.dims[o];
    Value made = TransposeOp::create(b, op.getLoc(), value, order);
    shardings.set(made, to);
    return made;
  }

  OpBuilder b;
  FftOp op;
  const ValueShardings &shardings;
  int64_t rank, first;
};

struct DistributeFfts : impl::DistributeFftsBase<DistributeFfts> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &body, ValueShardings &shardings, sharding::ReshardPlanner &planner) {
                  auto replace = [&](FftOp op, Value value) {
                    OpBuilder b(op);
                    replaceSharded(b, op.getResult(), value, shardings);
                    op->erase();
                  };
                  auto forEach = [&](function_ref<void(FftOp)> visit) {
                    SmallVector<FftOp> ffts = opsWithin<FftOp>(body);
                    llvm::for_each(ffts, visit);
                  };
                  forEach([&](FftOp op) {
                    OneByOne dims(op, shardings);
                    if (dims.isNeeded())
                      replace(op, dims.build());
                  });
                  forEach([&](FftOp op) {
                    std::optional<ShardedFft> fft = shardedFft(op, shardings);
                    if (!fft)
                      return;
                    MovedBytes cost = costOf(*fft, shardings, planner),
                               byRule = cheapestByRule(op, shardings, planner);
                    if (cost.seconds < byRule.seconds && cost.wireBytes <= byRule.wireBytes)
                      replace(op, fourStepFft(*fft, shardings));
                  });
                });
  }
};

} // namespace
} // namespace tessera
