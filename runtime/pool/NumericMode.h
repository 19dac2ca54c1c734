// How a thread computes with kernels, whatever the host has set: rounded to nearest, and numbers
// below the normal range count as zero. A training step is full of them where gradients vanish, and
// computing with them is up to a hundred times slower.
#pragma once

#include <cstdint>

namespace tessera::runtime {

// For the rest of the scope.
class NumericMode {
public:
#if defined(__x86_64__)
  NumericMode() : before_(__builtin_ia32_stmxcsr()) {
    constexpr uint32_t exceptionsMasked = 0x1f80, flushToZero = 0x8000, denormalsAreZero = 0x0040;
    __builtin_ia32_ldmxcsr(exceptionsMasked | flushToZero | denormalsAreZero);
  }
  ~NumericMode() { __builtin_ia32_ldmxcsr(before_); }

private:
  uint32_t before_;
#else
  NumericMode() {}
  ~NumericMode() {}
#endif

public:
  NumericMode(const NumericMode &) = delete;
  NumericMode &operator=(const NumericMode &) = delete;
};

} // namespace tessera::runtime
