#include "lib/target/X86Processors.h"

#include "include/tessera/cpu_features.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <memory>

namespace tessera::target {

using Subtarget = std::unique_ptr<llvm::MCSubtargetInfo>;

static Subtarget subtarget(llvm::StringRef cpu) {
  static const llvm::Target *target = [] {
    llvm::InitializeNativeTarget();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(llvm::sys::getDefaultTargetTriple()),
                                              error);
  }();
  return Subtarget(target->createMCSubtargetInfo(llvm::Triple(llvm::sys::getDefaultTargetTriple()),
                                                 cpu, /*Features=*/""));
}

static llvm::StringSet<> enabled(const llvm::MCSubtargetInfo &subtarget) {
  llvm::StringSet<> names;
  for (const llvm::SubtargetFeatureKV &feature : subtarget.getEnabledProcessorFeatures())
    names.insert(feature.Key);
  return names;
}

bool everyX8664Has(llvm::StringRef feature) {
  static const llvm::StringSet<> names = enabled(*subtarget("x86-64"));
  return names.contains(feature);
}

static bool is64Bit(const llvm::MCSubtargetInfo &subtarget) {
  llvm::StringSet<> has = enabled(subtarget);
  return has.contains("64bit") && has.contains("sse2");
}

unsigned x86VectorBits(llvm::ArrayRef<std::string> features) {
  unsigned bits = 128;
  for (const std::string &name : features) {
    if (name == "avx512f")
      bits = 512;
    if (name == "avx2" || name == "avx")
      bits = std::max(bits, 256u);
  }
  return bits;
}

template <typename Has> static Processor described(llvm::StringRef name, const Has &has) {
  Processor processor{name.str(), 0, {}};
  for (const cpu::Feature &feature : cpu::kFeatures)
    if (has(feature))
      processor.features.push_back(std::string(feature.name));
  processor.vectorBits = x86VectorBits(processor.features);
  return processor;
}

llvm::Expected<Processor> x86Processor(llvm::StringRef name) {
  if (name == "native")
    return described(llvm::sys::getHostCPUName(), [](const cpu::Feature &feature) {
      return cpu::isHere(feature) && cpu::request(feature) == 0;
    });
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
  llvm::StringSet<> has = enabled(*known);
  return described(name, [&](const cpu::Feature &feature) {
    return has.contains(llvm::StringRef(feature.name));
  });
}

std::string x86ProcessorNames() {
  std::string names = "native\n";
  for (const llvm::SubtargetSubTypeKV &processor :
       subtarget("x86-64")->getAllProcessorDescriptions())
    if (is64Bit(*subtarget(processor.Key)))
      names += processor.Key + std::string("\n");
  return names;
}

} // namespace tessera::target
