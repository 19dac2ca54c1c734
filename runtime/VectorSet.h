// Loops that are compiled once for each instruction set (comm/ReduceLoops.h, library/FftLoops.h,
// library/SolveLoops.h): which of them this machine runs.
#pragma once

namespace tessera::runtime {

enum class VectorSet { Baseline, Avx2, Avx512 };

inline VectorSet vectorSet() {
#if defined(__x86_64__)
  static const VectorSet set =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
          ? VectorSet::Avx512
      : __builtin_cpu_supports("avx2") ? VectorSet::Avx2
                                       : VectorSet::Baseline;
  return set;
#else
  return VectorSet::Baseline;
#endif
}

} // namespace tessera::runtime
