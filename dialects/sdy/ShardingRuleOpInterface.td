// The op interface by which any dialect brings the sharding rules of its ops.
#ifndef TESSERA_SDY_SHARDING_RULE_OP_INTERFACE_TD
#define TESSERA_SDY_SHARDING_RULE_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let description = "An op that knows how its operands' and results' dimensions correspond.";
  let cppNamespace = "::tessera::sdy";
  let methods = [InterfaceMethod<
    "The rule of this op: one TensorFactors an operand and one a result.",
    "::tessera::sharding::FactorRule", "getShardingRule">];
}

#endif // TESSERA_SDY_SHARDING_RULE_OP_INTERFACE_TD
