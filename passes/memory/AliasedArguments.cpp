#include "passes/memory/AliasedArguments.h"

using namespace mlir;

namespace tessera::memory {

SmallVector<BlockArgument> aliasedArgumentsOf(func::FuncOp func) {
  SmallVector<BlockArgument> aliased(func.getNumResults());
  if (!func.isExternal())
    for (BlockArgument argument : func.getArguments())
      if (auto output =
              func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tf.aliasing_output"))
        aliased[output.getInt()] = argument;
  return aliased;
}

} // namespace tessera::memory
