// A resharded module as plain data: its values with their reasons, and for every op that moves data
// the cause.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "dialects/sdy/SdyOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

// On every sdy.reshard that the program itself asks for, so that those of the reshard phase can be
// told apart.
void markReshardsAskedFor(mlir::ModuleOp module);

struct Cause {
  int32_t value = -1; // that is moved
  std::string text;
};

struct ExplainedModule {
  std::vector<explain::Value> values;
  llvm::DenseMap<int32_t, Cause> causes; // by the op's number
};

// Reads @main after reshard, takes the notes of propagation off it, and numbers its ops.
ExplainedModule explainModule(mlir::ModuleOp module);

} // namespace tessera
