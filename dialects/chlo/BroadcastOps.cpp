#include "dialects/chlo/ChloOps.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/chlo/BroadcastOps.cpp.inc"

namespace tessera::chlo {

void ChloDialect::registerBroadcastOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/chlo/BroadcastOps.cpp.inc"
      >();
}

} // namespace tessera::chlo
