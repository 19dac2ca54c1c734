// What a step of a program costs, once all of its values have shardings: it goes the road as far as its
// buffers. Of a program with many equal layers, two programs with a few of them do.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "lib/cost/StepTime.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace tessera::planning {

struct CompiledStep {
  cost::StepTime time;
  int64_t peakBytes = 0;
  int64_t givenBytes = 0;              // of that, arguments and results
  std::vector<explain::AtPeak> atPeak; // largest first
  std::string error;                   // "" where it compiles; else what its compiler says
  bool computesAgain = false;          // some of its values, as they do not fit otherwise
  bool isTooLarge = false; // nothing was found that fits, nor the least that it needs tried
  int64_t leastBytes = 0;  // that it needs, where it does not fit
  // Of how many equal layers the figures are, and how many were compiled; none: all of the program.
  int64_t layers = 0;
  llvm::SmallVector<int64_t, 2> compiledLayers;
};

// `triesLeast`: where nothing is found that fits, as far down as it goes.
CompiledStep compiledWhole(mlir::OwningOpRef<mlir::ModuleOp> propagated, bool triesLeast);

// From two numbers of layers. None where there are not many that are alike.
std::optional<CompiledStep> compiledByLayers(mlir::ModuleOp propagated, bool triesLeast);

} // namespace tessera::planning
