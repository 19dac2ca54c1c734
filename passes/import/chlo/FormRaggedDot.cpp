// Finds the products of groups that exporters write out. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/OpsWithin.h"
#include "passes/UnreadOps.h"

namespace tessera {
#define GEN_PASS_DEF_FORMRAGGEDDOT
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// The masked left operand of a product, which has groups before all else:
// select(start[g] <= position along `ragged` < start[g] + size[g], lhs, 0).
struct MaskedGroups {
  Value lhs, sizes;
  int64_t group, ragged; // dimensions of the operand
};

} // namespace

static bool isZeros(Value value) {
  for (Operation *op = value.getDefiningOp();
       isa_and_present<BroadcastInDimOp, SliceOp, ReshapeOp>(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

// What a rank 1 array is broadcast from, along `dim` alone.
static Value alongDim(Value value, int64_t dim) {
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  bool isAlong = broadcast && broadcast.getBroadcastDimensions() == ArrayRef<int64_t>(dim) &&
                 shapeOf(broadcast.getOperand())[0] == shapeOf(value)[dim];
  return isAlong ? broadcast.getOperand() : Value();
}

// What `ends` are the running sums of.
static Value summed(Value ends) {
  auto window = ends.getDefiningOp<ReduceWindowOp>();
  if (!window || window.getInputs().size() != 1 || !isZeros(window.getInitValues().front()))
    return nullptr;
  std::optional<RunningDim> running = onlyRunningDim(window);
  bool isSum =
      runningKinds(window) == SmallVector<sharding::ReductionKind>{sharding::ReductionKind::Sum};
  return running && running->forward && isSum ? window.getInputs().front() : Value();
}

// Whether each group starts where the one before it ends, the first one at 0.
static bool startsAtEnds(Value starts, Value ends) {
  auto concatenate = starts.getDefiningOp<ConcatenateOp>();
  if (!concatenate || concatenate.getInputs().size() != 2)
    return false;
  Value first = concatenate.getInputs()[0];
  auto others = concatenate.getInputs()[1].getDefiningOp<SliceOp>();
  return shapeOf(first)[0] == 1 && isZeros(first) && others && others.getOperand() == ends &&
         others.getStartIndices()[0] == 0 && others.getStrides()[0] == 1 &&
         others.getLimitIndices()[0] == shapeOf(ends)[0] - 1;
}

// The two sides of a comparison, the lesser one first.
static std::pair<Value, Value> ordered(Value value, ComparisonDirection less,
                                       ComparisonDirection greater) {
  auto compare = value.getDefiningOp<CompareOp>();
  if (compare && compare.getComparisonDirection() == less)
    return {compare.getLhs(), compare.getRhs()};
  if (compare && compare.getComparisonDirection() == greater)
    return {compare.getRhs(), compare.getLhs()};
  return {};
}

static bool isMask(Value value, MaskedGroups &groups) {
  using Direction = ComparisonDirection;
  auto both = value.getDefiningOp<AndOp>();
  if (!both)
    return false;
  for (auto [after, before] :
       {std::pair(both.getLhs(), both.getRhs()), {both.getRhs(), both.getLhs()}}) {
    auto [start, at] = ordered(after, Direction::LE, Direction::GE);
    auto [same, end] = ordered(before, Direction::LT, Direction::GT);
    if (!start || !same)
      continue;
    auto place = at.getDefiningOp<IotaOp>(), other = same.getDefiningOp<IotaOp>();
    Value starts = alongDim(start, groups.group), ends = alongDim(end, groups.group);
    if (!place || !other || place.getIotaDimension() != other.getIotaDimension() || !starts ||
        !ends || !typeOf(at).getElementType().isInteger(32) || !startsAtEnds(starts, ends))
      continue;
    groups.sizes = summed(ends);
    groups.ragged = static_cast<int64_t>(place.getIotaDimension());
    return groups.sizes && groups.ragged != groups.group;
  }
  return false;
}

static std::optional<MaskedGroups> maskedGroups(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto spread = select ? select.getOnTrue().getDefiningOp<BroadcastInDimOp>() : nullptr;
  if (!spread || !isZeros(select.getOnFalse()) || !typeOf(value).hasStaticShape())
    return std::nullopt;
  int64_t rank = typeOf(value).getRank();
  MaskedGroups groups{spread.getOperand(), nullptr, -1, -1};
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    llvm::is_contained(spread.getBroadcastDimensions(), d) ? others.push_back(d)
                                                           : void(groups.group = d);
  SmallVector<int64_t> shape(shapeOf(value));
  if (static_cast<int64_t>(others.size()) + 1 != rank ||
      spread.getBroadcastDimensions() != ArrayRef(others))
    return std::nullopt;
  shape.erase(shape.begin() + groups.group);
  if (shapeOf(groups.lhs) != ArrayRef(shape) || !isMask(select.getPred(), groups))
    return std::nullopt;
  return groups;
}

// As JAX exports ragged_dot over rows for CPUs and GPUs: contracted over the groups, too.
static void formOfRows(DotGeneralOp dot) {
  std::optional<MaskedGroups> groups = maskedGroups(dot.getLhs());
  if (!groups)
    return;
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  auto without = [&](ArrayRef<int64_t> dims) {
    SmallVector<int64_t> kept;
    for (int64_t d : dims)
      if (d != groups->group)
        kept.push_back(d - (d > groups->group));
    return kept;
  };
  int64_t ofRhs = -1;
  SmallVector<int64_t> contracted;
  for (auto [l, r] :
       llvm::zip(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
    l == groups->group ? void(ofRhs = r) : contracted.push_back(r);
  bool isOfRows = !llvm::is_contained(numbers.getLhsContractingDimensions(), groups->ragged) &&
                  !llvm::is_contained(numbers.getLhsBatchingDimensions(), groups->ragged);
  if (ofRhs < 0 || contracted.empty() || !isOfRows)
    return;
  auto dims = chlo::RaggedDotDimensionNumbersAttr::get(
      dot.getContext(), without(numbers.getLhsBatchingDimensions()),
      numbers.getRhsBatchingDimensions(), without(numbers.getLhsContractingDimensions()),
      contracted, groups->ragged - (groups->ragged > groups->group), ofRhs);
  OpBuilder b(dot); // a precision asks for no more than every product has
  Value formed = chlo::RaggedDotOp::create(b, dot.getLoc(), typeOf(dot.getResult()), groups->lhs,
                                           dot.getRhs(), groups->sizes, dims, ArrayAttr());
  sdy::keepSharding(dot->getResults(), formed);
  Operation *masked = dot.getLhs().getDefiningOp();
  dot.getResult().replaceAllUsesWith(formed);
  dot.erase();
  eraseUnread(masked);
}

namespace {
struct FormRaggedDot : impl::FormRaggedDotBase<FormRaggedDot> {
  void runOnOperation() override {
    for (DotGeneralOp dot : opsWithin<DotGeneralOp>(getOperation()))
      formOfRows(dot);
  }
};
} // namespace
} // namespace tessera
