// What the devices of a call are given to do, in streams of the same GPU: gathered until the host has
// to know what becomes of it, and then given together. What comes again is one CUDA graph, of all
// streams, with what they wait for of each other (Graphs.h): a step that the host decides nothing in is
// one command.
//
//   device 0        launch  record a0          await b  launch  | end
//   device 1        launch  record a1          await b  launch  | end     all wait: they are given
//   collective      await a0, a1  move  record b                |
//
// A device that waits for the GPU is parked here. When all are, or one has waited a while for a value,
// the commands are given, and a timer asks the driver when they are carried out.
#pragma once

#include "runtime/device/Outcome.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/cuda/Graphs.h"
#include "runtime/device/cuda/Progress.h"
#include "runtime/pool/Run.h"
#include <mutex>

namespace tessera::runtime::device::cuda {

// Names of lanes: of what a device computes, of its copies beside that, of a collective's group, and of
// what a device sends on a channel.
inline uint64_t laneOfDevice(uint32_t device) { return uint64_t{device} << 1; }
inline uint64_t laneOfCopies(uint32_t device) { return laneOfDevice(device) | 1; }
inline uint64_t laneOfCollective(uint64_t program, uint32_t site, uint32_t group) {
  return uint64_t{1} << 62 | program << 46 | uint64_t{site} << 14 | group; // 16,384 devices at most
}
inline uint64_t laneOfChannel(uint32_t device, uint32_t site) {
  return uint64_t{1} << 63 | uint64_t{device} << 32 | site;
}

// Thread-safe. Events are known by their addresses: they stay where they are.
class Gathering {
public:
  // What a member waits for: room for more commands, a value that it has had copied to the host, the
  // end of the step.
  enum class For : uint8_t { Room, Value, End };
  // Who gives commands, and waits for them.
  struct Member {
    bool hasArrived = false;      // it was woken, as what it gave is carried out
    ResultCode result = kSuccess; // of that

  private:
    friend class Gathering;
    For what = For::End;
    bool isGiven = false; // to the driver
    int64_t patience = 0; // until when it waits for others
    Task *task = nullptr;
  };
  // Says of a lane's command, by its tag, and of its place in the program why it is in vain.
  using Named = std::function<Status(uint32_t tag, const Status &why)>;
  // Asked while the GPU is late: whether it may still come so far.
  using Health = std::function<Status()>;

  explicit Gathering(std::shared_ptr<CudaBackend> backend, Health health = {},
                     Patience::Waits waits = {});
  ~Gathering();

  // Before the first step.
  void join() { ++members_; }
  // A lane of this name, whose commands go to the stream; one that is in vain is the run's failure. The
  // stream stays until `close`.
  ResultCode open(uint64_t name, Stream stream, Run &run, Named named);
  // Nothing is under way any more, or wanted.
  void close(uint64_t name);

  // Between steps: nothing is running. `isWatched`: each command is given as it comes.
  void begin(bool isWatched);

  // `held`: what the command needs, as long as it may be carried out.
  void add(uint64_t lane, Command command, const Pointer *operands = nullptr,
           std::shared_ptr<const void> held = nullptr);
  void record(uint64_t lane, StreamEvent &event);
  void await(uint64_t lane, StreamEvent &event);
  // The lane's stream, behind all that was gathered: for commands that are none of Command.h's.
  Stream reach(uint64_t lane);
  bool isFull(uint64_t lane);

  // Until all that the member has given is carried out (of room: given to the driver). Done: so it is,
  // or the GPU has failed; Parked: the task is woken then.
  Outcome wait(Member &member, For what, Task &task, Run &run);
  // Of a failed run: what was gathered is not given any more.
  void drop();

private:
  struct Tail { // of a stream
    EventHandle event = nullptr;
    bool isAhead = false; // it was given commands that what comes next has to wait for
    uint64_t behind = 0;  // graphs that it waits for
  };
  struct Given {
    uint64_t lane;
    size_t command;
  };

  struct Owner { // of a lane
    Run *run = nullptr;
    Named named;
  };

  void append(uint64_t lane, const Command &command); // the lock is held, as in all that follow
  void refuse(uint64_t lane, uint32_t tag, const Status &why);
  void giveAll();
  void noteGraph();
  bool giveEach();
  ResultCode giveOne(Lane &lane, const Command &command);
  ResultCode follow(Stream stream);
  ResultCode gatherTails();
  GraphExec capture();
  void passEvents();
  void checkProgress(Run &run);
  void clear();
  void holdGiven();
  void letGo();
  void giveToAll();
  bool arrive(const Member *caller);
  void arm();
  void fire();

  const std::shared_ptr<CudaBackend> backend_;
  const Driver &driver_;
  const Health health_;
  size_t members_ = 0;

  std::mutex mutex_;        // of what follows
  Stream origin_ = nullptr; // that graphs are given to: the first lane's
  EventHandle graphEvent_ = nullptr;
  Progress progress_;
  Lanes lanes_;
  std::map<uint64_t, Owner> owners_;
  std::map<Stream, Tail> tails_;
  std::vector<Given> order_; // as commands came
  size_t next_ = 0;          // of them, while they are given one by one
  bool isGiving_ = false;    // the rest is given when the GPU has come further
  uint64_t number_ = 1;      // of what is gathered
  uint64_t graphs_ = 0;      // that were given
  uint64_t recorded_ = 0;    // of these: that graphEvent_ is behind
  bool isWatched_ = false;
  std::vector<std::shared_ptr<const void>> held_; // by commands that may not be over
  Graphs known_;

  std::vector<Member *> waiting_;
  Run *run_ = nullptr;
  Timer timer_ = {};
  bool isArmed_ = false;
  int64_t pause_ = 0; // until the driver is asked again
};

} // namespace tessera::runtime::device::cuda
