#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {
namespace {

template <typename Op>
struct RuleModel : sdy::ShardingRuleOpInterface::ExternalModel<RuleModel<Op>, Op> {
  sharding::FactorRule getShardingRule(mlir::Operation *op) const {
    return ruleOf(llvm::cast<Op>(op));
  }
};

template <typename... Ops> void attach(mlir::MLIRContext *context) {
  (Ops::template attachInterface<RuleModel<Ops>>(*context), ...);
}

} // namespace

void registerStablehloShardingRules(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, StablehloDialect *) {
    attach<MapOp, OptimizationBarrierOp, BroadcastInDimOp, BroadcastOp, TransposeOp, ConstantOp,
           IotaOp, ReshapeOp, BitcastConvertOp, SliceOp, PadOp, ReverseOp, ConcatenateOp,
           DynamicSliceOp, DynamicUpdateSliceOp, DotGeneralOp, DotOp, EinsumOp, UnaryEinsumOp,
           ConvolutionOp, ReduceOp, SortOp, BatchNormInferenceOp, BatchNormTrainingOp,
           BatchNormGradOp, ReduceWindowOp, SelectAndScatterOp, GatherOp, ScatterOp,
           TorchIndexSelectOp, CholeskyOp, TriangularSolveOp, FftOp, RngBitGeneratorOp, RngOp>(
        context);
  });
}

} // namespace tessera::stablehlo
