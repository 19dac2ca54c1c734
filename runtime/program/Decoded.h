// A program as the interpreter runs it: flat instructions, control flow as jumps, operands as slots
// of a table of pointers that each device fills for itself.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Layout.h"
#include "runtime/program/Blocks.h"
#include "runtime/program/Channels.h"
#include "runtime/program/Groups.h"
#include "runtime/program/Kernels.h"
#include <string>
#include <vector>

namespace tessera::runtime {

enum class Opcode : uint8_t {
  Dispatch,    // kernel a on the slots from b on; c: behind its operands' is one of its scratch
  Start,       // collective a: operands, then results, in the slots from b on
  Transfer,    // send or receive a, of what is in slot b
  Wait,        // site a
  Copy,        // c bytes from slot b to slot b + 1
  StartCopy,   // the same beside what follows, until the
  CopyPart,    // the same of part a, whose place the i32 in slot b + 2 says, until the
  Land,        // of number a
  Coordinate,  // index along axes a to slot b
  EnterLoop,   // counter a = c; to b if c is 0
  NextTrip,    // to b unless counter a, less one, is 0
  JumpIfFalse, // to b if slot a holds 0
  Jump,        // to b
  Switch,      // to one of the c jump targets from b on, by the i32 in slot a
  Call,        // function a, with the slots from b on as its arguments
  Return,      // from function a
  End,
};

struct Instruction {
  Opcode opcode;
  uint32_t a = 0, b = 0, location = 0;
  uint64_t c = 0;
};

// A copy of c bytes of which one side is a part of a larger array.
struct PartCopy {
  uint32_t number; // of the copy
  bool ofTarget;   // the part is of what is written
  uint64_t step;   // bytes for each unit of the index
  uint64_t last;   // where the last part begins
};

struct Slot {
  program::Buffer::Space space; // an OUTPUT that aliases an input is an INPUT here
  uint32_t index;
  uint64_t offset;
  program::Memory memory = program::DEVICE_MEMORY; // that it lies in
};

// A function is under way at most once, as none calls itself: its slots, its counters and the place
// that it returns to are its own. A call fills its argument slots: those of argument i hold the
// call's operand i, plus the slot's offset.
struct FunctionPlan {
  uint32_t entry = 0;
  std::vector<std::pair<uint32_t, uint32_t>> arguments; // (slot, argument)
};

struct Decoded {
  std::vector<Instruction> code; // of the program, then of its functions
  std::vector<Slot> slots;
  std::vector<FunctionPlan> functions;
  std::vector<CollectivePlan> collectives;
  std::vector<GroupSet> groupSets;
  std::vector<CollectivePlan> transfers; // sends and receives
  std::vector<AxisRefs> coordinates;
  std::vector<PartCopy> parts;
  std::vector<uint32_t> targets;
  uint32_t counters = 0;
  uint32_t sites = 0;         // of collectives; they are numbered densely here
  uint32_t transferSites = 0; // of sends and receives, which have the numbers that follow
  uint32_t copies = 0;        // numbers of copies that go on beside what follows
  uint64_t scratchBytes = 0;  // the most that a kernel takes which has it outside of the arena
};

// Of the loops around an instruction the one that most likely takes long, by its jump back: the
// innermost whose end data decides, or the outermost that is counted. Null outside of loops.
const Instruction *longestLoop(const Decoded &decoded, uint32_t instruction);

// What a program's instructions refer to beside it.
struct DecodeContext {
  const program::File &file;
  const std::vector<Route> &channels;
  std::vector<KernelEntry> &kernels; // notes which are used, and on how much
};

// Validates every instruction of a program of the file and flattens them.
Result<Decoded> decode(const DecodeContext &context, uint32_t program, const MeshGrid &mesh);

} // namespace tessera::runtime
