// An executable prepared to be executed again and again: its place at collectives, its arena, and
// the addresses of its inputs, of which a step rebinds only what has changed.
#pragma once

#include "runtime/client/Arena.h"
#include "runtime/client/ShortSteps.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/local/Links.h"
#include "runtime/execute/Interpreter.h"
#include "runtime/pool/Run.h"
#include "runtime/trace/Report.h"

namespace tessera::runtime {

struct CallOptions {
  std::shared_ptr<const Links> links; // simulated delays of the local communicator
  double timeLimit = 0;               // seconds that a step may take; 0: any
  std::shared_ptr<Arena> arena;       // null: one of its own
  bool queued = false;                // a step waits while another call executes on the arena
  std::vector<Fact> facts;            // what the ranks must have alike beside the program
};

// A parameter's memory: one tile for each device of this process that runs its program.
using Tiles = std::vector<std::shared_ptr<device::Memory>>;

// One thread at a time, but for cancel. Calls of one executable execute side by side. With several
// processes all prepare the same calls, in the same order, and start the same steps.
class Call {
public:
  // With several processes all call it, and first compare what they have: a difference, or a
  // failure of one, is an error on all. `executable` may be a failure to make one.
  static Result<std::unique_ptr<Call>>
  prepare(const Result<std::shared_ptr<const Executable>> &executable, const CallOptions &options,
          Transport *transport);
  // Gives up a step that is being executed, and waits for its end.
  ~Call();

  const Executable &executable() const { return *executable_; }
  const LoadedProgram &program() const { return executable_->program(); }
  uint32_t number() const { return number_; } // among those of the transport

  // Tiles of the bytes that the input has. They are held until others are bound, or until a step
  // takes them over: then the input has to be bound again.
  void bind(size_t input, Tiles tiles);
  // The same, but it is the caller who keeps them alive. Not for inputs that a step takes over.
  void bindUnheld(size_t input, const Tiles &tiles);

  // Starts a step, which begins when `after` have happened, and fails when one of those did.
  // `outputs` gets the memory of every output, which has contents once the step is over. An input
  // that the step takes over and somebody else still holds is copied. Fails when a step is being
  // executed, or an input is not bound; where memory is wanting, inputs that it takes over are lost.
  Result<std::shared_ptr<device::Event>>
  start(std::span<const std::shared_ptr<device::Event>> after, std::vector<Tiles> &outputs);
  // From any thread: the step that is being executed fails.
  void cancel();
  bool isExecuting() const { return executing_.load(std::memory_order_acquire); }

  // Of the last step that has ended.
  Counters counters() const {
    std::lock_guard lock(countersMutex_);
    return counters_;
  }
  void setTracing(bool on);
  std::vector<TracedDevice> traced() const; // valid until the next step
  void forgetTraced();

private:
  explicit Call(std::shared_ptr<const Executable> executable);
  static Result<std::unique_ptr<Call>> make(std::shared_ptr<const Executable> executable,
                                            const CallOptions &options, uint32_t number);
  void bindAddresses(size_t input, const Tiles &tiles);
  Status takeInputs();
  std::string describeLive(const std::vector<Tiles> &outputs) const;
  Status makeOutputs(std::vector<Tiles> &outputs);
  Status begin(std::span<const std::shared_ptr<device::Event>> after, device::Event &turn,
               const std::shared_ptr<device::Event> &done, std::vector<Tiles> &outputs);
  void await(const std::shared_ptr<device::Event> &event);
  void arrived(const Status &status);
  void launch();
  void beginRun();
  void over();
  void conclude(Status status);
  void keepBuffers();
  uint64_t peakBytes(program::Memory memory) const;
  uint64_t peakBytes(const DeviceProgram &program, program::Memory memory) const;
  Status makeCommunicators(const CallOptions &options);
  Status connect();
  void makeDevices();
  Status describeStall() const;
  Status describeLimit() const;

  // Memory that a step copies before it begins.
  struct Copy {
    std::shared_ptr<device::Memory> from, to;
  };

  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<Arena> arena_;
  Run run_;
  std::unique_ptr<Worker> guest_; // carries out short steps; null where there are none
  ShortSteps shortSteps_;
  std::vector<std::unique_ptr<Communicator>>
      communicators_; // by program; null without devices here
  std::vector<std::unique_ptr<Interpreter>> devices_;
  double timeLimit_ = 0; // seconds; 0: none
  bool queued_ = false;
  uint32_t number_ = 0;

  std::vector<bool> bound_; // by input
  std::vector<Tiles> held_; // by input; empty where it is unheld
  std::vector<std::vector<std::weak_ptr<device::Memory>>>
      lent_;                          // the others, with several processes
  std::vector<Tiles> taken_;          // by the step that is being executed
  std::vector<Tiles> made_;           // outputs of the step
  std::vector<Copy> copies_, copied_; // to be made; on their way
  bool rebound_ = true;               // since the last count of peak bytes

  std::atomic<bool> executing_{false}, cancelled_{false};
  std::atomic<uint32_t> awaited_{0}; // events that the step still waits for, and one for start
  std::mutex failureMutex_;
  Status failure_; // of an event that the step waited for
  std::shared_ptr<device::Event> done_ = device::Event::past();
  mutable std::mutex countersMutex_;
  Counters counters_;
};

} // namespace tessera::runtime
