#include "lib/target/GpuArchitectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::target {

namespace {

// `ptx`: the first version of the language that knows it, 8.0 at least (CUDA 12). `machine`: of
// lib/machines, with the architecture or one that is near to it. `shared`: KiB that a block can have on
// each GPU that runs code for it, which newer ones do where it does not end in a.
struct Architecture {
  llvm::StringRef name, ptx, machine;
  int64_t shared = 99;
};

constexpr Architecture kArchitectures[] = {
    {"sm_80", "ptx80", "a100"},        {"sm_86", "ptx80", "a100"},
    {"sm_89", "ptx80", "a100"},        {"sm_90", "ptx80", "h100"},
    {"sm_90a", "ptx80", "h100", 227},  {"sm_100", "ptx86", "b200"},
    {"sm_100a", "ptx86", "b200", 227}, {"sm_120", "ptx87", "b200"}};

// 16 bytes are the widest access of a thread.
constexpr unsigned kAccessBits = 128;

} // namespace

// What may stand behind an architecture, as in sm_90a+cubin.
static constexpr llvm::StringRef kExtras[] = {kCubin, kCublasLt};

static llvm::Error addExtras(llvm::StringRef names, Processor &architecture) {
  for (llvm::StringRef name : llvm::split(names, '+')) {
    if (!llvm::is_contained(kExtras, name))
      return llvm::createStringError("--target=cuda:" + architecture.name + "+" + names + ": '" +
                                     name + "' is none of " +
                                     llvm::join(llvm::ArrayRef(kExtras), ", "));
    if (!llvm::is_contained(architecture.features, name))
      architecture.features.push_back(name.str());
  }
  return llvm::Error::success();
}

llvm::Expected<Processor> gpuArchitecture(llvm::StringRef spec) {
  auto [name, extras] = spec.split('+');
  for (const Architecture &known : kArchitectures)
    if (known.name == name) {
      Processor made{name.str(), kAccessBits, {known.ptx.str()}};
      if (spec != name)
        if (llvm::Error wrong = addExtras(extras, made))
          return wrong;
      return made;
    }
  return llvm::createStringError(
      "--target=cuda:" + name + ": no architecture that kernels are generated for; known are " +
      llvm::join(llvm::map_range(kArchitectures,
                                 [](const Architecture &known) { return known.name.str(); }),
                 ", "));
}

bool isGpu(const Processor &processor) { return !machineOf(processor).empty(); }

static const Architecture *find(const Processor &architecture) {
  return llvm::find_if(kArchitectures,
                       [&](const Architecture &known) { return known.name == architecture.name; });
}

llvm::StringRef machineOf(const Processor &architecture) {
  const Architecture *known = find(architecture);
  return known == std::end(kArchitectures) ? "" : known->machine;
}

int64_t mostSharedBytes(const Processor &architecture) { return find(architecture)->shared << 10; }

bool hasWarpgroups(const Processor &architecture) { return architecture.name == "sm_90a"; }

bool isNewer(const Processor &a, const Processor &b) { return find(a) > find(b); }

} // namespace tessera::target
