#include "mlir/IR/BuiltinOps.h"
#include "passes/portable/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/portable/Passes.h.inc"

void registerPortablePasses() { registerPortablePhasePasses(); }

} // namespace tessera
