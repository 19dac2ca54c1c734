#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

void registerStablehloShardingRules(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, StablehloDialect *) {
    attachElementwiseRules(context);
    attachBroadcastRules(context);
    attachReshapeRules(context);
    attachSlicingRules(context);
    attachContractionRules(context);
    attachConvolutionRules(context);
    attachReductionRules(context);
    attachWindowRules(context);
    attachGatherScatterRules(context);
    attachLinearAlgebraRules(context);
  });
}

} // namespace tessera::stablehlo
