#include "passes/fuse/SoftmaxSum.h"

#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/ScoreFactors.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using Dims = ScorePlane::Dims;
using Factors = ScoreFactors;

namespace {

constexpr int none = ScorePlane::none,
              inner = 1 << 20; // the dimension that a value's elements are of

// Writes ops on arrays whose dimensions are known.
class Rewriter {
public:
  Rewriter(const ScorePlane &plane, OpBuilder &b, Location loc) : plane(plane), b(b), loc(loc) {}

  // The value with those of the dimensions that it has in this order, without ones.
  Value arranged(Value value, const Dims &dims, ArrayRef<int> order) {
    SmallVector<int64_t> shape, from, to;
    Dims own;
    for (auto [dim, size] : llvm::zip(dims, shapeOf(value))) {
      Dims parts = plane.partsOf(dim);
      for (int part : parts)
        if (part != none) {
          own.push_back(part);
          shape.push_back(parts.size() == 1 ? size : plane.sizeOf(part));
        }
    }
    if (ArrayRef<int64_t>(shape) != shapeOf(value))
      value = ReshapeOp::create(b, loc, typeOf(value).clone(shape), value);
    for (int dim : order)
      if (auto at = llvm::find(own, dim); at != own.end())
        from.push_back(at - own.begin());
    if (llvm::is_sorted(from))
      return value;
    for (int64_t d : from)
      to.push_back(shape[d]);
    return TransposeOp::create(b, loc, typeOf(value).clone(to), value, from);
  }

  Value widened(Value value) { return converted(b, loc, value, b.getF32Type()); }

  // A row's factor as an array of all rows.
  Value ofRows(const Factors::OfRow &factor, const Dims &rows) {
    SmallVector<int64_t> shape, places;
    for (int dim : rows)
      shape.push_back(plane.sizeOf(dim));
    auto type = RankedTensorType::get(shape, b.getF32Type());
    if (auto constant = factor.value.getDefiningOp<ConstantOp>()) {
      APFloat number = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<APFloat>();
      bool losesInfo;
      number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
      return ConstantOp::create(b, loc, DenseElementsAttr::get(type, number));
    }
    Value value = widened(arranged(factor.value, factor.dims, rows));
    Dims own = plane.partsOf(factor.dims);
    for (auto [at, dim] : llvm::enumerate(rows))
      if (llvm::is_contained(own, dim))
        places.push_back(static_cast<int64_t>(at));
    if (typeOf(value) == type)
      return value;
    return BroadcastInDimOp::create(b, loc, type, value, places);
  }

  Value sumOfProducts(Value x, Value y) {
    auto type = typeOf(x);
    Value product = MulOp::create(b, loc, type, x, y);
    return sumOver(b, loc, product, type.getRank() - 1);
  }

private:
  const ScorePlane &plane;
  OpBuilder &b;
  Location loc;
};

class SumOfResults {
public:
  SumOfResults(const ScorePlane &plane, ReduceOp sum, SumsOfResults &made, OpBuilder &b,
               std::string &why)
      : plane(plane), sum(sum), made(made), write(plane, b, sum.getLoc()), b(b), why(why) {}

