// A logical device's way through the program: program counter and loop counters. It gives commands
// to the device's queue and looks at no memory; what data decides it reads by a command.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"
#include "runtime/trace/Trace.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

// What a device has for its program; null where the program has no bytes there.
struct DeviceMemory {
  std::shared_ptr<device::Memory> arena, constants, host, file;
  std::shared_ptr<const device::KernelCode> code; // null where kernels are the host's functions
};

class Interpreter final : public device::Issuer {
public:
  // `memory` lies on `backend`.
  Interpreter(const DeviceProgram &program, uint32_t position, Run &run, Communicator &communicator,
              device::Backend &backend, DeviceMemory memory);

  const DeviceProgram &program() const { return program_; }
  uint32_t position() const { return position_; }

  // Where inputs are, and outputs that have buffers of their own. Nothing is running.
  void bindInput(size_t index, device::Address address) { bind(inputs_[index], address); }
  void bindOutput(size_t index, device::Address address) { bind(outputs_[index], address); }
  device::Address inputAddress(size_t index) const { return inputs_[index].address; }
  // Back to the program's first instruction. Nothing is running.
  void rewind();

  // Runs until a command parks it or it ends.
  void run(Worker &worker) override;

  // Counted while running, since the last rewind.
  uint64_t collectives() const { return counted_.collectives; }
  uint64_t collectiveBytes() const { return counted_.bytes; }
  // Copies between the device's memory and the host's.
  uint64_t transfers() const { return counted_.transfers; }
  uint64_t transferBytes() const { return counted_.transferBytes; }

  // Where its device stands, which may be behind it: for messages when the run cannot go on.
  bool ended() const { return ended_; }
  const Instruction &current() const {
    return program_.decoded().code[queue_->tag().value_or(pc_)];
  }
  // The loop that it most likely stays in, by its jump back; null outside of loops.
  const Instruction *currentLoop() const {
    return longestLoop(program_.decoded(), queue_->tag().value_or(pc_));
  }

  std::vector<TraceEvent> trace;

private:
  using Outcome = device::Outcome;
  template <class Queue, bool traced> void interpret(Worker &worker, Queue &queue);
  bool startRecorded(Worker &worker);
  Outcome endRecording(Worker &worker);
  template <class Queue> Outcome move(Worker &worker, Queue &queue, uint32_t pc);
  template <class Queue> Outcome copyPart(Worker &worker, Queue &queue, uint32_t pc);
  Outcome counted(const Instruction &instruction, Outcome outcome);
  template <class Queue> Outcome decide(Worker &worker, Queue &queue, uint32_t &pc);
  uint32_t call(uint32_t pc);
  struct Binding {
    device::Address address; // that the slots hold now
    std::vector<uint32_t> slots;
  };
  void bind(Binding &binding, device::Address address);
  void end(Worker &worker, uint32_t pc);
  void letOthersRun(uint32_t next);
  std::string who() const;

  void kernelFailed(uint32_t tag, int32_t code) override;
  void commandFailed(uint32_t tag, const Status &status) override;
  Status ofCommand(uint32_t tag, const Status &status) const override;
  void executed(uint32_t tag, int64_t begin, int64_t end) override;

  const DeviceProgram &program_;
  const KernelEntry *const kernels_; // of the file
  const uint32_t position_;
  Run &run_;
  const DeviceMemory memory_;
  std::unique_ptr<device::Queue> queue_;
  const bool inlined_;                     // commands run as they come
  const bool goesOnBeside_;                // of the communicator
  std::vector<device::Address> addresses_; // by slot
  std::vector<Binding> inputs_, outputs_;  // by parameter
  std::vector<int32_t> coordinates_;       // by list of axes
  std::vector<uint64_t> counters_;
  std::vector<uint32_t> returns_; // by function: what follows its call
  uint32_t pc_ = 0;               // the command given last; a tag is one
  bool begun_ = false, ending_ = false, ended_ = false;
  struct Counts {
    uint64_t collectives = 0, bytes = 0, transfers = 0, transferBytes = 0;
  } counted_;

  // The commands of a step that no data decides, for the next one with the same addresses; where
  // the queue can keep them.
  bool recordable_ = false, isRecording_ = false;
  uint32_t recordedCommands_ = 0;
  std::unique_ptr<device::Recording> recording_;
  Counts recordedCounts_;
};

} // namespace tessera::runtime
