#include "passes/codegen/cpu/CpuTarget.h"

#include "include/tessera/cpu_features.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <memory>

namespace tessera::codegen {

using Subtarget = std::unique_ptr<llvm::MCSubtargetInfo>;

static Subtarget subtarget(llvm::StringRef cpu, llvm::StringRef switches = "") {
  static const llvm::Target *target = [] {
    llvm::InitializeNativeTarget();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(llvm::sys::getDefaultTargetTriple()),
                                              error);
  }();
  return Subtarget(target->createMCSubtargetInfo(
      llvm::Triple(llvm::sys::getDefaultTargetTriple()), cpu, switches));
}

static llvm::StringSet<> enabled(const llvm::MCSubtargetInfo &subtarget) {
  llvm::StringSet<> names;
  for (const llvm::SubtargetFeatureKV &feature : subtarget.getEnabledProcessorFeatures())
    names.insert(feature.Key);
  return names;
}

static const llvm::StringSet<> &everyX8664Has() {
  static const llvm::StringSet<> names = enabled(*subtarget("x86-64"));
  return names;
}

static bool is64Bit(const llvm::MCSubtargetInfo &subtarget) {
  llvm::StringSet<> has = enabled(subtarget);
  return has.contains("64bit") && has.contains("sse2");
}

VectorFeatures CpuTarget::vectors() const {
  VectorFeatures vectors;
  for (const std::string &name : features) {
    if (name == "avx512f")
      vectors.bytes = 64;
    if (name == "avx2" || name == "avx")
      vectors.bytes = std::max(vectors.bytes, 32u);
    if (name == "avx512bf16")
      vectors.bf16 = true;
    if (name == "f16c")
      vectors.f16 = true;
  }
  return vectors;
}

// What LLVM could detect and the target does not have is switched off, last, with all that needs
// it; whatever LLVM's model of the processor says.
std::string CpuTarget::switches() const {
  std::string on, off;
  for (const std::string &name : features)
    on += "+" + name + ",";
  for (const auto &[name, isHere] : llvm::sys::getHostCPUFeatures())
    if (!llvm::is_contained(features, name) && !everyX8664Has().contains(name))
      off += "-" + name.str() + ",";
  return llvm::StringRef(on + off).rtrim(',').str();
}

CpuTarget CpuTarget::host() {
  CpuTarget target{llvm::sys::getHostCPUName().str(), {}};
  for (const cpu::Feature &feature : cpu::kFeatures)
    if (cpu::isHere(feature))
      target.features.push_back(std::string(feature.name));
  return target;
}

llvm::Expected<CpuTarget> CpuTarget::named(llvm::StringRef name) {
  if (name == "native")
    return host();
  Subtarget known = subtarget("x86-64");
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError("--target-cpu=" + name + ": " + why +
                                   "; use native, x86-64-v3, x86-64-v4 or a name that `tessera "
                                   "compile --target-cpu=help` lists");
  };
  if (!known->isCPUStringValid(name))
    return fail("LLVM knows no x86 processor of that name");
  known = subtarget(name);
  if (!is64Bit(*known))
    return fail("not a 64-bit processor");
  CpuTarget target{name.str(), {}};
  llvm::StringSet<> has = enabled(*known);
  for (const cpu::Feature &feature : cpu::kFeatures)
    if (has.contains(llvm::StringRef(feature.name)))
      target.features.push_back(std::string(feature.name));
  return target;
}

std::string CpuTarget::names() {
  std::string names = "native\n";
  for (const llvm::SubtargetSubTypeKV &processor :
       subtarget("x86-64")->getAllProcessorDescriptions())
    if (is64Bit(*subtarget(processor.Key)))
      names += processor.Key + std::string("\n");
  return names;
}

} // namespace tessera::codegen