  Value build() {
    if (plane.products.size() != 2)
      return fail("what its values are multiplied by is not beside it");
    DotGeneralOp gradients = plane.products[1]; // of pairs, from those of the results
    unsigned side = 2;
    for (unsigned i : {0u, 1u})
      if (llvm::none_of(operandDims(gradients, i), [&](int dim) { return plane.isKey(dim); }))
        side = i;
    if (side == 2)
      return fail("the gradient of its probabilities is no product of queries and keys");
    if (!findFactor(gradients, 1 - side))
      return fail("what its values are multiplied by is not beside it");
    Dims rows = plane.rowDims(), order(rows);
    order.push_back(inner);
    Dims ofGradient = operandDims(gradients, side);
    if (!isComplete(ofGradient, order))
      return fail("its results have several dimensions for each query");
    Value gradient = beforeMoves(gradients->getOperand(side), ofGradient);
    if (!made.result) {
      made.factor = factor->isOfRows ? factor->factor() : factorOfTerms();
      made.result =
          factor->isOfRows ? forwardResult(made.dims) : resultAgain(gradients, 1 - side, made.dims);
    }
    if (!isComplete(made.dims, order))
      return fail("its results have several dimensions for each query");
    Value result;
    for (const Factors &term : termsOf(plane, sum->getOperand(0))) {
      Value known = sumOf(term, rows, [&] {
        if (!made.sumsOfProducts)
          made.sumsOfProducts =
              write.sumOfProducts(write.widened(write.arranged(gradient, ofGradient, order)),
                                  write.widened(write.arranged(made.result, made.dims, order)));
        return made.sumsOfProducts;
      });
      if (!known)
        return fail("the sum in its softmax's gradient is of more than its probabilities and the "
                    "gradient of its result");
      result = result
                   ? AddOp::create(b, sum.getLoc(), result.getType(), result, known)->getResult(0)
                   : known;
    }
    return asSum(result, rows);
  }

private:
  Value fail(const char *what) {
    why = what;
    return {};
  }

  // The forward pass's product with the values that are operand `side` of the gradients'; or where that is
  // elsewhere (a loop of its own) what has the same factor: the gradient of the values.
  bool findFactor(DotGeneralOp gradients, unsigned side) {
    Dims dims = operandDims(gradients, side);
    Value values = originOf(gradients->getOperand(side), dims);
    for (const ScorePlane::Consumer &consumer : plane.consumers) {
      if (consumer.isOfGradient)
        continue;
      if (!consumer.isOfRows) {
        factor = factor ? factor : &consumer;
        continue;
      }
      Dims own = valueDims(consumer);
      if (originOf(DotGeneralOp(consumer.product)->getOperand(1 - consumer.side), own) == values &&
          own == dims) {
        factor = &consumer;
        break;
      }
    }
    return factor != nullptr;
  }

