// A logical device: a resumable interpreter of the program with its own arena.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/pool/Run.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/trace/Trace.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

class Device final : public Task {
public:
  static Result<std::unique_ptr<Device>> make(const LoadedProgram &program, uint32_t position,
                                              Run &run, Communicator &communicator,
                                              BufferPool &memory);

  uint32_t position() const { return position_; }

  // Addresses of this run's inputs and outputs, by parameter (an aliased output's entry is not
  // used), and back to the program's first instruction. Nothing is running.
  void prepare(const std::vector<void *> &inputs, const std::vector<void *> &outputs);

  // Runs until a wait parks it or it ends.
  void run(Worker &worker) override;

  // Counted while running, since the last prepare.
  uint64_t collectives() const { return collectives_; }
  uint64_t collectiveBytes() const { return collectiveBytes_; }
  uint64_t arenaBytes() const { return arena_->bytes(); }

  // Where it stands: for messages when the run cannot go on.
  bool ended() const { return ended_; }
  const Instruction &current() const { return program_.decoded().code[pc_]; }
  // The loop that it most likely stays in, by its jump back; null outside of loops.
  const Instruction *currentLoop() const { return longestLoop(program_.decoded(), pc_); }

  bool tracing = false;
  std::vector<TraceEvent> trace;

private:
  Device(const LoadedProgram &program, uint32_t position, Run &run, Communicator &communicator);

  template <bool traced> void interpret(Worker &worker);
  void bind(program::Buffer::Space space, const std::vector<void *> &addresses,
            std::vector<void *> &bound);
  int32_t dispatch(Worker &worker, const KernelEntry &kernel, void *const *buffers, void *scratch);
  void failKernel(const Instruction &instruction, int32_t code);
  void end(uint32_t pc);

  const LoadedProgram &program_;
  const uint32_t position_;
  Run &run_;
  Communicator &communicator_;
  std::shared_ptr<Buffer> arena_;
  std::vector<void *> pointers_;                                    // by slot
  std::vector<void *> boundInputs_, boundOutputs_;                  // what the slots hold now
  std::vector<std::vector<uint32_t>> slotsOfInput_, slotsOfOutput_; // by parameter
  std::vector<int32_t> coordinates_;                                // by list of axes
  std::vector<uint64_t> counters_;
  uint32_t pc_ = 0;
  bool ended_ = false;
  uint64_t collectives_ = 0, collectiveBytes_ = 0;
};

} // namespace tessera::runtime
