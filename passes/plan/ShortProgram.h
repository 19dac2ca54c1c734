// A program on the road without most of its equal layers (lib/plan/FewerLayers.h).
#pragma once

#include "lib/plan/FewerLayers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

// The ops of main; what stands in regions of one is part of it. Values are numbered in their order.
plan::Line lineOf(mlir::func::FuncOp main);

// A copy of the module, where `line` is of its main. Null where an argument lends its memory to a result
// that is not there.
mlir::OwningOpRef<mlir::ModuleOp> shortened(mlir::ModuleOp module, const plan::Line &line,
                                            const plan::FewerLayers &fewer);

} // namespace tessera
