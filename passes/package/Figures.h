// What one execution of a device program moves and holds: the "collectives" and "memory" of the
// compile report.
#pragma once

#include "dialects/exec/ExecOps.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

struct CollectiveFigures {
  std::string kind; // all-reduce, all-gather, ..; send, receive
  std::string axes; // "data,model:(1)2", major to minor
  std::optional<int64_t>
      trips; // of the loops around it; absent where data decides: then figures are of one trip
  int64_t count = 0; // executions
  int64_t bytes = 0; // what the device receives or reduces: the result's bytes, of a reduce-scatter
                     // the operand's
  int64_t wireBytes = 0;         // what it sends in a ring
  std::string location;          // file:line:column
  mlir::Operation *op = nullptr; // the instruction
};

// Of one memory.
struct MemoryFigures {
  int64_t arguments = 0, outputs = 0; // outputs that take an argument's buffer count there
  int64_t arena = 0;                  // the device's: with the scratch of kernels
  int64_t scratch = 0;                // of that: what arrays alone would not take
  int64_t total() const { return arguments + outputs + arena; }
};

// One row a site, in program order; of a branch the block that sends most. What a function moves is
// counted for each call.
std::vector<CollectiveFigures> collectiveFigures(exec::ProgramOp program);
// The same of what is copied between the device's memory and the host's: `kind` is to-host or
// to-device, and nothing goes over a link.
std::vector<CollectiveFigures> transferFigures(exec::ProgramOp program);

// That a buffer lies in.
exec::Memory memoryOf(mlir::Value buffer);
MemoryFigures memoryFigures(exec::ProgramOp program, exec::Memory memory = exec::Memory::Device);

// "file:line:column", the name of a location without a file, or "".
std::string locationText(mlir::Location location);

} // namespace tessera
