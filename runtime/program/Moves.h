// What a program moves between devices, by its instructions.
#pragma once

#include "runtime/program/Decoded.h"
#include <map>
#include <string>

namespace tessera::runtime {

// Of one execution on one device, as the compile report counts: groups of one device move nothing.
struct Moved {
  uint64_t sites = 0; // in the program's text
  uint64_t count = 0; // executions; trips that data decides count once, and `known` is false
  uint64_t bytes = 0; // results; operands of a reduce-scatter; what is received
  bool known = true;
};

// By kind: "all_reduce", .., "send", "receive". Of a branch all blocks count.
std::map<std::string, Moved> movesOf(const Decoded &decoded);

} // namespace tessera::runtime
