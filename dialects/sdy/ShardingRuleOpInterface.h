// The op interface by which any dialect brings the sharding rules of its ops.
#pragma once

#include "lib/sharding/FactorRule.h"
#include "mlir/IR/OpDefinition.h"

#include "dialects/sdy/ShardingRuleOpInterface.h.inc"
