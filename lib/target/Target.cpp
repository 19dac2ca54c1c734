#include "lib/target/Target.h"

#include "lib/target/X86Processors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::target {

// shadow: the code of cpu, on a runtime device that finds what takes the device for the host.
static constexpr Target kTargets[] = {{"cpu", Generator::Cpu}, {"shadow", Generator::Cpu}};

llvm::ArrayRef<Target> targets() { return kTargets; }

llvm::Expected<Target> find(llvm::StringRef name) {
  for (const Target &target : kTargets)
    if (target.name == name)
      return target;
  if (name.split(':').first == "cuda")
    return llvm::createStringError("--target=" + name +
                                   ": this build generates code for CPUs only; use --target=cpu");
  return llvm::createStringError(
      "--target=" + name + ": no such target; use " +
      llvm::join(llvm::map_range(
                     kTargets, [](const Target &known) { return "--target=" + known.name.str(); }),
                 " or "));
}

static llvm::Expected<Processor> processor(Generator generator, llvm::StringRef name) {
  switch (generator) {
  case Generator::Cpu:
    return x86Processor(name);
  }
  llvm_unreachable("a generator without processors");
}

llvm::Expected<Choice> choose(llvm::StringRef target, llvm::StringRef processors) {
  llvm::Expected<Target> known = find(target);
  if (!known)
    return known.takeError();
  Choice choice{target.str(), {}};
  for (llvm::StringRef name : llvm::split(processors, ',')) {
    llvm::Expected<Processor> made = processor(known->generator, name.trim());
    if (!made)
      return made.takeError();
    for (const Processor &other : choice.processors)
      if (other.features == made->features)
        return llvm::createStringError(
            "--target-cpu=" + processors + ": '" + other.name + "' and '" + made->name +
            "' have the same instruction sets as far as kernels use them; name one of them");
    choice.processors.push_back(std::move(*made));
  }
  // Who has all instruction sets of another has more of them.
  llvm::stable_sort(choice.processors, [](const Processor &a, const Processor &b) {
    return std::pair(a.vectorBits, a.features.size()) > std::pair(b.vectorBits, b.features.size());
  });
  return choice;
}

} // namespace tessera::target
