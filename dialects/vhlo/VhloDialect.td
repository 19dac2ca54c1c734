// The dialect of portable artifacts, with one attribute and one type that stand for all of its own.
#ifndef TESSERA_VHLO_DIALECT_TD
#define TESSERA_VHLO_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"

def Vhlo_Dialect : Dialect {
  let name = "vhlo";
  let cppNamespace = "::tessera::vhlo";
  let summary = "StableHLO as portable artifacts carry it: every operation, attribute and type with a version";
  let description = [{
    The operations are rows of a table (OpTable.cpp), not classes. Attributes and types wrap the ones of
    StableHLO and MLIR that they stand for: what is versioned is only how they are written.
  }];
  let hasConstantMaterializer = 0;
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::mlir::func::FuncDialect",
                           "::mlir::quant::QuantDialect"];
  let extraClassDeclaration = [{
    void registerOperations();
    void registerBytecode();
    mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
    void printAttribute(mlir::Attribute attr, mlir::DialectAsmPrinter &printer) const override;
    mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
    void printType(mlir::Type type, mlir::DialectAsmPrinter &printer) const override;
  private:
    mlir::TypeIDAllocator operationIds;
  public:
  }];
}

def Vhlo_VersionedType : TypeDef<Vhlo_Dialect, "Versioned"> {
  let summary = "A type in the versioned form, such as !vhlo.tensor_v1<2x!vhlo.f32_v1> for tensor<2xf32>";
  let typeName = "vhlo.type";
  let parameters = (ins "mlir::Type":$plain);
  let extraClassDeclaration = [{ void print(mlir::AsmPrinter &printer) const; }];
}

def Vhlo_VersionedAttr : AttrDef<Vhlo_Dialect, "Versioned"> {
  let summary = "An attribute in the versioned form, such as #vhlo.string_v1<\"f\"> for \"f\"";
  let attrName = "vhlo.attr";
  let parameters = (ins "tessera::vhlo::AttrForm":$form, "mlir::Attribute":$plain);
  let extraClassDeclaration = [{ void print(mlir::AsmPrinter &printer) const; }];
}

#endif