  // What a value is moved, repeated and converted from, and the dimensions of that.
  Value originOf(Value value, Dims &dims) const {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<TransposeOp, ReshapeOp, BroadcastInDimOp>(op)) {
        auto places = movedDims(op);
        if (!places)
          break;
        Dims before;
        for (auto [d, place] : llvm::enumerate(*places))
          before.push_back(place < 0 || shapeOf(op->getOperand(0))[d] == 1 ? none : dims[place]);
        dims = before;
      } else if (!isa<ConvertOp>(op)) {
        break;
      }
      value = op->getOperand(0);
    }
    dims = plane.partsOf(dims);
    llvm::erase(dims, none);
    return value;
  }

  // Of the operand that a factor is multiplied by.
  Dims valueDims(const ScorePlane::Consumer &consumer) const {
    DotGeneralOp product = consumer.product;
    auto numbers = product.getDotDimensionNumbers();
    const Dims &pairs = *plane.dimsOf(consumer.factor());
    bool isLeft = consumer.side == 0;
    auto pair = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right, Dims &dims) {
      for (auto [own, other] : llvm::zip(isLeft ? left : right, isLeft ? right : left))
        dims[other] = pairs[own];
    };
    auto shape = shapeOf(product->getOperand(1 - consumer.side));
    Dims dims(shape.size(), inner);
    for (auto [d, size] : llvm::enumerate(shape))
      if (size == 1)
        dims[d] = none;
    pair(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(), dims);
    pair(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions(), dims);
    return dims;
  }

  // What a product of gradients multiplies, or what that masks: rows that a device has beyond an array's
  // last are zero there, and are not in the sum.
  Value factorOfTerms() const {
    for (Value value = factor->factor();;) {
      if (llvm::any_of(termsOf(plane, sum->getOperand(0)), [&](const Factors &term) {
            return overGradientAnd(value, term).has_value();
          }))
        return value;
      auto select = value.getDefiningOp<SelectOp>();
      if (!select || !isZero(select->getOperand(2)) || !plane.dimsOf(select->getOperand(1)))
        return factor->factor();
      value = select->getOperand(1);
    }
  }

  // What a term is more than the gradient's product times this factor, where that is of rows alone.
  std::optional<Factors> overGradientAnd(Value value, const Factors &term) const {
    std::vector<Factors> terms = termsOf(plane, value);
    if (terms.size() != 1)
      return std::nullopt;
    Factors both = terms[0];
    both.pairs[plane.products[1]->getResult(0)] += 1;
    return quotientOfRows(term, both);
  }

  Value forwardResult(Dims &dims) const {
    dims = resultDims();
    return afterMoves(DotGeneralOp(factor->product)->getResult(0), dims);
  }

  // The factor times the values: what a product of gradients multiplies on that side.
  Value resultAgain(DotGeneralOp gradients, unsigned side, Dims &dims) {
    Dims ofValues = operandDims(gradients, side), parts = plane.partsOf(ofValues);
    Dims batch, keys, queries;
    for (int dim = 0; dim < plane.rank(); ++dim)
      (plane.isKey(dim) ? keys : llvm::is_contained(parts, dim) ? batch : queries).push_back(dim);
    auto joined = [](Dims first, const Dims &second, const Dims &third) {
      first.append(second);
      first.append(third);
      return first;
    };
    Value left =
        write.arranged(made.factor, *plane.dimsOf(made.factor), joined(batch, queries, keys));
    Value right =
        write.arranged(gradients->getOperand(side), ofValues, joined(batch, keys, {inner}));
    dims = joined(batch, queries, {inner});
    SmallVector<int64_t> shape(shapeOf(left).drop_back(static_cast<int64_t>(keys.size())));
    shape.push_back(shapeOf(right).back());
    auto count = [](size_t from, size_t size) {
      return llvm::to_vector(llvm::seq<int64_t>(int64_t(from), int64_t(from + size)));
    };
    auto numbers = DotDimensionNumbersAttr::get(
        b.getContext(), count(0, batch.size()), count(0, batch.size()),
        count(batch.size() + queries.size(), keys.size()), count(batch.size(), keys.size()));
    auto type = RankedTensorType::get(shape, typeOf(gradients->getResult(0)).getElementType());
    return DotGeneralOp::create(b, sum.getLoc(), type, left, right, numbers, ArrayAttr(),
                                DotAlgorithmAttr());
  }

  // Of an operand of a product that makes pairs.
  Dims operandDims(DotGeneralOp product, unsigned side) const {
    auto numbers = product.getDotDimensionNumbers();
    auto batch =
        side == 0 ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
    auto contracted =
        side == 0 ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
    const Dims &result = *plane.dimsOf(product->getResult(0));
    auto shape = shapeOf(product->getOperand(side));
    Dims dims(shape.size(), none);
    size_t next = batch.size();
    if (side == 1)
      next = result.size() - (shape.size() - batch.size() - contracted.size());
    for (auto [d, size] : llvm::enumerate(shape)) {
      auto at = static_cast<int64_t>(d);
      if (llvm::is_contained(contracted, at))
        dims[d] = size == 1 ? none : inner;
      else if (const auto *found = llvm::find(batch, at); found != batch.end())
        dims[d] = result[found - batch.begin()];
      else
        dims[d] = result[next++];
    }
    return dims;
  }

  // Of the forward product's result.
  Dims resultDims() const {
    DotGeneralOp product = factor->product;
    auto numbers = product.getDotDimensionNumbers();
    const Dims &pairs = *plane.dimsOf(factor->factor());
    Dims dims;
    auto batch =
        factor->side == 0 ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
    for (int64_t d : batch)
      dims.push_back(pairs[d]);
    for (unsigned side : {0u, 1u}) {
      auto own =
          side == 0 ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions();
      auto contracted =
          side == 0 ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
      for (auto [d, size] : llvm::enumerate(shapeOf(product->getOperand(side)))) {
        auto at = static_cast<int64_t>(d);
        if (!llvm::is_contained(own, at) && !llvm::is_contained(contracted, at))
          dims.push_back(side == factor->side ? pairs[d] : size == 1 ? none : inner);
      }
    }
    return dims;
  }

  // As the program has them in memory: what only moves a value is no array.
  static Value beforeMoves(Value value, Dims &dims) {
    while (isa_and_nonnull<TransposeOp, ReshapeOp>(value.getDefiningOp())) {
      auto places = movedDims(value.getDefiningOp());
      if (!places)
        break;
      Dims before;
      for (int64_t place : *places)
        before.push_back(place < 0 ? none : dims[place]);
      value = value.getDefiningOp()->getOperand(0);
      dims = before;
    }
    return value;
  }
  static Value afterMoves(Value value, Dims &dims) {
    while (value.hasOneUse() && isa<TransposeOp, ReshapeOp>(*value.getUsers().begin())) {
      Operation *user = *value.getUsers().begin();
      auto places = movedDims(user);
      if (!places)
        break;
      Dims after(shapeOf(user->getResult(0)).size(), none);
      for (auto [d, place] : llvm::enumerate(*places))
        if (place >= 0)
          after[place] = dims[d];
      value = user->getResult(0);
      dims = after;
    }
    return value;
  }

  bool isComplete(const Dims &dims, const Dims &order) const {
    Dims own = plane.partsOf(dims);
    llvm::erase(own, none);
    llvm::sort(own);
    return own == order;
  }

  // The sum over keys of a term; null where it is not known.
  Value sumOf(const Factors &term, const Dims &rows, llvm::function_ref<Value()> sumOfProducts) {
    if (std::optional<Factors> ratio = overGradientAnd(made.factor, term))
      return times(sumOfProducts(), *ratio, rows);
    for (ReduceOp other : plane.sums) {
      std::vector<Factors> summed = termsOf(plane, other->getOperand(0));
      bool isSum = isa<AddOp>(other.getBody().front().front());
      if (!isSum || plane.isOfGradient(other->getOperand(0)) || summed.size() != 1)
        continue;
      std::optional<Factors> ratio = quotientOfRows(term, summed[0]);
      if (!ratio)
        continue;
      Dims dims;
      for (auto [d, dim] : llvm::enumerate(*plane.dimsOf(other->getOperand(0))))
        if (!llvm::is_contained(other.getDimensions(), static_cast<int64_t>(d)))
          dims.push_back(dim);
      return times(write.widened(write.arranged(other->getResult(0), dims, rows)), *ratio, rows);
    }
    return {};
  }

  Value times(Value result, const Factors &ratio, const Dims &rows) {
    Location loc = sum.getLoc();
    for (const Factors::OfRow &factor : ratio.rows) {
      if (factor.exponent == 0)
        continue;
      Value by = write.ofRows(factor, rows);
      for (int i = 0; i < std::abs(factor.exponent); ++i)
        result = factor.exponent > 0
                     ? MulOp::create(b, loc, result.getType(), result, by)->getResult(0)
                     : DivOp::create(b, loc, result.getType(), result, by)->getResult(0);
    }
    return ratio.isNegative ? NegOp::create(b, loc, result.getType(), result)->getResult(0)
                            : result;
  }

  // In the shape and the type of the sum.
  Value asSum(Value result, const Dims &rows) {
    auto type = typeOf(sum->getResult(0));
    Dims order;
    for (auto [d, dim] : llvm::enumerate(*plane.dimsOf(sum->getOperand(0))))
      if (!llvm::is_contained(sum.getDimensions(), static_cast<int64_t>(d)) && dim != none)
        llvm::append_range(order, plane.partsOf(dim));
    result = write.arranged(result, rows, order);
    if (shapeOf(result) != type.getShape())
      result = ReshapeOp::create(b, sum.getLoc(), typeOf(result).clone(type.getShape()), result);
    return converted(b, sum.getLoc(), result, type.getElementType());
  }

  const ScorePlane &plane;
  ReduceOp sum;
  SumsOfResults &made;
  Rewriter write;
  OpBuilder &b;
  std::string &why;
  const ScorePlane::Consumer *factor = nullptr; // of those that have the forward pass's
};

} // namespace

Value sumOfResults(const ScorePlane &plane, ReduceOp sum, SumsOfResults &made, OpBuilder &b,
                   std::string &why) {
  return SumOfResults(plane, sum, made, b, why).build();
}

} // namespace tessera::fuse
