// What passes ask of an op, said once by the op itself: how its elements depend on its operands', what it costs, how it
// is fused, partitioned and computed. An op of any dialect takes part by implementing those that hold for it, beside
// sdy's ShardingRuleOpInterface. An elementwise op needs no other than the first: the rest follows from it.
#ifndef TESSERA_OP_INTERFACES_TD
#define TESSERA_OP_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Tessera_OpInterface<string name> : OpInterface<name> { let cppNamespace = "::tessera"; }

//===-------------------------------- Interfaces ------------------------------===//

def ElementwiseOpInterface : Tessera_OpInterface<"ElementwiseOpInterface"> {
  let description = [{
    An op that computes each element of its results from the elements of its operands at the same place. An operand
    without dimensions is the same for every element. What follows from that, unless the op says otherwise: its
    sharding rule passes every dimension through, localize makes the same op on local parts, fuse joins it to others.
  }];
  let methods = [
    InterfaceMethod<"How places of the operands and the results belong together.",
                    "::tessera::ElementwiseKind", "getElementwiseKind">,
    InterfaceMethod<"Whether an element is worth computing twice.", "::tessera::ElementWeight", "getElementWeight">,
  ];
}

def PartialValueOpInterface : Tessera_OpInterface<"PartialValueOpInterface"> {
  let description = [{
    An op that commutes with some reduction of its operands over devices. The partial-value law
    (lib/sharding/PartialLaw.h) decides; the op says which of its entries it is. An op without is never computed on
    partial values.
  }];
  let methods = [InterfaceMethod<"The op's entry in the partial-value law.", "::tessera::sharding::PartialLaw", "getPartialLaw">];
}

def CostOpInterface : Tessera_OpInterface<"CostOpInterface"> {
  let description = [{
    What one run of an op costs, from its types: global ones before localize, a device's after it. An op without costs
    one operation an element of its first result.
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations; a fused multiplication and addition are two.", "double", "getFlops">,
    InterfaceMethod<"Bytes that it reads and writes.", "double", "getBytes", (ins), "", [{ return ::tessera::bytesOfArrays($_op); }]>,
  ];
}

def FusionOpInterface : Tessera_OpInterface<"FusionOpInterface"> {
  let description = [{
    What the fuse phase may do with an op: join it to others in one kernel, and how (lib/fusion/NodeKinds.h). An op
    without stays outside of kernels, unless it is elementwise or computed by a library.
  }];
  let methods = [
    InterfaceMethod<"The node that it is among those that become kernels.", "::tessera::fusion::NodeKind", "getFusionKind">,
    InterfaceMethod<"How it reads an operand.", "::tessera::fusion::Use", "getOperandUse", (ins "unsigned":$operand), "",
                    [{ return ::tessera::usualUse($_op, $_op.getFusionKind(), operand); }]>,
  ];
}

def LocalizationOpInterface : Tessera_OpInterface<"LocalizationOpInterface"> {
  let description = [{
    How an op on global values becomes one on a device's parts. Ops that need more than this have handlers of their own
    in the localize phase; an op that has neither, and is not elementwise, is refused when a program is partitioned.
  }];
  let methods = [InterfaceMethod<"What localize does with it.", "::tessera::Localization", "getLocalization">];
}

def LibraryCallOpInterface : Tessera_OpInterface<"LibraryCallOpInterface"> {
  let description = [{
    An op that no code is generated for: a function computes it that the runtime brings (include/tessera/library.h) or
    that its user registers there by name. It is alone in its kernel and reads and writes arrays in memory.
  }];
  let methods = [
    InterfaceMethod<"The function, with its numbers or attributes; fails, with a diagnostic, where there is none for these types.",
                    "::mlir::FailureOr<::tessera::LibraryCall>", "getLibraryCall">,
  ];
}

//===------------------------- Interfaces with their answers ------------------===//

class AnsweredBy<string trait, string answer> : NativeOpTrait<trait # "<" # answer # ">::Impl"> { let cppNamespace = "::tessera"; }

// ElementwiseOpInterface: Cheap or Expensive; Compute or Convert.
class ComputesElements<string weight = "Cheap", string kind = "Compute">
    : TraitList<[ElementwiseOpInterface,
                 AnsweredBy<"ElementwiseAs", "::tessera::ElementwiseKind::" # kind # ", ::tessera::ElementWeight::" # weight>]>;
// PartialValueOpInterface
class FollowsLaw<string law>
    : TraitList<[PartialValueOpInterface, AnsweredBy<"PartialAs", "::tessera::sharding::PartialLaw::" # law>]>;
// FusionOpInterface
class FusesAs<string kind> : TraitList<[FusionOpInterface, AnsweredBy<"FusedAs", "::tessera::fusion::NodeKind::" # kind>]>;
// LocalizationOpInterface
class LocalizedAs<string how>
    : TraitList<[LocalizationOpInterface, AnsweredBy<"LocalizeAs", "::tessera::Localization::" # how>]>;

#endif // TESSERA_OP_INTERFACES_TD
