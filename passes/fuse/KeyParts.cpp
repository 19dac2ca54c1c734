#include "passes/fuse/KeyParts.h"

#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/ScorePlane.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// Sums are added up in the type that products are.
Type addedAs(Type type) { return type.isF64() ? type : Float32Type::get(type.getContext()); }

Value reshaped(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(b, value.getLoc(), typeOf(value).clone(shape), value);
}

// One result: its product, and what moves that to where the kernel yields it.
class Result {
public:
  Result(Value yielded, KeysOfResult of, int64_t parts) : of(of), parts(parts) {
    while (Operation *op = yielded.getDefiningOp()) {
      if ((product = dyn_cast<DotGeneralOp>(op)))
        break;
      moves.push_back(op);
      if (!isa<TransposeOp, ReshapeOp, ConvertOp>(op))
        return;
      yielded = op->getOperand(0);
    }
  }

  // In the place of what is yielded; null where the keys get lost.
  Value make() {
    if (!product)
      return nullptr;
    OpBuilder b(product);
    auto numbers = product.getDotDimensionNumbers();
    std::array<Numbers, 2> sides{
        Numbers{numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()},
        Numbers{numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions()}};
    Numbers &own = sides[of.side], &other = sides[1 - of.side];
    const auto *contracted = llvm::find(own.contracted, of.keys);
    isOfQueries = contracted != own.contracted.end();
    if (!isOfQueries && llvm::is_contained(own.batch, of.keys))
      return nullptr;
    std::array<Value, 2> operands{product.getOperand(0), product.getOperand(1)};
    auto split = [&](unsigned side, int64_t dim) {
      operands[side] = inParts(b, operands[side], dim);
      sides[side].insertBefore(dim);
    };
    SmallVector<int64_t> shape(shapeOf(product->getResult(0)));
    if (isOfQueries) {
      int64_t keysOfOther = other.contracted[contracted - own.contracted.begin()];
      split(of.side, of.keys);
      split(1 - of.side, keysOfOther);
      own.batch.insert(own.batch.begin(), of.keys);
      other.batch.insert(other.batch.begin(), keysOfOther);
      at = 0;
      shape.insert(shape.begin(), parts);
    } else {
      at = resultOfFree(sides);
      split(of.side, of.keys);
      shape = partedShape(shape, at);
    }
    auto type = typeOf(product->getResult(0));
    Value value = DotGeneralOp::create(
        b, product->getLoc(),
        RankedTensorType::get(shape,
                              isOfQueries ? addedAs(type.getElementType()) : type.getElementType()),
        operands[0], operands[1],
        DotDimensionNumbersAttr::get(b.getContext(), sides[0].batch, sides[1].batch,
                                     sides[0].contracted, sides[1].contracted),
        product.getPrecisionConfigAttr(), product.getAlgorithmAttr());
    for (Operation *op : llvm::reverse(moves))
      if (value = moved(b, op, value); !value)
        return nullptr;
    return value;
  }

private:
  struct Numbers {
    SmallVector<int64_t> batch, contracted;
    Numbers(ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted)
        : batch(batch), contracted(contracted) {}
    // Dimensions from `dim` on are one further.
    void insertBefore(int64_t dim) {
      for (SmallVector<int64_t> *dims : {&batch, &contracted})
        for (int64_t &each : *dims)
          each += each >= dim;
    }
  };

  SmallVector<int64_t> partedShape(ArrayRef<int64_t> shape, int64_t dim) const {
    SmallVector<int64_t> result(shape);
    result[dim] /= parts;
    result.insert(result.begin() + dim, parts);
    return result;
  }
  Value inParts(OpBuilder &b, Value value, int64_t dim) const {
    return reshaped(b, value, partedShape(shapeOf(value), dim));
  }

