// The types of marks.
#ifndef TESSERA_TESSERA_ATTRS_TD
#define TESSERA_TESSERA_ATTRS_TD

include "dialects/tessera/TesseraDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tessera_Attr<string name, string text> : AttrDef<Tessera_Dialect, name> { let mnemonic = text; }

def Tessera_LinkAttr : Tessera_Attr<"Link", "link"> {
  let summary = "The link between neighbours along a mesh axis";
  let description = [{
    `#tessera.link<alpha = 1.000000e-05, beta = 1.000000e+10>`: seconds until the first byte arrives, and bytes per second
    and device. What is absent is as in the topology around it.
  }];
  let parameters = (ins OptionalParameter<"::mlir::FloatAttr">:$alpha, OptionalParameter<"::mlir::FloatAttr">:$beta);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tessera_TopologyAttr : Tessera_Attr<"Topology", "topology"> {
  let summary = "The machine that the cost model counts on: `tessera.topology` of the module";
  let description = [{
    `#tessera.topology<name = "pod", alpha = 1.000000e-06, axes = {data = #tessera.link<beta = 1.000000e+10>}>`: the fields
    of docs/topology.md. What is absent is as in the default. Set where the program is read; every phase that asks for
    prices reads it.
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$name,
                        OptionalParameter<"::mlir::FloatAttr">:$alpha, OptionalParameter<"::mlir::FloatAttr">:$beta,
                        OptionalParameter<"::mlir::FloatAttr">:$flops, OptionalParameter<"::mlir::FloatAttr">:$memory,
                        OptionalParameter<"::mlir::DictionaryAttr", "links of their own, by mesh axis">:$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// With all that is absent filled in.
    ::tessera::cost::Topology toTopology() const;
  }];
}

def Tessera_TripCountAttr : Tessera_Attr<"TripCount", "trip_count"> {
  let summary = "How often a loop runs: `tessera.trip_count` of stablehlo.while";
  let description = [{
    `#tessera.trip_count<8>`. Import finds it; a loop without one ends by its data. Every phase that weighs what is inside
    of a loop reads it, and the program of the device counts instead of asking the condition.
  }];
  let parameters = (ins "int64_t":$trips);
  let assemblyFormat = "`<` $trips `>`";
  let genVerifyDecl = 1;
}

def Tessera_PartialAttr : Tessera_Attr<"Partial", "partial"> {
  let summary = "By what the parts of unreduced results are combined: `tessera.partial` of an operation with results";
  let description = [{
    `#tessera.partial<max>`: product, max, min, and, or. A sum has no mark: it is what `unreduced` says by itself. Reshard
    sets it; localize makes of it the kind of the collective.
  }];
  let parameters = (ins "::tessera::sharding::ReductionKind":$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TESSERA_TESSERA_ATTRS_TD
