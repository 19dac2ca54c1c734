// Long running reductions (cumulative sums, maxima) go in blocks of sixteen. Passes.td shows an example.
#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/OpsWithin.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_BLOCKRUNNINGREDUCTIONS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

constexpr int64_t kBlock = 16;

class Blocks {
public:
  Blocks(ReduceWindowOp op, RunningDim running)
      : b(op), loc(op.getLoc()), op(op), dim(running.dim), forward(running.forward) {}

  // The running reductions of arrays.
  SmallVector<Value> running(ValueRange values) {
    int64_t size = typeOf(values[0]).getDimSize(dim);
    if (size <= kBlock)
      return windows(values, dim);
    int64_t blocks = llvm::divideCeil(size, kBlock);
    SmallVector<Value> split, totals, before, results;
    for (auto [value, init] : llvm::zip_equal(values, op.getInitValues())) {
      Shape shape(typeOf(value).getShape());
      shape[dim] = blocks;
      shape.insert(shape.begin() + dim + 1, kBlock);
      split.push_back(reshaped(padded(value, init, 0, blocks * kBlock - size), shape));
    }
    SmallVector<Value> within = windows(split, dim + 1);
    for (Value value : within) {
      Shape shape(typeOf(value).getShape());
      shape.erase(shape.begin() + dim + 1);
      totals.push_back(reshaped(part(value, dim + 1, forward ? kBlock - 1 : 0, 1), shape));
    }
    for (auto [value, init] : llvm::zip_equal(running(totals), op.getInitValues())) {
      Value moved = forward ? padded(value, init, 1, -1) : padded(value, init, -1, 1);
      SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
      for (int64_t &d : dims)
        d += d > dim;
      before.push_back(
          BroadcastInDimOp::create(b, loc, within[before.size()].getType(), moved, dims));
    }
    SmallVector<Value> operands =
        llvm::to_vector(llvm::concat<Value>(forward ? before : within, forward ? within : before));
    for (Value value : appliedToArrays(b, op.getBody().front(), operands)) {
      Shape shape(typeOf(value).getShape());
      shape.erase(shape.begin() + dim + 1);
      shape[dim] = blocks * kBlock;
      results.push_back(part(reshaped(value, shape), dim, 0, size));
    }
    return results;
  }

private:
  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(b, loc, typeOf(value).clone(shape), value);
  }
  Value padded(Value value, Value init, int64_t low, int64_t high) {
    if (low == 0 && high == 0)
      return value;
    Shape lows(typeOf(value).getRank(), 0), highs(lows), interior(lows);
    lows[dim] = low, highs[dim] = high;
    Shape shape = paddedShape(typeOf(value).getShape(), lows, highs, interior);
    return PadOp::create(b, loc, typeOf(value).clone(shape), value, init, lows, highs, interior);
  }
  Value part(Value value, int64_t along, int64_t start, int64_t size) {
    Shape starts(typeOf(value).getRank(), 0), limits(typeOf(value).getShape()),
        strides(starts.size(), 1);
    starts[along] = start, limits[along] = start + size;
    RankedTensorType type = typeOf(value).clone(slicedShape(starts, limits, strides));
    return type == value.getType() ? value
                                   : SliceOp::create(b, loc, type, value, starts, limits, strides);
  }

  // One pass over each window.
  SmallVector<Value> windows(ValueRange values, int64_t along) {
    int64_t rank = typeOf(values[0]).getRank(), size = typeOf(values[0]).getDimSize(along);
    Shape sizes(rank, 1), padding(2 * rank, 0);
    sizes[along] = size;
    padding[2 * along + !forward] = size - 1;
    auto paddingType = RankedTensorType::get({rank, 2}, b.getI64Type());
    auto made = ReduceWindowOp::create(b, loc, values.getTypes(), values, op.getInitValues(), sizes,
                                       {}, {}, {}, DenseIntElementsAttr::get(paddingType, padding));
    IRMapping mapping;
    op.getBody().cloneInto(&made.getBody(), mapping);
    return llvm::to_vector_of<Value>(made.getResults());
  }

  OpBuilder b;
  Location loc;
  ReduceWindowOp op;
  int64_t dim;
  bool forward;
};

struct BlockRunningReductionsPass : impl::BlockRunningReductionsBase<BlockRunningReductionsPass> {
  void runOnOperation() override {
    for (ReduceWindowOp op : opsWithin<ReduceWindowOp>(getOperation())) {
      std::optional<RunningDim> running = onlyRunningDim(op);
      if (!running || typeOf(op.getInputs()[0]).getDimSize(running->dim) <= kBlock ||
          !isSplittable(op))
        continue;
      op->replaceAllUsesWith(Blocks(op, *running).running(op.getInputs()));
      op->erase();
    }
  }
};

} // namespace
} // namespace tessera
