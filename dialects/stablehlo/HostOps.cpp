#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/HostOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerHostOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/HostOps.cpp.inc"
      >();
}

} // namespace tessera::stablehlo
