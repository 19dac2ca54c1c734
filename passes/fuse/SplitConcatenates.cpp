// A concatenation of many arrays becomes several of few, each of which is written into the result.
// A kernel has loops for each of a few pieces (codegen's Nest); with more it would ask of every
// element which piece it is in: 150 arrays of 80 kB took 100 times as long.
//
// Few elements cost less in one kernel, but LLVM takes time with the square of what a function
// reads. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITCONCATENATES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

constexpr int64_t kFewElements = 1024, kMostArrays = 512;

// Something to begin with: every element is written over.
static Value fillOf(OpBuilder &b, Location loc, Type element) {
  auto type = RankedTensorType::get({}, element);
  auto complex = dyn_cast<ComplexType>(element);
  unsigned bits = (complex ? complex.getElementType() : element).getIntOrFloatBitWidth();
  SmallVector<char> zero(llvm::divideCeil(bits, 8) * (complex ? 2 : 1));
  return ConstantOp::create(b, loc, DenseElementsAttr::getFromRawBuffer(type, zero));
}

static void split(ConcatenateOp op, size_t most) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  int64_t dim = op.getDimension(), at = 0;
  SmallVector<Value> operands = llvm::to_vector(llvm::make_filter_range(
      op.getOperands(), [](Value v) { return typeOf(v).getNumElements() != 0; }));
  auto index = [&](int64_t value) -> Value {
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    return ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, value));
  };
  if (operands.size() <= most + 1)
    most = operands.size();
  Value result;
  for (ArrayRef<Value> rest = operands; !rest.empty();) {
    ArrayRef<Value> part = rest.take_front(most);
    rest = rest.drop_front(part.size());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = 0;
    for (Value operand : part)
      shape[dim] += typeOf(operand).getDimSize(dim);
    Value joined = ConcatenateOp::create(b, loc, type.clone(shape), part, dim);
    if (joined.getType() == type) {
      result = joined;
    } else if (!result) {
      SmallVector<int64_t> zeros(type.getRank(), 0), high(zeros);
      high[dim] = type.getDimSize(dim) - shape[dim];
      result = PadOp::create(b, loc, type, joined, fillOf(b, loc, type.getElementType()), zeros,
                             high, zeros);
    } else {
      Value zero = index(0);
      SmallVector<Value> starts(type.getRank(), zero);
      starts[dim] = index(at);
      result = DynamicUpdateSliceOp::create(b, loc, type, result, joined, starts);
    }
    at += shape[dim];
  }
  if (!result)
    return; // nothing is copied
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct SplitConcatenates : impl::SplitConcatenatesBase<SplitConcatenates> {
  using SplitConcatenatesBase::SplitConcatenatesBase;
  void runOnOperation() override {
    getOperation().walk([&](ConcatenateOp op) {
      bool few = typeOf(op.getResult()).getNumElements() <= kFewElements;
      size_t most = few ? kMostArrays : pieces;
      if (op.getNumOperands() > most + 1) // what is padded is a piece, too
        split(op, most);
    });
  }
};
} // namespace
} // namespace tessera
