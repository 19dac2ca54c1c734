#include "dialects/comm/CommOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::comm;

#include "dialects/comm/CommDialect.cpp.inc"
#include "dialects/comm/CommEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/comm/CommTypes.cpp.inc"

void CommDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/comm/CommTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/comm/CommOps.cpp.inc"
      >();
}
