#include "passes/memory/Lenders.h"

using namespace mlir;

namespace tessera::memory {

SmallVector<BlockArgument> lendersOf(func::FuncOp func) {
  SmallVector<BlockArgument> lenders(func.getNumResults());
  if (!func.isExternal())
    for (BlockArgument argument : func.getArguments())
      if (auto output =
              func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tf.aliasing_output"))
        lenders[output.getInt()] = argument;
  return lenders;
}

} // namespace tessera::memory
