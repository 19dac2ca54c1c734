#include "passes/localize/Handlers.h"

#include "dialects/sdy/SdyOps.h"

using namespace mlir;

namespace tessera::localize {
namespace {

struct Row {
  Handler handler;
  SmallVector<StringRef> ops;
};

template <typename... Ops> Row row(Handler handler) {
  return {handler, {Ops::getOperationName()...}};
}

} // namespace

HandlerTable allHandlers(MLIRContext *context) {
  const Row rows[] = {
      row<stablehlo::BitcastConvertOp>(localizeBitcast),
      row<stablehlo::OptimizationBarrierOp>(localizeBarrier),
      row<stablehlo::ConstantOp>(localizeConstant),
      row<sdy::ConstantOp>(localizeShardableConstant),
      row<stablehlo::IotaOp>(localizeIota),
      row<stablehlo::BroadcastInDimOp>(localizeBroadcast),
      row<stablehlo::TransposeOp>(localizeTranspose),
      row<stablehlo::ReshapeOp>(localizeReshape),
      row<stablehlo::ReduceOp>(localizeReduce),
      row<stablehlo::DotGeneralOp>(localizeDot),
      row<stablehlo::SliceOp>(localizeSlice),
      row<stablehlo::PadOp>(localizePad),
      row<stablehlo::ConcatenateOp>(localizeConcatenate),
      row<stablehlo::ReverseOp>(localizeReverse),
      row<stablehlo::DynamicSliceOp>(localizeDynamicSlice),
      row<stablehlo::DynamicUpdateSliceOp>(localizeDynamicUpdateSlice),
      row<stablehlo::GatherOp>(localizeGather),
      row<stablehlo::ScatterOp>(localizeScatter),
      row<stablehlo::ConvolutionOp>(localizeConvolution),
      row<stablehlo::ReduceWindowOp>(localizeReduceWindow),
      row<stablehlo::SelectAndScatterOp>(localizeSelectAndScatter),
      row<stablehlo::WhileOp>(localizeWhile),
      row<stablehlo::IfOp, stablehlo::CaseOp>(localizeBranches),
      row<sdy::ReshardOp, sdy::ShardingConstraintOp>(localizeReshard),
      row<sdy::PropagationBarrierOp, sdy::DataFlowEdgeOp>(passThrough),
      row<sdy::ShardingGroupOp>(localizeNothing),
      row<sdy::ManualComputationOp>(localizeManual),
      row<sdy::NamedComputationOp>(localizeNamed),
      row<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp, comm::AllToAllOp,
          comm::PermuteOp, comm::ShiftOp, comm::BroadcastOp, comm::SliceOp>(localizeCollective),
      row<comm::AxisIndexOp>(localizeIndex),
      row<comm::TransferOp>(localizeTransfer),
      row<stablehlo::PartitionIdOp>(localizePartitionId),
  };
  HandlerTable table;
  for (const Row &row : rows)
    for (StringRef op : row.ops)
      table[OperationName(op, context)] = row.handler;
  return table;
}

} // namespace tessera::localize
