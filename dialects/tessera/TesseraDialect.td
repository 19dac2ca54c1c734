// The `tessera` dialect: what one phase leaves for another, as attributes.
#ifndef TESSERA_TESSERA_DIALECT_TD
#define TESSERA_TESSERA_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Tessera_Dialect : Dialect {
  let name = "tessera";
  let summary = "Marks: what one phase of the compiler leaves for another.";
  let description = [{
    Discardable attributes with a type, a place and one pair of functions that read and write them
    (dialects/tessera/Marks.h). An attribute of this dialect that is unknown, of another type or in another place than
    the table of Marks.cpp says is an error of the verifier.
  }];
  let cppNamespace = "::tessera";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();"; // beside the attributes' storage
}

#endif // TESSERA_TESSERA_DIALECT_TD
