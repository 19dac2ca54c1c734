// Commands of a stream that follow each other, with nothing that the host decides between them. The
// second time that the same ones come, with the same addresses, they are captured as a CUDA graph,
// and from then on given as one command.
#pragma once

#include "runtime/device/cuda/LibraryProduct.h"
#include "runtime/program/Launches.h"
#include <map>
#include <vector>

namespace tessera::runtime::device::cuda {

struct Command {
  enum Kind : uint32_t { Launch, Multiply, Copy, Write } kind;
  uint32_t tag = 0;            // of the issuer; the same commands have the same tags
  Function function = nullptr; // of a launch
  const KernelLaunch *launch = nullptr;
  const LibraryProduct *product = nullptr; // that multiplies, with its workspace at `to`
  uint32_t operands = 0, firstOperand = 0; // in Segment::operands
  Pointer from = 0, to = 0;                // of a copy; a write's target
  uint64_t bytes = 0;                      // of a copy; what is written
  bool operator==(const Command &) const = default;
};

struct Segment {
  std::vector<Command> commands;
  std::vector<Pointer> operands;
  bool operator==(const Segment &) const = default;
  uint64_t hash() const;
  void clear() { commands.clear(), operands.clear(); }
};

// Gives one command to the stream.
ResultCode give(const Driver &driver, const Segment &segment, const Command &command,
                Stream stream);

// The graphs of a stream. Not thread-safe.
class Graphs {
public:
  explicit Graphs(const Driver &driver) : driver_(driver) {}
  ~Graphs() { clear(); }
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;

  // The graph of the segment; null: its commands are to be given one by one. Where the driver
  // refuses, there are no graphs any more.
  GraphExec of(const Segment &segment, Stream stream);
  // Nothing of the stream is running: makes room where there are many.
  void tidy();

private:
  struct Known {
    Segment segment; // empty: it came once
    GraphExec graph = nullptr;
  };
  GraphExec capture(const Segment &segment, Stream stream);
  void clear();

  const Driver &driver_;
  std::multimap<uint64_t, Known> known_; // by hash
  bool refused_ = false;
};

} // namespace tessera::runtime::device::cuda
