// Annotations in a module, as a person would write them.
#pragma once

#include "dialects/sdy/SdyOps.h"
#include "lib/mesh/Mesh.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Annotates the result of an op: behind it stands a constraint, which all others use; what loops and
// branches give is annotated on the op.
void annotateValue(mlir::Value value, sdy::TensorShardingAttr sharding);

// Gives the module this mesh instead of those that nothing is on.
void addMesh(mlir::ModuleOp module, const sharding::Mesh &mesh);

} // namespace tessera
