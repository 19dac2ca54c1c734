// The queue of a logical device of shadow: a task of its own that carries commands out behind the
// interpreter, each after a random delay or none. A delay is a timer; no worker sleeps.
//
// The queue is an activity of the run while it has commands and does not wait for a collective, so
// that a run ends, stalls and fails as on the cpu. When the run has failed it drops what is left.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/shadow/Delays.h"
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace tessera::runtime::device {

class ShadowQueue final : public Queue, private Task {
public:
  ShadowQueue(const Lane &lane, Delays delays);
  ~ShadowQueue() override;

  Outcome launch(Worker &worker, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                 bool hasScratch) override;
  Outcome copy(Worker &worker, uint32_t tag, Address from, Address to, uint64_t bytes) override;
  Outcome startCopy(Worker &worker, uint32_t tag, uint32_t number, Address from, Address to,
                    uint64_t bytes) override;
  Outcome land(Worker &worker, uint32_t tag, uint32_t number) override;
  Outcome write(Worker &worker, uint32_t tag, int32_t value, Address to) override;
  Outcome start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                const Address *buffers) override;
  Outcome wait(Worker &worker, uint32_t tag, uint32_t site) override;
  Outcome read(Worker &worker, uint32_t tag, Address from, uint32_t bytes,
               uint32_t &value) override;
  Outcome finish(Worker &worker) override;
  void reset() override;
  std::optional<uint32_t> tag() const override;

  bool record() override;
  std::unique_ptr<Recording> endRecord() override;
  Outcome replay(Worker &worker, const Recording &recording) override;

private:
  enum class Kind : uint8_t { Launch, Copy, StartCopy, Land, Write, Start, Wait, Read, Replay };
  struct Command {
    Kind kind;
    uint32_t tag;
    const KernelEntry *kernel = nullptr;
    const CollectivePlan *plan = nullptr;
    const std::vector<Command> *recorded = nullptr; // of a replay
    uint32_t number = 0;                            // site, number of a copy, value to write
    uint64_t bytes = 0;
    std::vector<Address> operands = {};
  };
  struct Recorded;

  void run(Worker &worker) override;
  Outcome give(Command command);
  void wakeIssuer();
  const Command &front() const;
  const Command *next();
  void advance();
  bool late();
  Outcome carryOut(Worker &worker, const Command &command);
  Outcome carryOutStart(Worker &worker, const Command &command);
  bool translate(const Command &command);

  const Lane lane_;
  const Delays delays_;
  Timer timer_ = {};

  mutable std::mutex mutex_; // of what follows
  std::deque<Command> commands_;
  size_t replayed_ = 0; // of the recording in front
  bool active_ = false; // the task is in a list, on a worker, or waits for its timer or a peer
  enum class IssuerIs { Running, WaitingForRoom, WaitingForValue, WaitingForAll };
  IssuerIs issuerIs_ = IssuerIs::Running;
  std::optional<uint32_t> value_;
  std::optional<uint32_t> dropped_; // the tag of the first command that a failed run dropped
  std::unique_ptr<Recorded> recording_;

  // Of the task alone.
  Dice dice_;
  bool delayed_ = false;                     // the command in front has been
  std::vector<void *> pointers_;             // its operands
  std::vector<std::vector<Address>> tables_; // of collectives, by site: until their wait
  std::map<uint32_t, Command> copies_;       // started, to be carried out when they land
};

} // namespace tessera::runtime::device
