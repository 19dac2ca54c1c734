// What is given to a stream, as data: so that it can be kept, compared, and given later.
#pragma once

#include "runtime/device/cuda/LibraryProduct.h"
#include "runtime/program/Launches.h"
#include <memory>
#include <vector>

namespace tessera::runtime::device::cuda {

// An event that commands record and wait for.
struct StreamEvent {
  EventHandle handle = nullptr;
  // Of Gathering: how often it is recorded among the commands of a number; and whether it was last
  // recorded while streams were captured, so that nobody can wait for it.
  uint64_t gathered = 0;
  uint32_t records = 0;
  bool isInGraph = false;
};

struct Command {
  enum Kind : uint32_t { Launch, Multiply, Copy, Write, Zeros, Move, Record, Await } kind;
  uint32_t tag = 0;            // of the issuer; the same commands have the same tags
  Function function = nullptr; // of a launch or a move
  const KernelLaunch *launch = nullptr;
  const LibraryProduct *product = nullptr; // that multiplies, with its workspace at `to`
  uint32_t operands = 0, firstOperand = 0; // among those of the lane
  Pointer from = 0, to = 0;     // of a copy; the target of a write or of zeros; a move's table
  uint64_t bytes = 0;           // of a copy or of zeros; what is written; the blocks of a move
  StreamEvent *event = nullptr; // that is recorded, or waited for
  uint32_t record =
      0; // that is waited for: which of those gathered with it, from 1; 0: an earlier one
  bool isLaunch() const { return kind == Launch || kind == Multiply || kind == Move; }
  bool isEvent() const { return kind == Record || kind == Await; }
  bool operator==(const Command &) const = default;
};

// Gives one command to the stream. `operands`: those of the lane.
ResultCode give(const Driver &driver, const Command &command, const std::vector<Pointer> &operands,
                Stream stream);

// Commands that follow each other in a stream.
struct Lane {
  Stream stream = nullptr;
  std::vector<Command> commands;
  std::vector<Pointer> operands;
  std::vector<std::shared_ptr<const void>> held; // that they need; who has a graph of them, too
  // Of commands and their addresses.
  bool isSame(const Lane &other) const;
  uint64_t hash() const;
  void clear() { commands.clear(), operands.clear(), held.clear(); }
};

} // namespace tessera::runtime::device::cuda
