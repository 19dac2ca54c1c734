#include "lib/target/Target.h"

#include "lib/target/GpuArchitectures.h"
#include "lib/target/X86Processors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::target {

// shadow: the code of cpu, on a runtime device that finds what takes the device for the host.
// cpu_cuda: code for both in one file, each processor's by its own generator.
static constexpr Target kTargets[] = {{"cpu", Generator::Cpu},
                                      {"shadow", Generator::Cpu},
                                      {"cuda", Generator::Gpu},
                                      {"cpu_cuda", Generator::Cpu}};
static constexpr llvm::StringRef kBoth = "cpu_cuda";

llvm::ArrayRef<Target> targets() { return kTargets; }

llvm::Expected<Target> find(llvm::StringRef name) {
  for (const Target &target : kTargets)
    if (target.name == name)
      return target;
  return llvm::createStringError("--target=" + name + ": no such target; use " +
                                 llvm::join(llvm::map_range(llvm::ArrayRef(kTargets).drop_back(),
                                                            [](const Target &known) {
                                                              return "--target=" + known.name.str();
                                                            }),
                                            " or "));
}

static llvm::Expected<Processor> processor(Generator generator, llvm::StringRef name) {
  switch (generator) {
  case Generator::Cpu:
    return x86Processor(name);
  case Generator::Gpu:
    return gpuArchitecture(name);
  }
  llvm_unreachable("a generator without processors");
}

// The names of what a target's code is made for: of a GPU those behind the colon.
static llvm::Expected<llvm::StringRef> namesOf(const Target &target, llvm::StringRef architectures,
                                               llvm::StringRef processors) {
  bool isGpu = target.generator == Generator::Gpu;
  if (!isGpu && !architectures.empty())
    return llvm::createStringError("--target=" + target.name + ":" + architectures +
                                   ": what code for CPUs is made for is --target-cpu");
  if (isGpu && processors != kDefaultProcessor)
    return llvm::createStringError("--target-cpu=" + processors + ": --target=" + target.name +
                                   " is for GPUs; name them as in --target=" + target.name +
                                   ":sm_80,sm_90a");
  if (!isGpu)
    return processors;
  return architectures.empty() ? llvm::StringRef(kDefaultArchitecture) : architectures;
}

// "cpu,cuda:sm_80,sm_90a": what a GPU's architectures are is said last.
static llvm::Expected<Choice> chooseBoth(llvm::StringRef gpu, llvm::StringRef processors) {
  llvm::Expected<Choice> choice = choose("cpu", processors);
  if (!choice)
    return choice;
  llvm::Expected<Choice> other = choose(gpu, kDefaultProcessor);
  if (!other)
    return other;
  choice->target = kBoth.str();
  llvm::append_range(choice->processors, other->processors);
  return choice;
}

llvm::Expected<Choice> choose(llvm::StringRef target, llvm::StringRef processors) {
  if (target.starts_with("cpu,cuda"))
    return chooseBoth(target.drop_front(4), processors);
  auto [kind, architectures] = target.split(':');
  llvm::Expected<Target> known = find(kind);
  if (!known)
    return known.takeError();
  llvm::Expected<llvm::StringRef> names = namesOf(*known, architectures, processors);
  if (!names)
    return names.takeError();
  Choice choice{kind.str(), {}};
  bool isGpu = known->generator == Generator::Gpu;
  for (llvm::StringRef name : llvm::split(*names, ',')) {
    llvm::Expected<Processor> made = processor(known->generator, name.trim());
    if (!made)
      return made.takeError();
    for (const Processor &other : choice.processors)
      if (isGpu ? other.name == made->name : other.features == made->features)
        return llvm::createStringError(
            isGpu ? "--target=" + target + ": '" + made->name + "' is named twice"
                  : "--target-cpu=" + processors + ": '" + other.name + "' and '" + made->name +
                        "' have the same instruction sets as far as kernels use them; name one of "
                        "them");
    choice.processors.push_back(std::move(*made));
  }
  // Who has all instruction sets of another has more of them.
  llvm::stable_sort(choice.processors, [&](const Processor &a, const Processor &b) {
    if (isGpu)
      return isNewer(a, b);
    return std::pair(a.vectorBits, a.features.size()) > std::pair(b.vectorBits, b.features.size());
  });
  return choice;
}

} // namespace tessera::target
