// What a program becomes when calls are replaced by what they call, counted before it is done:
// thirty functions that each call the next one twice are sixty lines and 2^30 operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::import {

struct CalledFunction {
  struct Call {
    size_t callee;
    uint32_t regions; // around the call, inside of the function
  };
  uint64_t operations = 0; // calls among them
  uint32_t regions = 0;    // inside of one another
  std::vector<Call> calls;
};

// Of a function with everything that it calls in place.
struct InlinedSize {
  uint64_t operations = 0; // at most kUncountable
  uint32_t regions = 0;    // inside of one another
  uint32_t calls = 0;      // inside of one another
};
inline constexpr uint64_t kUncountable = uint64_t(1) << 62;

struct CallGraph {
  std::vector<CalledFunction> functions;

  // Those that `entry` reaches, each behind all that it calls. Where one calls itself, directly or
  // through others, it is the last.
  std::vector<size_t> calleesFirst(size_t entry, bool &recursive) const;
  // Of each function of such an order, by its number; others have none.
  std::vector<InlinedSize> sizes(const std::vector<size_t> &order) const;
};

} // namespace tessera::import
