// Ops that say no more of themselves than a sharding rule: the same op on local parts. Dimensions of
// factors that operands and results share lie as they are, with one tile; all others are whole.
//
//   %1 = stablehlo.cholesky %0 : tensor<8x4x4xf32>   ([b, i, j]) -> ([b, i, j])
// becomes, with b on 4 devices
//   %1 = stablehlo.cholesky %0 : tensor<2x4x4xf32>
//
// Along a factor that the rule reduces, parts of the operands give parts of the results' sum, where
// reshard has marked those:
//
//   %1 = custom_call @f(%0) : (8x4) -> 8   ([i, k]) -> ([i]) reduction={k}   {unreduced {"x"}}
// becomes, with k on 4 devices
//   %1 = custom_call @f(%0) : (8x1) -> 8   %2 = comm.all_reduce sum(%1)
//
// Without a rule nobody knows what the op does to a part: every device runs it on the whole.
#include "dialects/sdy/PlainData.h"
#include "passes/localize/Localizer.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tessera::localize {
namespace {

// The factor that alone makes up a dimension and can be sharded there; else -1.
int32_t sharedFactor(const sharding::FactorRule &rule, const sharding::DimFactors &dim) {
  if (dim.size() != 1)
    return -1;
  sharding::FactorKind kind = rule.factors[dim[0]].kind;
  bool shared =
      kind == sharding::FactorKind::PassThrough || kind == sharding::FactorKind::Reduction;
  return shared ? dim[0] : -1;
}

// Whether the results may be parts of a sum over the axes of a dimension that the op reduces. Rows
// past the end would be added.
bool mayReduce(Localizer &l, Operation *op, const DimLayout &dim, int64_t size) {
  return !isUneven(dim, size) && llvm::all_of(op->getResults(), [&](Value result) {
    AxisRefs wanted = l.annotated(result).partial;
    return llvm::all_of(
        dim.axes, [&](const sharding::AxisRef &axis) { return llvm::is_contained(wanted, axis); });
  });
}

// A user knows a custom call by its target.
std::string nameOf(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return ("custom call @" + call.getCallTargetName()).str();
  return ("'" + op->getName().getStringRef() + "'").str();
}

// Every device runs the op, so that it must do no harm.
LogicalResult verifyRepeatable(Localizer &l, Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!isa<RankedTensorType>(type))
        return op->emitError() << nameOf(op) << " cannot be partitioned: it uses a " << type
                               << "; only tensors can be";
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (effects && !effects.hasNoEffect() && l.getMesh().numDevices() > 1)
    return op->emitError() << nameOf(op)
                           << " has side effects, which every device would repeat; take it out of "
                              "the partitioned program";
  return success();
}

} // namespace

LogicalResult localizeByRule(Localizer &l, Operation *op) {
  if (failed(verifyRepeatable(l, op)))
    return failure();
  sharding::FactorRule rule;
  if (std::optional<sharding::FactorRule> own = sdy::getRule(op)) {
    rule = std::move(*own);
  } else {
    for (Value operand : op->getOperands())
      rule.operands.emplace_back(shapeOf(operand).size());
    for (Value result : op->getResults())
      rule.results.emplace_back(shapeOf(result).size());
  }
  std::vector<std::optional<DimLayout>> byFactor(rule.factors.size());
  LocalLayout parts; // of the results
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), rule.operands))
    for (auto [d, dim] : llvm::enumerate(tensor)) {
      int32_t factor = sharedFactor(rule, dim);
      if (factor < 0 || byFactor[factor])
        continue;
      DimLayout layout = l.local(operand).layout.dims[d];
      bool isReduced = rule.factors[factor].kind == sharding::FactorKind::Reduction;
      if (isReduced && !mayReduce(l, op, layout, shapeOf(operand)[d]))
        layout = wholeDim(shapeOf(operand)[d]);
      if (isReduced && isSharded(layout)) {
        addAxes(parts.partial, layout.axes);
        parts.reduction = rule.factors[factor].reduction;
      }
      byFactor[factor] = layout;
    }
  auto layoutFor = [&](Value value, const sharding::TensorFactors &tensor) {
    LocalLayout layout = l.whole(value);
    for (auto [d, dim] : llvm::enumerate(tensor))
      if (int32_t factor = sharedFactor(rule, dim); factor >= 0 && byFactor[factor])
        layout.dims[d] = *byFactor[factor];
    return layout;
  };
  // Of parts of a sum, linear ops make parts of their sum: reshard says where.
  AxisRefs linear;
  if (op->getNumResults())
    linear = l.annotated(op->getResult(0)).partial;
  SmallVector<Value> operands;
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    LocalLayout want = layoutFor(operand, tensor);
    want.partial = linear;
    operands.push_back(l.get(operand, want));
    const LocalLayout &from = l.local(operand).layout;
    if (AxisRefs kept = commonAxes(from.partial, want.partial); !kept.empty()) {
      addAxes(parts.partial, kept);
      parts.reduction = from.reduction;
    }
  }
  std::vector<LocalLayout> layouts;
  SmallVector<Type> types;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), rule.results)) {
    LocalLayout &layout = layouts.emplace_back(layoutFor(result, tensor));
    layout.partial = parts.partial;
    layout.reduction = parts.reduction;
    types.push_back(l.localType(result, layout));
  }
  Operation *made = l.copy(op, operands, types);
  for (auto [result, local, layout] :
       llvm::zip_equal(op->getResults(), made->getResults(), layouts))
    l.bind(result, local, layout);
  return success();
}

} // namespace tessera::localize
