#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/Vhlo.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/vhlo/VhloDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/vhlo/VhloAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/vhlo/VhloTypes.cpp.inc"

namespace tessera::vhlo {

void VhloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/vhlo/VhloAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/vhlo/VhloTypes.cpp.inc"
      >();
  registerOperations();
  registerBytecode();
}

} // namespace tessera::vhlo
