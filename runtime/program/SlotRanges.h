// The bytes that one instruction works on at once, and whether it may.
//
//   reads [0, 64) and [64, 128), writes [128, 192)     nothing is wrong
//   reads [0, 64), writes [32, 96)                     a result over an operand
#pragma once

#include "runtime/program/Decoded.h"

namespace tessera::runtime {

class SlotRanges {
public:
  void add(const Slot &at, int64_t bytes, bool written);
  // What is wrong with them; null for nothing.
  const char *overlap();

private:
  struct Range {
    int space;
    uint32_t index;
    uint64_t begin, end;
    bool written;
  };
  std::vector<Range> ranges_;
};

} // namespace tessera::runtime
