// Writes random numbers as integer arithmetic on counters (RandomBits.h says which bits).
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/import/chlo/ScalarFunctions.h"
#include "passes/import/stablehlo/RandomBits.h"

#include <cmath>

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSERANDOM
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

using import::Expr;
using import::RandomBits;

IntegerType unsignedType(MLIRContext *context, unsigned width) {
  return IntegerType::get(context, width, IntegerType::Unsigned);
}

// `values` take the place of the results, with the shardings that were written on these.
void replace(Operation *op, ValueRange values) {
  sdy::keepSharding(op->getResults(), values);
  op->replaceAllUsesWith(values);
  op->erase();
}

// Four 32-bit words are two 64-bit ones.
Value wideState(OpBuilder &b, Location loc, Value state) {
  auto type = cast<RankedTensorType>(state.getType());
  if (type.getElementTypeBitWidth() == 64)
    return state;
  auto pairs = RankedTensorType::get({type.getDimSize(0) / 2, 2}, type.getElementType());
  auto wide = RankedTensorType::get({type.getDimSize(0) / 2}, unsignedType(b.getContext(), 64));
  return stablehlo::BitcastConvertOp::create(
      b, loc, wide, stablehlo::ReshapeOp::create(b, loc, pairs, state).getResult());
}

Value narrowState(OpBuilder &b, Location loc, Value state, RankedTensorType type) {
  if (type == state.getType())
    return state;
  auto pairs = RankedTensorType::get({type.getDimSize(0) / 2, 2}, type.getElementType());
  Value words = stablehlo::BitcastConvertOp::create(b, loc, pairs, state);
  return stablehlo::ReshapeOp::create(b, loc, type, words);
}

LogicalResult decompose(stablehlo::RngBitGeneratorOp op) {
  auto stateType = cast<RankedTensorType>(op.getInitialState().getType());
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  Type element = type.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  bool threefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  int64_t bytes = stateType.getRank() == 1 && stateType.getElementType().isInteger()
                      ? stateType.getDimSize(0) * stateType.getElementTypeBitWidth() / 8
                      : 0;
  if (bytes != 16 && (threefry || bytes != 24))
    return op.emitError("takes a state of 16 bytes")
           << (threefry ? "" : " or 24") << ", not " << stateType;
  bool narrow = isa<IntegerType>(element) && (width == 2 || width == 4); // the low bits of a byte
  if (!narrow && width != 8 && width != 16 && width != 32 && width != 64)
    return op.emitError("gives integers or floating-point numbers of 8 to 64 bits, not ")
           << element;
  unsigned drawn = narrow ? 8 : width;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value state = wideState(b, loc, op.getInitialState());
  RandomBits made = threefry ? import::threefryBits(b, loc, state, type.getShape(), drawn)
                             : import::philoxBits(b, loc, state, type.getShape(), drawn);
  Value bits = made.bits;
  if (narrow)
    bits = stablehlo::ConvertOp::create(b, loc, type, bits);
  if (bits.getType() != type)
    bits = stablehlo::BitcastConvertOp::create(b, loc, type, bits);
  replace(op, {narrowState(b, loc, made.state, stateType), bits});
  return success();
}

// In [0, 1): as many random bits as the fraction holds, over 1.0 by their places.
Expr unitInterval(OpBuilder &b, Location loc, Value bits, FloatType element) {
  unsigned width = element.getWidth(), fraction = element.getFPMantissaWidth() - 1;
  auto type = cast<RankedTensorType>(bits.getType());
  auto number = [&](uint64_t n) {
    return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, APInt(width, n)))
        .getResult();
  };
  Value high = stablehlo::ShiftRightLogicalOp::create(b, loc, bits, number(width - fraction));
  APInt one = APFloat(element.getFloatSemantics(), 1).bitcastToAPInt();
  Value inOneToTwo = stablehlo::OrOp::create(b, loc, high, number(one.getZExtValue()));
  Value value = stablehlo::BitcastConvertOp::create(b, loc, type.clone(element), inOneToTwo);
  return Expr(b, loc, value) - 1.0;
}

LogicalResult decompose(stablehlo::RngOp op, uint64_t number) {
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto words = RankedTensorType::get({2}, unsignedType(b.getContext(), 64));
  Value state = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(words, ArrayRef<uint64_t>{number, 0}));
  auto bitsOf = [&](unsigned width) {
    return import::threefryBits(b, loc, state, type.getShape(), width).bits;
  };
  auto full = [&](Value scalar) {
    return Expr(b, loc,
                stablehlo::BroadcastInDimOp::create(b, loc, type, scalar, ArrayRef<int64_t>()));
  };
  bool normal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  Expr first = full(op.getA()), second = full(op.getB());
  if (isa<FloatType>(element)) {
    auto computed = element.isF64() ? b.getF64Type() : b.getF32Type();
    Expr unit = unitInterval(b, loc, bitsOf(computed.getWidth()), cast<FloatType>(computed));
    Expr x = first.convert(computed), y = second.convert(computed), drawn = unit;
    if (normal) {
      // Inside (-1, 1), where erf has an inverse.
      double least = element.isF64() ? -1 + 0x1p-53 : -1 + 0x1p-24;
      Expr inside = (unit * 2.0 - 1.0).apply<stablehlo::MaxOp>(unit.number(least));
      drawn = x + y * (import::erfInv(inside) * std::sqrt(2.0));
    } else {
      // Below the upper bound, where rounding meets it too.
      Expr rounded = (x + unit * (y - x)).convert(element);
      replace(
          op,
          rounded.compare(stablehlo::ComparisonDirection::LT, second).select(rounded, first).get());
      return success();
    }
    replace(op, drawn.convert(element).get());
    return success();
  }
  if (normal || !isa<IntegerType>(element))
    return op.emitError("draws floating-point numbers")
           << (normal ? "" : " or uniform integers") << ", not " << element;
  if (element.isInteger(1)) {
    Value bits = bitsOf(32);
    auto bitsType = cast<RankedTensorType>(bits.getType());
    Value half = stablehlo::ConstantOp::create(
        b, loc, DenseElementsAttr::get(bitsType, APInt(32, 0x80000000u)));
    Value coin =
        stablehlo::CompareOp::create(b, loc, bits, half, stablehlo::ComparisonDirection::GE,
                                     stablehlo::ComparisonType::UNSIGNED);
    // Of false and true either; of two equal bounds that one.
    replace(op, Expr(b, loc, coin).select(second, first).get());
    return success();
  }
  auto wide = unsignedType(b.getContext(), 64);
  Expr bits(b, loc, bitsOf(64));
  Expr span = (second - first)
                  .convert(unsignedType(b.getContext(), element.getIntOrFloatBitWidth()))
                  .convert(wide);
  Expr offset = bits.apply<stablehlo::RemOp>(span).convert(element);
  replace(op, (first + offset).get());
  return success();
}

struct DecomposeRandomPass : impl::DecomposeRandomBase<DecomposeRandomPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::RngOp, stablehlo::RngBitGeneratorOp>(op))
        ops.push_back(op);
    });
    uint64_t number = 0;
    for (Operation *op : ops) {
      auto bits = dyn_cast<stablehlo::RngBitGeneratorOp>(op);
      if (failed(bits ? decompose(bits) : decompose(cast<stablehlo::RngOp>(op), number++)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tessera
