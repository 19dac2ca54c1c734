// What this machine's CPU can do, in the names that LLVM gives to features.
#pragma once

#include <string>
#include <vector>

namespace tessera::runtime {

// Those of `wanted` ("avx2", "avx512bf16", ..) that this CPU lacks, or that are not in
// tessera/cpu_features.h.
std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &wanted);

} // namespace tessera::runtime
