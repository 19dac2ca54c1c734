// A program as the interpreter runs it: flat instructions, control flow as jumps, operands as slots
// of a table of pointers that each device fills for itself.
#pragma once

#include "include/tessera/kernel_abi.h"
#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Layout.h"
#include "runtime/program/Blocks.h"
#include "runtime/program/Groups.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

enum class Opcode : uint8_t {
  Dispatch,    // kernel a on the slots from b on
  Start,       // collective a: operands, then results, in the slots from b on
  Wait,        // site a
  Copy,        // c bytes from slot b to slot b + 1
  Coordinate,  // index along axes a to slot b
  EnterLoop,   // counter a = c; to b if c is 0
  NextTrip,    // to b unless counter a, less one, is 0
  JumpIfFalse, // to b if slot a holds 0
  Jump,        // to b
  Switch,      // to one of the c jump targets from b on, by the i32 in slot a
  End,
};

struct Instruction {
  Opcode opcode;
  uint32_t a = 0, b = 0, location = 0;
  uint64_t c = 0;
};

struct Slot {
  program::Buffer::Space space; // an OUTPUT that aliases an input is an INPUT here
  uint32_t index;
  uint64_t offset;
};

struct KernelEntry {
  TesseraKernel function;
  uint32_t grid;
  uint32_t
      chunk;  // cells that a worker takes at a time; the whole grid when it is not worth sharing
  bool wakes; // worth waking sleeping workers for
  std::string symbol;
  uint32_t operands = 0;
  std::shared_ptr<const void> plan = nullptr; // of a kernel that the runtime brings
  void (*prepare)(const void *plan) =
      nullptr;           // makes tables before the first call; may be called twice
  bool used = false;     // some instruction runs it
  uint32_t location = 0; // of the first one
};

struct Decoded {
  std::vector<Instruction> code;
  std::vector<Slot> slots;
  std::vector<KernelEntry> kernels;
  std::vector<CollectivePlan> collectives;
  std::vector<GroupSet> groupSets;
  std::vector<AxisRefs> coordinates;
  std::vector<uint32_t> targets;
  uint32_t counters = 0;
  uint32_t sites = 0; // sites are numbered densely here
  uint64_t scratchBytes = 0;
};

// Of the loops around an instruction the one that most likely takes long, by its jump back: the
// innermost whose end data decides, or the outermost that is counted. Null outside of loops.
const Instruction *longestLoop(const Decoded &decoded, uint32_t instruction);

using SymbolResolver = std::function<void *(const std::string &)>;

// Validates every instruction and flattens them. Kernels have no functions yet: resolveKernels
// finds those.
Result<Decoded> decode(const program::Program &program, const MeshGrid &mesh);
Status resolveKernels(const program::Program &program, const SymbolResolver &symbols,
                      Decoded &decoded);

} // namespace tessera::runtime
