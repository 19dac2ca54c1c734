// What programs are compiled for: one table, which the command line, import and codegen ask.
//
//   --target=cpu --target-cpu=x86-64-v3,x86-64-v4
//   -> {"cpu", {{"x86-64-v4", 512, {"sse3", .., "avx512f", ..}}, {"x86-64-v3", 256, {"sse3", ..}}}}
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tessera::target {

// What one image of code is made for: a processor, or a level of instruction sets; a GPU's
// architecture.
struct Processor {
  std::string name;        // LLVM's: instructions are scheduled for it; "sm_80"
  unsigned vectorBits = 0; // of the vectors that kernels use; of a GPU a thread's widest access
  std::vector<std::string> features; // the instruction sets that kernels may use; of a GPU its PTX
};

// Who writes the kernels of a target.
enum class Generator { Cpu, Gpu };

struct Target {
  llvm::StringRef name; // as the command line and #tessera.target have it
  Generator generator;
};

llvm::ArrayRef<Target> targets();
// Fails on a name that is none of theirs, with what to write instead.
llvm::Expected<Target> find(llvm::StringRef name);

// A target with what its images of code are made for, best first: an image comes before those whose
// instruction sets it has, and the loader takes the first that its machine can run.
struct Choice {
  std::string target;
  std::vector<Processor> processors; // one at least
};

// What --target and --target-cpu name: of the latter one or more, separated by commas; `native` is
// this machine's. A GPU's architectures follow the target's name instead: cuda:sm_80,sm_90a.
llvm::Expected<Choice> choose(llvm::StringRef target, llvm::StringRef processors);

inline constexpr char kDefaultTarget[] = "cpu", kDefaultProcessor[] = "native";

} // namespace tessera::target
