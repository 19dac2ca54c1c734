// The sharding rules of StableHLO's ops, as models of sdy::ShardingRuleOpInterface; one file per op
// family.
#pragma once

#include "dialects/sdy/ShardingRuleOpInterface.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace tessera::stablehlo {

// Attaches a rule to every op that has one when the dialect is loaded.
void registerStablehloShardingRules(mlir::DialectRegistry &registry);

void attachElementwiseRules(mlir::MLIRContext *context);
void attachBroadcastRules(mlir::MLIRContext *context);
void attachReshapeRules(mlir::MLIRContext *context);
void attachSlicingRules(mlir::MLIRContext *context);
void attachContractionRules(mlir::MLIRContext *context);
void attachConvolutionRules(mlir::MLIRContext *context);
void attachReductionRules(mlir::MLIRContext *context);
void attachWindowRules(mlir::MLIRContext *context);
void attachGatherScatterRules(mlir::MLIRContext *context);
void attachLinearAlgebraRules(mlir::MLIRContext *context);

// Makes the function FactorRule rule(Op) the rule of Op.
template <typename Op, sharding::FactorRule (*rule)(Op)>
struct RuleModel : sdy::ShardingRuleOpInterface::ExternalModel<RuleModel<Op, rule>, Op> {
  sharding::FactorRule getShardingRule(mlir::Operation *op) const {
    return rule(llvm::cast<Op>(op));
  }
};

template <typename Op, sharding::FactorRule (*rule)(Op)> void attach(mlir::MLIRContext *context) {
  Op::template attachInterface<RuleModel<Op, rule>>(*context);
}

} // namespace tessera::stablehlo
