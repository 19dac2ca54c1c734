// What a compiled program shows that a mend may begin with: where values lie, what moves, and what is
// computed more than once. In axes of the mesh of the program as it was read.
#pragma once

#include "lib/sharding/Sharding.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace tessera::mends {

struct MovedValue {
  int32_t op = -1; // its number after reading; -1 for what no op of the program makes
  unsigned result = 0;
  int32_t user = -1; // the number of the op that needs it otherwise
  sharding::TensorSharding from, to;
  bool partial = false; // it is a sum that is yet to be made
  double seconds = 0;   // trips of loops included
};

// Products that the same devices compute, along the axes that split none of their dimensions.
struct RepeatedProducts {
  std::vector<std::string> axes;
  int64_t copies = 1, ops = 0; // each `copies` times
  double flops = 0;            // a device's, beyond its even share
  int32_t dearest = -1;        // number after reshard
};

struct Observations {
  std::vector<sharding::TensorSharding> arguments;
  llvm::DenseMap<int32_t, sharding::TensorSharding> lies; // first results of ops, by number
  std::vector<MovedValue> moved;                          // dearest first
  std::vector<RepeatedProducts> repeated;                 // likewise
};

// Of @main after reshard, its ops numbered then; `mesh`: of the program as it was read.
Observations observe(mlir::ModuleOp module, const sharding::Mesh &mesh);

} // namespace tessera::mends
