#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamicOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerDynamicOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/DynamicOps.cpp.inc"
      >();
}

} // namespace tessera::stablehlo
