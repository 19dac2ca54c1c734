// Which steps are over before a worker would have woken up: the thread that starts one carries it
// out. The runtime decides by it, and the compiler predicts by it. Needs nothing else.
#pragma once

namespace tessera::steps {

// Of a step, on all devices together.
struct Size {
  bool hasLoops = false;
  double devices = 1;
  double instructions = 0;
  double bytes = 0; // of arguments, results and temporaries
};

inline bool isShort(const Size &size) {
  // Nobody else would have taken a part of a single device's step but of its long kernels: there more
  // bytes are over in the same time.
  constexpr double mostInstructions = 2048, mostBytes = 128 << 10, mostOfOne = 1 << 20;
  return !size.hasLoops && size.instructions <= mostInstructions &&
         size.bytes <= (size.devices > 1 ? mostBytes : mostOfOne);
}

} // namespace tessera::steps
