// What this machine's CPU can do, in the names that LLVM gives to features.
#pragma once

#include <string>
#include <vector>

namespace tessera::runtime {

// Those of `wanted` ("avx2", "avx512bf16", ..) that are not in tessera/cpu_features.h: whether this
// CPU has them cannot be told.
std::vector<std::string> unknownCpuFeatures(const std::vector<std::string> &wanted);
// Those that this CPU lacks, by CPUID.
std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &wanted);
// Asks the operating system for those that a process must ask for before it uses them. "", or what
// was refused and why.
std::string refusedCpuFeatures(const std::vector<std::string> &wanted);

} // namespace tessera::runtime
