// What makes the local form of an op that needs more than what it says of itself
// (LocalizationOpInterface, ElementwiseOpInterface), and the table of who makes what.
#pragma once

#include "passes/localize/Localizer.h"

namespace tessera::localize {

HandlerTable allHandlers(mlir::MLIRContext *context);

// Elementwise.cpp
mlir::LogicalResult localizeBitcast(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeBarrier(Localizer &l, mlir::Operation *op);

// Constants.cpp
mlir::LogicalResult localizeConstant(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeShardableConstant(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeIota(Localizer &l, mlir::Operation *op);

// Rearrange.cpp
mlir::LogicalResult localizeBroadcast(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeTranspose(Localizer &l, mlir::Operation *op);

// Reshape.cpp
mlir::LogicalResult localizeReshape(Localizer &l, mlir::Operation *op);

// Reduce.cpp
mlir::LogicalResult localizeReduce(Localizer &l, mlir::Operation *op);

// DotGeneral.cpp
mlir::LogicalResult localizeDot(Localizer &l, mlir::Operation *op);

// Slicing.cpp
mlir::LogicalResult localizeSlice(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizePad(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeConcatenate(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeReverse(Localizer &l, mlir::Operation *op);

// DynamicSlices.cpp
mlir::LogicalResult localizeDynamicSlice(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeDynamicUpdateSlice(Localizer &l, mlir::Operation *op);

// Gather.cpp
mlir::LogicalResult localizeGather(Localizer &l, mlir::Operation *op);

// Scatter.cpp
mlir::LogicalResult localizeScatter(Localizer &l, mlir::Operation *op);

// Convolution.cpp
mlir::LogicalResult localizeConvolution(Localizer &l, mlir::Operation *op);

// Windows.cpp
mlir::LogicalResult localizeReduceWindow(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeSelectAndScatter(Localizer &l, mlir::Operation *op);

// ControlFlow.cpp
mlir::LogicalResult localizeWhile(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeBranches(Localizer &l, mlir::Operation *op);

// Annotations.cpp
mlir::LogicalResult localizeReshard(Localizer &l, mlir::Operation *op);
mlir::LogicalResult passThrough(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeNothing(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeManual(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeNamed(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeCollective(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeTransfer(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeIndex(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizePartitionId(Localizer &l, mlir::Operation *op);

} // namespace tessera::localize