  // Where the keys, which are no batch and not contracted, are in the product's result.
  int64_t resultOfFree(ArrayRef<Numbers> sides) {
    auto freeBefore = [&](unsigned side, int64_t end) {
      int64_t count = 0;
      for (int64_t dim = 0; dim < end; ++dim)
        count += !llvm::is_contained(sides[side].batch, dim) &&
                 !llvm::is_contained(sides[side].contracted, dim);
      return count;
    };
    int64_t before = of.side == 0 ? 0 : freeBefore(0, typeOf(product.getOperand(0)).getRank());
    return int64_t(sides[0].batch.size()) + before + freeBefore(of.side, of.keys);
  }

  // The op on a value that has parts at dimension `at`: before all others of a sum of each, else before
  // their keys.
  Value moved(OpBuilder &b, Operation *op, Value value) {
    b.setInsertionPoint(op);
    auto type = typeOf(op->getResult(0));
    if (isa<ConvertOp>(op))
      return isOfQueries ? value
                         : ConvertOp::create(b, op->getLoc(),
                                             typeOf(value).clone(type.getElementType()), value)
                               .getResult();
    SmallVector<int64_t> shape(type.getShape());
    if (!isOfQueries) {
      auto places = movedDims(op);
      if (!places || (*places)[at] < 0)
        return nullptr;
      int64_t to = (*places)[at];
      shape = partedShape(shape, to);
      if (isa<ReshapeOp>(op)) {
        at = to;
        return reshaped(b, value, shape);
      }
      return turned(b, cast<TransposeOp>(op), value, shape, std::exchange(at, to), to);
    }
    shape.insert(shape.begin(), parts);
    if (isa<ReshapeOp>(op))
      return reshaped(b, value, shape);
    SmallVector<int64_t> order{0};
    for (int64_t dim : cast<TransposeOp>(op).getPermutation())
      order.push_back(dim + 1);
    return TransposeOp::create(b, op->getLoc(), typeOf(value).clone(shape), value, order);
  }

  static Value turned(OpBuilder &b, TransposeOp op, Value value, ArrayRef<int64_t> shape,
                      int64_t from, int64_t to) {
    SmallVector<int64_t> order;
    for (auto [place, dim] : llvm::enumerate(op.getPermutation())) {
      if (int64_t(place) == to)
        order.push_back(from);
      order.push_back(dim + (dim >= from));
    }
    return TransposeOp::create(b, op.getLoc(), typeOf(value).clone(shape), value, order);
  }

  KeysOfResult of;
  int64_t parts, at = 0;
  bool isOfQueries = false;
  DotGeneralOp product;
  SmallVector<Operation *> moves; // from the last to the first
};

} // namespace

exec::FusedOp inKeyParts(exec::FusedOp fused, ArrayRef<KeysOfResult> results, int64_t parts,
                         OpBuilder &b) {
  auto made = cast<exec::FusedOp>(b.clone(*fused.getOperation()));
  Operation *end = made.getBlock()->getTerminator();
  SmallVector<Type> types;
  for (auto [i, of] : llvm::enumerate(results)) {
    Value value = Result(end->getOperand(i), of, parts).make();
    if (!value) {
      made.erase();
      return nullptr;
    }
    end->setOperand(i, value);
    types.push_back(value.getType());
  }
  eraseUnread(*made.getBlock());
  auto inParts =
      exec::FusedOp::create(b, fused.getLoc(), types, fused.getInputs(), nullptr, nullptr);
  inParts.getBody().takeBody(made.getBody());
  made.erase();
  return inParts;
}

SmallVector<Value> joinKeyParts(exec::FusedOp inParts, TypeRange types, OpBuilder &b) {
  SmallVector<Value> values;
  for (auto [yielded, type] : llvm::zip(inParts.getResults(), types)) {
    auto whole = cast<RankedTensorType>(type);
    Value value = yielded;
    Location loc = value.getLoc();
    if (typeOf(value).getNumElements() == whole.getNumElements()) {
      values.push_back(reshaped(b, value, whole.getShape()));
      continue;
    }
    value = sumOver(b, loc, value, 0);
    values.push_back(converted(b, loc, value, whole.getElementType()));
  }
  return values;
}

} // namespace tessera::fuse
