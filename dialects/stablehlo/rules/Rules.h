// The sharding rules of StableHLO's ops, as models of sdy::ShardingRuleOpInterface; one file per op
// family.
#pragma once

#include "dialects/sdy/ShardingRuleOpInterface.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace tessera::stablehlo {

// Attaches a rule to every op that has one when the dialect is loaded.
void registerStablehloShardingRules(mlir::DialectRegistry &registry);

// Elementwise.cpp
sharding::FactorRule ruleOf(MapOp op);
sharding::FactorRule ruleOf(OptimizationBarrierOp op);

// Broadcast.cpp
sharding::FactorRule ruleOf(BroadcastInDimOp op);
sharding::FactorRule ruleOf(BroadcastOp op);
sharding::FactorRule ruleOf(TransposeOp op);
sharding::FactorRule ruleOf(ConstantOp op);
sharding::FactorRule ruleOf(IotaOp op);

// Reshape.cpp
sharding::FactorRule ruleOf(ReshapeOp op);
sharding::FactorRule ruleOf(BitcastConvertOp op);

// Slicing.cpp
sharding::FactorRule ruleOf(SliceOp op);
sharding::FactorRule ruleOf(PadOp op);
sharding::FactorRule ruleOf(ReverseOp op);
sharding::FactorRule ruleOf(ConcatenateOp op);
sharding::FactorRule ruleOf(DynamicSliceOp op);
sharding::FactorRule ruleOf(DynamicUpdateSliceOp op);

// Contraction.cpp
sharding::FactorRule ruleOf(DotGeneralOp op);
sharding::FactorRule ruleOf(DotOp op);
sharding::FactorRule ruleOf(EinsumOp op);
sharding::FactorRule ruleOf(UnaryEinsumOp op);

// Convolution.cpp
sharding::FactorRule ruleOf(ConvolutionOp op);

// Reduction.cpp
sharding::FactorRule ruleOf(ReduceOp op);
sharding::FactorRule ruleOf(SortOp op);
sharding::FactorRule ruleOf(BatchNormInferenceOp op);
sharding::FactorRule ruleOf(BatchNormTrainingOp op);
sharding::FactorRule ruleOf(BatchNormGradOp op);

// Window.cpp
sharding::FactorRule ruleOf(ReduceWindowOp op);
sharding::FactorRule ruleOf(SelectAndScatterOp op);

// GatherScatter.cpp
sharding::FactorRule ruleOf(GatherOp op);
sharding::FactorRule ruleOf(ScatterOp op);
sharding::FactorRule ruleOf(TorchIndexSelectOp op);

// LinearAlgebra.cpp
sharding::FactorRule ruleOf(CholeskyOp op);
sharding::FactorRule ruleOf(TriangularSolveOp op);
sharding::FactorRule ruleOf(FftOp op);
sharding::FactorRule ruleOf(RngBitGeneratorOp op);
sharding::FactorRule ruleOf(RngOp op);

} // namespace tessera::stablehlo
