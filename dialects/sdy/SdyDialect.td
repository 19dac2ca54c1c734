// The `sdy` dialect: Shardy's text form of sharding annotations.
#ifndef TESSERA_SDY_DIALECT_TD
#define TESSERA_SDY_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let summary = "Axis-based sharding annotations, in Shardy's text form.";
  let description = [{
    Meshes of named axes, shardings of tensors along them, and the ops by which a program says how its values lie on a
    mesh. The text form is the one that JAX exports.
  }];
  let cppNamespace = "::tessera::sdy";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerBytecode();
  }];
}

#endif // TESSERA_SDY_DIALECT_TD
