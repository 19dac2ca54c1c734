// The x86 processors and levels that LLVM knows, as far as kernels use them.
#pragma once

#include "lib/target/Target.h"

namespace tessera::target {

// `native` (this machine's) or a name that LLVM knows: x86-64-v3, znver4, ..
llvm::Expected<Processor> x86Processor(llvm::StringRef name);
// What it takes, one a line.
std::string x86ProcessorNames();
// Whether an instruction set is part of every x86-64.
bool everyX8664Has(llvm::StringRef feature);
// The widest vectors that instruction sets compute with.
unsigned x86VectorBits(llvm::ArrayRef<std::string> features);

} // namespace tessera::target
