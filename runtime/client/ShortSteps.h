// Steps that are over before a worker would have woken up: the thread that starts one carries it out.
#pragma once

#include "runtime/pool/Pool.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <utility>

namespace tessera::runtime {

// Whether a step of the program can only be short: few instructions, no loops, small arrays, on all
// of its devices together.
bool isShort(const LoadedProgram &program);

// Of one call, one thread at a time: whether the next step is worth carrying out here, by how long
// the last ones took.
class ShortSteps {
public:
  // Of a single device a worker is worth waking earlier: others take parts of its longer kernels.
  explicit ShortSteps(size_t devices) : longest_(devices == 1 ? 20'000 : 50'000) {}

  bool isNext() {
    if (pause_ == 0)
      return true;
    --pause_;
    return false;
  }
  void took(int64_t nanoseconds) {
    constexpr int most = 64;
    if (nanoseconds <= longest_)
      next_ = 1;
    else
      pause_ = std::exchange(next_, std::min(2 * next_, most));
  }

private:
  int64_t longest_;          // nanoseconds
  int pause_ = 0, next_ = 1; // steps for workers: now, and after the next one that takes long
};

} // namespace tessera::runtime
