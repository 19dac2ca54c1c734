#include "passes/fuse/ScoreFactors.h"

#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using Dims = ScorePlane::Dims;
using Factors = ScoreFactors;

namespace {

// Values of pairs as sums of products.
class Decomposer {
public:
  explicit Decomposer(const ScorePlane &plane) : plane(plane) {}

  std::vector<Factors> termsOf(Value value, const Dims &dims) {
    Operation *op = value.getDefiningOp();
    auto operand = [&](unsigned i) {
      const Dims *own = plane.dimsOf(op->getOperand(i));
      return termsOf(op->getOperand(i), own ? *own : dims);
    };
    if (isa_and_nonnull<ConvertOp>(op) && isFloat(op->getOperand(0)) && isFloat(value))
      return operand(0);
    if (isa_and_nonnull<TransposeOp, ReshapeOp>(op) && plane.dimsOf(op->getOperand(0)))
      return operand(0);
    if (isa_and_nonnull<NegOp>(op))
      return negated(operand(0));
    if (isa_and_nonnull<AddOp>(op))
      return joined(operand(0), operand(1));
    if (isa_and_nonnull<SubtractOp>(op))
      return joined(operand(0), negated(operand(1)));
    if (isa_and_nonnull<MulOp>(op))
      return products(operand(0), operand(1), 1);
    if (isa_and_nonnull<DivOp>(op))
      if (std::vector<Factors> by = operand(1); by.size() == 1)
        return products(operand(0), by, -1);
    if (isa_and_nonnull<SelectOp>(op) && isZero(op->getOperand(2))) {
      std::vector<Factors> terms = operand(1);
      for (Factors &term : terms)
        term.pairs[op->getOperand(0)] += 1;
      return terms;
    }
    Factors factors;
    if (!addRow(value, dims, factors))
      factors.pairs[value] += 1;
    return {factors};
  }

private:
  static bool isFloat(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }

  static std::vector<Factors> negated(std::vector<Factors> terms) {
    for (Factors &term : terms)
      term.isNegative ^= true;
    return terms;
  }
  static std::vector<Factors> joined(std::vector<Factors> terms, std::vector<Factors> others) {
    llvm::append_range(terms, others);
    return terms;
  }
  static std::vector<Factors> products(const std::vector<Factors> &left,
                                       const std::vector<Factors> &right, int exponent) {
    constexpr size_t most = 8;
    std::vector<Factors> terms;
    for (const Factors &x : left)
      for (const Factors &y : right) {
        Factors &term = terms.emplace_back(x);
        for (auto [value, own] : y.pairs)
          term.pairs[value] += exponent * own;
        for (const Factors::OfRow &row : y.rows)
          term.rows.push_back({row.value, row.dims, exponent * row.exponent});
        term.isNegative ^= y.isNegative;
        if (terms.size() > most)
          return terms;
      }
    return terms;
  }

  bool addRow(Value value, const Dims &dims, Factors &factors) {
    if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
      Dims own;
      for (auto [d, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        own.push_back(shapeOf(broadcast.getOperand())[d] == 1 ? ScorePlane::none : dims[to]);
      if (llvm::any_of(own, [&](int dim) { return plane.isKey(dim); }))
        return false;
      factors.rows.push_back({broadcast.getOperand(), own, 1});
      return true;
    }
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!constant || !isa<SplatElementsAttr>(constant.getValue()))
      return false;
    factors.rows.push_back({value, {}, 1});
    return true;
  }

  const ScorePlane &plane;
};

} // namespace

std::vector<ScoreFactors> termsOf(const ScorePlane &plane, Value value) {
  return Decomposer(plane).termsOf(value, *plane.dimsOf(value));
}

std::optional<ScoreFactors> quotientOfRows(ScoreFactors above, const ScoreFactors &below) {
  for (auto [value, exponent] : below.pairs)
    above.pairs[value] -= exponent;
  if (llvm::any_of(above.pairs, [](auto pair) { return pair.second != 0; }))
    return std::nullopt;
  ScoreFactors ratio;
  ratio.isNegative = above.isNegative != below.isNegative;
  auto add = [&](const ScoreFactors::OfRow &factor, int exponent) {
    auto same = llvm::find_if(ratio.rows, [&](const ScoreFactors::OfRow &other) {
      return other.value == factor.value && other.dims == factor.dims;
    });
    if (same == ratio.rows.end())
      ratio.rows.push_back({factor.value, factor.dims, exponent});
    else
      same->exponent += exponent;
  };
  for (const ScoreFactors::OfRow &factor : above.rows)
    add(factor, factor.exponent);
  for (const ScoreFactors::OfRow &factor : below.rows)
    add(factor, -factor.exponent);
  return ratio;
}

} // namespace tessera::fuse
