#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/QuantizedOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerQuantizedOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/QuantizedOps.cpp.inc"
      >();
}

} // namespace tessera::stablehlo
