// The types of marks.
#ifndef TESSERA_TESSERA_ATTRS_TD
#define TESSERA_TESSERA_ATTRS_TD

include "dialects/tessera/TesseraDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td" // what documentation is made with

class Tessera_Attr<string name, string text> : AttrDef<Tessera_Dialect, name> { let mnemonic = text; }

def Tessera_TopologyAttr : Tessera_Attr<"Topology", "topology"> {
  let summary = "The machine that the cost model counts on: `tessera.topology` of the module";
  let description = [{
    `#tessera.topology<name = "pod", alpha = 1.000000e-06, axes = {data = {beta = 1.000000e+10}}>`: the members of
    docs/topology.md, nested as there; numbers are f64. What is absent is as in the default. Set where the program is read;
    every phase that asks for prices reads it.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$members);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// With all that is absent filled in.
    ::tessera::cost::Topology toTopology() const;
  }];
}

def Tessera_ScheduleAttr : Tessera_Attr<"Schedule", "schedule"> {
  let summary = "What the user asks of the order of a step: `tessera.schedule` of the module";
  let description = [{
    `#tessera.schedule<overlap = off, memory = 80000000000>`: whether collectives run beside computation (auto, on, off),
    and the bytes that each device has for the program, arguments and outputs included; absent: what the topology says.
    Set where the program is read; order and whoever trades memory for time read it. On stablehlo.while, which communicate
    sets it on, `overlap` says how the loop's trips are ordered. `scratch_within = 60000000000`, which fuse sets where
    nothing else fits: kernels are to have so little scratch that it takes no more with the temporaries (codegen).
    `small_attention`, likewise: attention is one kernel, whose scores are no array, also where they are few.
  }];
  let parameters = (ins "::tessera::cost::Overlap":$overlap, "std::optional<int64_t>":$memory,
    "std::optional<int64_t>":$scratch_within, "bool":$small_attention);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
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
    `#tessera.partial<max>`: product, max, min, and, or. A sum has no mark: it is what `unreduced` says by itself, as
    `unreduced=max` does. Reshard sets it; localize makes of it the kind of the collective.
  }];
  let parameters = (ins "::tessera::sharding::ReductionKind":$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tessera_ProcessorAttr : Tessera_Attr<"Processor", "processor"> {
  let summary = "What one image of code is made for: a processor, or a level of instruction sets";
  let description = [{
    `#tessera.processor<"x86-64-v3", vector_bits = 256, features = ["avx2", "fma"]>`: LLVM's name, by which instructions
    are scheduled; the bits of the vectors that kernels use; and the instruction sets (tessera/cpu_features.h) that they
    may use, beyond those of every processor of the kind.
  }];
  let parameters = (ins StringRefParameter<"LLVM's name">:$name, "unsigned":$vector_bits,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$features);
  let assemblyFormat = [{
    `<` $name `,` `vector_bits` `=` $vector_bits (`,` `features` `=` `[` $features^ `]`)? `>`
  }];
  let extraClassDeclaration = [{
    static ProcessorAttr of(::mlir::MLIRContext *context, const ::tessera::target::Processor &processor);
    ::tessera::target::Processor toProcessor() const;
  }];
}

def Tessera_TargetAttr : Tessera_Attr<"Target", "target"> {
  let summary = "What the program is compiled for: `tessera.target` of the module";
  let description = [{
    `#tessera.target<cpu, <"x86-64-v4", vector_bits = 512, features = [..]>, <"x86-64-v3", vector_bits = 256,
    features = [..]>>`: a row of the table in lib/target, and what its images of code are made for, best first. Import sets
    it; codegen chooses its pipeline by it, and any phase that wants to know of a processor reads it here.
  }];
  let parameters = (ins StringRefParameter<"a row of lib/target/Target.cpp">:$name,
                        ArrayRefParameter<"::tessera::ProcessorAttr">:$processors);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static TargetAttr of(::mlir::MLIRContext *context, const ::tessera::target::Choice &choice);
  }];
}

def Tessera_OriginAttr : Tessera_Attr<"Origin", "origin"> {
  let summary = "Why values are sharded as they are: `tessera.origin` of operations and arguments";
  let description = [{
    `#tessera.origin<["\22x\22 from argument 0, through 1 op"], []>`: lines for each result, or for the argument. Propagation
    notes them where an explanation is asked for; `tessera explain` takes them away.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr", "of strings">:$lines);
  let assemblyFormat = "`<` $lines `>`";
  let genVerifyDecl = 1;
}

def Tessera_ConflictAttr : Tessera_Attr<"Conflict", "conflict"> {
  let summary = "Who wants what where the tensors of an operation disagree: `tessera.conflict` of operations";
  let description = [{
    `#tessera.conflict<["\22x\22 along a factor of 8: operand 1 has it; result 0 uses it in another dimension"]>`: a line for
    each factor. Set and taken away as `tessera.origin` is.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$lines);
  let assemblyFormat = "`<` $lines `>`";
  let genVerifyDecl = 1;
}

def Tessera_BoundaryAttr : Tessera_Attr<"Boundary", "boundary"> {
  let summary = "What crosses the boundary of a manual region: `tessera.boundary` of GSPMD's custom calls";
  let description = [{
    `#tessera.boundary<sharding = #sdy.sharding<@mesh, ..>, manual_axes = #sdy<manual_axes{"x"}>>`: how the whole value lies
    outside of @SPMDFullToShardShape or @SPMDShardToFullShape, and in which axes the inside is manual. Between two
    passes of import, which make sdy.manual_computation of it.
  }];
  let parameters = (ins "::tessera::sdy::TensorShardingAttr":$sharding, "::tessera::sdy::ManualAxesAttr":$manual_axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===-- In locations --------------------------------------------------------------------------------------------===//

def Tessera_ValueNameAttr : Tessera_Attr<"ValueName", "value_name"> {
  let summary = "What a value is called in the text that was read: metadata of a location around its own";
  let description = [{
    `fused<#tessera.value_name<"%5">>["model.py":3:1]`, for `tessera explain`. Passes keep locations.
  }];
  let parameters = (ins StringRefParameter<>:$name);
  let assemblyFormat = "`<` $name `>`";
}

def Tessera_NumberedAfter : I32EnumAttr<"NumberedAfter", "when operations were numbered", [
    I32EnumAttrCase<"Reading", 0, "reading">, I32EnumAttrCase<"Reshard", 1, "reshard">]> {
  let cppNamespace = "::tessera";
  let genSpecializedAttr = 0;
}

def Tessera_OpNumberAttr : Tessera_Attr<"OpNumber", "op_number"> {
  let summary = "By which an operation is found again at the end of the road: metadata of a location around its own";
  let description = [{
    `fused<#tessera.op_number<12 after reading>>["model.py":3:1]`, for `tessera explain`, which numbers operations after reading
    (where changes of the program are tried) and after reshard (where collectives begin).
  }];
  let parameters = (ins "int32_t":$number, EnumParameter<Tessera_NumberedAfter>:$after);
  let assemblyFormat = "`<` $number `after` $after `>`";
}

#endif // TESSERA_TESSERA_ATTRS_TD
