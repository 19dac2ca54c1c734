#include "passes/codegen/cpu/CpuTarget.h"

#include "include/tessera/cpu_features.h"
#include "lib/target/X86Processors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

namespace tessera::codegen {

llvm::Expected<CpuTarget> CpuTarget::of(target::Processor processor) {
  for (const std::string &name : processor.features)
    if (!cpu::find(name))
      return llvm::createStringError("processor '" + processor.name + "': the instruction set '" +
                                     name + "' is none that kernels know");
  unsigned bits = processor.vectorBits, widest = target::x86VectorBits(processor.features);
  if (bits < 128 || bits > widest || !llvm::isPowerOf2_32(bits))
    return llvm::createStringError("processor '" + processor.name + "' with vectors of " +
                                   llvm::Twine(bits) +
                                   " bits: with its instruction sets they have 128" +
                                   (widest > 128 ? ", 256" : "") + (widest > 256 ? ", 512" : ""));
  auto has = [&](const char *name) { return llvm::is_contained(processor.features, name); };
  VectorFeatures vectors{.bytes = bits / 8,
                         .bf16 = has("avx512bf16"),
                         .bf16Words = bits == 512 && has("avx512bf16") && has("avx512bw"),
                         .f16 = has("f16c"),
                         .bf16Tiles = has("amx-tile") && has("amx-bf16"),
                         .masks = has("avx512f"),
                         .lookUps = has("avx512f") && has("avx512dq"),
                         .prefetches = true,
                         .pairs = bits == 512   ? has("avx512bw")
                                  : bits == 256 ? has("avx2")
                                                : false};
  vectors.addsPairs = vectors.pairs && has("avx512vnni") && (bits == 512 || has("avx512vl"));
  return CpuTarget{std::move(processor), vectors};
}

CpuTarget CpuTarget::host() {
  return llvm::cantFail(of(llvm::cantFail(target::x86Processor(target::kDefaultProcessor))));
}

// What LLVM could detect and the processor does not have is switched off, last, with all that needs
// it; whatever LLVM's model of the processor says.
std::string CpuTarget::switches() const {
  std::string on, off;
  for (const std::string &name : processor.features)
    on += "+" + name + ",";
  for (const auto &[name, isHere] : llvm::sys::getHostCPUFeatures())
    if (!llvm::is_contained(processor.features, name) && !target::everyX8664Has(name))
      off += "-" + name.str() + ",";
  return llvm::StringRef(on + off).rtrim(',').str();
}

} // namespace tessera::codegen
