// Ops that need some dimensions whole and are independent along the others: sort, fft, linear
// algebra; and those that need all whole: random bits, custom calls.
#include "dialects/sdy/PlainData.h"
#include "passes/localize/Localizer.h"

using namespace mlir;

namespace tessera::localize {
namespace {

// Of parts of a sum, linear ops make parts of their sum.
LogicalResult localizeBatched(Localizer &l, Operation *op, function_ref<bool(int64_t)> mustBeWhole,
                              bool isLinear = false) {
  Value result = op->getResult(0);
  const LocalLayout &from = l.local(op->getOperand(0)).layout;
  LocalLayout layout = l.annotatedLike(result, from);
  layout.partial = isLinear ? commonAxes(from.partial, layout.partial) : AxisRefs();
  auto layoutFor = [&](Value value) {
    LocalLayout own = l.whole(value);
    for (auto [d, dim] : llvm::enumerate(own.dims))
      if (!mustBeWhole(d))
        dim = layout.dims[d];
    own.partial = layout.partial;
    return own;
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(l.get(operand, layoutFor(operand)));
  SmallVector<Type> types;
  for (Value each : op->getResults())
    types.push_back(l.localType(each, layoutFor(each)));
  Operation *made = l.copy(op, operands, types);
  for (auto [global, local] : llvm::zip_equal(op->getResults(), made->getResults()))
    l.bind(global, local, layoutFor(global));
  return success();
}

LogicalResult localizeSort(Localizer &l, Operation *op) {
  int64_t dim = cast<stablehlo::SortOp>(op).getDimension();
  if (dim < 0)
    dim += shapeOf(op->getResult(0)).size();
  return localizeBatched(l, op, [&](int64_t d) { return d == dim; });
}

LogicalResult localizeFft(Localizer &l, Operation *op) {
  int64_t batch =
      shapeOf(op->getResult(0)).size() - cast<stablehlo::FftOp>(op).getFftLength().size();
  return localizeBatched(
      l, op, [&](int64_t d) { return d >= batch; }, /*isLinear=*/true);
}

LogicalResult localizeMatrices(Localizer &l, Operation *op) {
  int64_t batch = shapeOf(op->getResult(0)).size() - 2;
  return localizeBatched(l, op, [&](int64_t d) { return d >= batch; });
}

LogicalResult localizeWhole(Localizer &l, Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(l.getWhole(operand));
  Operation *made = l.copy(op, operands, op->getResultTypes());
  for (auto [global, local] : llvm::zip_equal(op->getResults(), made->getResults()))
    l.bind(global, local, l.whole(global));
  return success();
}

// By the rule that the user gave: dimensions of factors that operands and results share lie as they
// are, with one tile; all others are whole.
LogicalResult localizeByRule(Localizer &l, Operation *op, const sharding::FactorRule &rule) {
  std::vector<std::optional<DimLayout>> byFactor(rule.factors.size());
  auto factorOf = [&](const sharding::TensorFactors &tensor, size_t d) {
    bool shared = tensor[d].size() == 1 &&
                  rule.factors[tensor[d][0]].kind == sharding::FactorKind::PassThrough;
    return shared ? tensor[d][0] : -1;
  };
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), rule.operands))
    for (size_t d = 0; d < tensor.size(); ++d)
      if (int32_t factor = factorOf(tensor, d); factor >= 0 && !byFactor[factor])
        byFactor[factor] = l.local(operand).layout.dims[d];
  auto layoutFor = [&](Value value, const sharding::TensorFactors &tensor) {
    LocalLayout layout = l.whole(value);
    for (size_t d = 0; d < tensor.size(); ++d)
      if (int32_t factor = factorOf(tensor, d); factor >= 0 && byFactor[factor])
        layout.dims[d] = *byFactor[factor];
    return layout;
  };
  SmallVector<Value> operands;
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), rule.operands))
    operands.push_back(l.get(operand, layoutFor(operand, tensor)));
  SmallVector<Type> types;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), rule.results))
    types.push_back(l.localType(result, layoutFor(result, tensor)));
  Operation *made = l.copy(op, operands, types);
  for (auto [result, local, tensor] :
       llvm::zip_equal(op->getResults(), made->getResults(), rule.results))
    l.bind(result, local, layoutFor(result, tensor));
  return success();
}

// Without a rule nobody knows what it does to a part: every device calls it on the whole, which
// must do no harm.
LogicalResult localizeCustomCall(Localizer &l, Operation *op) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes())))
    if (!isa<RankedTensorType>(type))
      return op->emitError() << "custom call @" << call.getCallTargetName()
                             << " cannot be partitioned: it uses a " << type
                             << "; only tensors can be";
  if (call.getHasSideEffect() && l.getMesh().numDevices() > 1)
    return op->emitError() << "custom call @" << call.getCallTargetName()
                           << " has side effects, which every device would repeat; take it out of "
                              "the partitioned program";
  if (std::optional<sharding::FactorRule> rule = sdy::getRule(op))
    return localizeByRule(l, op, *rule);
  return localizeWhole(l, op);
}

} // namespace

void addWholeDimensions(HandlerTable &table, MLIRContext *context) {
  add<stablehlo::SortOp>(table, context, localizeSort);
  add<stablehlo::FftOp>(table, context, localizeFft);
  add<stablehlo::CholeskyOp>(table, context, localizeMatrices);
  add<stablehlo::TriangularSolveOp>(table, context, localizeMatrices);
  add<stablehlo::RngBitGeneratorOp>(table, context, localizeWhole);
  add<stablehlo::RngOp>(table, context, localizeWhole);
  add<stablehlo::CustomCallOp>(table, context, localizeCustomCall);
}

} // namespace tessera::localize
