#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/CollectiveOps.cpp.inc"
      >();
}

LogicalResult AllGatherOp::verify() { return success(); }
LogicalResult AllReduceOp::verify() { return success(); }
LogicalResult AllToAllOp::verify() { return success(); }
LogicalResult CollectiveBroadcastOp::verify() { return success(); }
LogicalResult CollectivePermuteOp::verify() { return success(); }
LogicalResult ReduceScatterOp::verify() { return success(); }

} // namespace tessera::stablehlo
