// What the caller calls a program's inputs and outputs.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace tessera::memory {

// One name for each argument, or result, none twice. JAX writes the names of the user's function as
// locations of arguments and `jax.result_info` of results:
//
//   @main(%arg0: tensor<8xf32> loc("params['w']"), %arg1: tensor<8xf32> loc("x"))
//       -> (tensor<f32> {jax.result_info = "result['loss']"})
//
// They are what a caller knows: JAX drops arguments that nothing uses, so that their numbers here
// are not those of the user's function. Where there are none, in0, in1, .. and out0, out1, ..;
// what would be twice has its number behind it.
std::vector<std::string> argumentNames(mlir::func::FuncOp func);
std::vector<std::string> resultNames(mlir::func::FuncOp func);

} // namespace tessera::memory
