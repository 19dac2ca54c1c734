// Which values a program computes again so that a device holds no more than a bound.
#pragma once

#include "mlir/IR/OwningOpRef.h"
#include "passes/fuse/RematTrial.h"

namespace tessera::fuse {

struct RematChoice {
  mlir::OwningOpRef<mlir::ModuleOp> module; // null: as it is
  int64_t bytes = 0; // of a device: arguments, outputs and arena, as the phase memory lays them out
  int64_t peak = 0;  // of the arena, as it was estimated
  double seconds = 0; // of a step more than without, as predicted
};

// What takes most at the peak.
struct PeakValue {
  mlir::Location location;
  std::string op;
  int64_t bytes;
};

struct BoundedProgram {
  RematChoice choice; // that fits, at least time; or else the one that needs least
  bool fits = false;
  std::vector<PeakValue> peak; // of the one that needs least, where none fits
};

// `module` as it is before its kernels are formed.
mlir::FailureOr<BoundedProgram> fitInto(mlir::ModuleOp module, int64_t mostBytes);

} // namespace tessera::fuse
