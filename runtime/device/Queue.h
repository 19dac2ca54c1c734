// The commands of one logical device, in order.
//
//   interpreter   launch  launch  copy  start 0   read p . . . . parked . . . . p   launch
//   cpu           launch  launch  copy  start 0   read p                        (each at once, in the interpreter's own task)
//   shadow, GPU           launch . . launch  copy . . . start 0  . . read p  wakes the interpreter
//
// The interpreter gives commands and looks at no memory: a predicate or the index of a branch comes
// by `read`. A queue may run behind it as far as it likes.
#pragma once

#include "runtime/device/Communicator.h"
#include "runtime/device/Memory.h"
#include "runtime/device/Outcome.h"
#include "runtime/pool/Run.h"
#include "runtime/program/Decoded.h"
#include <memory>
#include <optional>

namespace tessera::runtime::device {

// Who gives the commands: a logical device's interpreter. `tag` is a number of its own for each
// command, which it gets back.
class Issuer : public Task {
public:
  // A kernel ended with a code that is not 0: makes it the run's failure.
  virtual void kernelFailed(uint32_t tag, int32_t code) = 0;
  // A command is in vain, for a reason that has no place in it yet: makes it the run's failure.
  virtual void commandFailed(uint32_t tag, const Status &status) = 0;
  // The same reason with the command, the device and the place in the program.
  virtual Status ofCommand(uint32_t tag, const Status &status) const = 0;
  // When a queue that runs behind carried a command out, if `tracing`: nanoseconds of the steady
  // clock. One at a time, in order.
  virtual void executed(uint32_t tag, int64_t begin, int64_t end) = 0;
  bool tracing = false;
};

// A program's kernels on a device, where they are no functions of the host.
class KernelCode {
public:
  virtual ~KernelCode() = default;
  // What was taken of it, for reports: "sm_90a (PTX), 3 of 4 products by cuBLASLt 13.1.0".
  virtual std::string description() const = 0;
  // What was wanted and is not there; "" for nothing.
  virtual std::string note() const = 0;
  // The library that computes a kernel in the place of the program's code; "" for none.
  virtual std::string libraryOf(uint32_t kernel) const = 0;
};

// What a queue works for.
struct Lane {
  uint32_t position; // of the logical device
  Run &run;
  Communicator &communicator;
  Issuer &issuer;
  uint64_t scratchBytes;            // that a kernel needs at most which is not given any
  uint32_t sites;                   // of collectives, and of sends and receives
  const KernelCode *code = nullptr; // of the back end's `load`; lives longer than the queue
};

// Commands that were recorded, to be given again at once.
class Recording {
public:
  virtual ~Recording() = default;
};

// All commands give
//   Done    it is in the queue, or carried out
//   Parked  the issuer is kept, and pushed when it should give the same command again; it must not touch itself any more
//   Failed  the run has failed; its status says why
// Operands are tables of addresses. That of a launch has been read when it returns; that of a start
// stays as it is until its wait. `worker` is the one that calls.
class Queue {
public:
  virtual ~Queue() = default;

  // Runs every cell of a kernel on its kernel.operands buffers. `hasScratch`: behind them is its
  // scratch.
  virtual Outcome launch(Worker &worker, uint32_t tag, const KernelEntry &kernel,
                         const Address *buffers, bool hasScratch) = 0;
  // Source and target may overlap.
  virtual Outcome copy(Worker &worker, uint32_t tag, Address from, Address to, uint64_t bytes) = 0;
  // The same beside the commands that follow: until the `land` of its number, neither is the source
  // written nor the target used.
  virtual Outcome startCopy(Worker &worker, uint32_t tag, uint32_t number, Address from, Address to,
                            uint64_t bytes) = 0;
  virtual Outcome land(Worker &worker, uint32_t tag, uint32_t number) = 0;
  virtual Outcome write(Worker &worker, uint32_t tag, int32_t value, Address to) = 0;
  // Joins a collective; operands, then results. After the wait the results are there, and operands
  // may be overwritten.
  virtual Outcome start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                        const Address *buffers) = 0;
  virtual Outcome wait(Worker &worker, uint32_t tag, uint32_t site) = 0;
  // 1 or 4 bytes, after all earlier commands: what data decides. The one command whose result the
  // issuer sees.
  virtual Outcome read(Worker &worker, uint32_t tag, Address from, uint32_t bytes,
                       uint32_t &value) = 0;
  // All earlier commands are carried out, or, when the run has failed, dropped: never Failed.
  virtual Outcome finish(Worker &worker) = 0;

  // Before a step: forgets what the last one left.
  virtual void reset() {}

  // The command that it stands at, where it runs behind: the first that is not carried out. While
  // nothing is running.
  virtual std::optional<uint32_t> tag() const { return std::nullopt; }

  // A step whose commands no data decides can be recorded: they are kept with their addresses, not
  // carried out, and replayed by one command. Only where that saves something: false for a queue
  // that carries out at once, whose commands cost no more than one of a recording. While recording,
  // `read` fails.
  virtual bool record() { return false; }
  virtual std::unique_ptr<Recording> endRecord() { return nullptr; }
  virtual Outcome replay(Worker &, const Recording &) { return Outcome::Failed; }
};

} // namespace tessera::runtime::device
