#include "passes/codegen/gpu/DeviceMath.h"

#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/LlvmTypes.h"
#include "passes/codegen/gpu/DeviceRemainder.h"

namespace tessera::codegen::gpu {

std::string defineMath(llvm::Module &module) {
  defineDoubles(module);
  for (llvm::Function &function : module) {
    if (isDoubleFunction(function))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    if (function.getName() != "fmodf" && function.getName() != "fmod")
      return function.getName().str();
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    flushSubnormals(function);
    writeRemainder(function);
  }
  return "";
}

} // namespace tessera::codegen::gpu
