// Kernels of one operation that is no function of an index: each family has a file.
#include "passes/codegen/cpu/KernelEmitter.h"

namespace tessera::codegen {

bool emitWhole(KernelFunction &function, bool &known) {
  known = false;
  return true;
}

} // namespace tessera::codegen
