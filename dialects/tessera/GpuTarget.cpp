#include "dialects/tessera/GpuTarget.h"

#include "dialects/tessera/Marks.h"
#include "lib/target/GpuArchitectures.h"

namespace tessera {

bool isForGpu(mlir::ModuleOp module) {
  TargetAttr target = getTarget(module);
  return target && llvm::any_of(target.getProcessors(), [](ProcessorAttr processor) {
           return target::isGpu(processor.toProcessor());
         });
}

} // namespace tessera
