// What carries out the commands that a program gives to the GPUs that are emulated: streams, each on a
// thread of its own and late, events between them, and graphs.
#pragma once

#include "test/gpu/emulator/HostMemory.h"
#include "test/gpu/emulator/Machine.h"
#include "test/gpu/emulator/Visible.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace tessera::emulator {

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchFailed = 719,
  CaptureUnsupported = 900,
  CaptureUnjoined = 904,
  CaptureIsolation = 905,
  CapturedEvent = 907
};

uint64_t environment(const char *name, uint64_t otherwise);

// All GPUs of the process. All that runs on them holds their lock.
class Gpu {
public:
  static Gpu &ofProcess();

  std::mutex mutex;
  std::condition_variable changed; // a record is done
  const unsigned devices = static_cast<unsigned>(visibleGpus().size());
  Memory memory{devices};
  HostMemory hostMemory;
  Order order;
  unsigned current = 0;      // whose command runs
  std::vector<int> failures; // of the devices' contexts, for good
  std::vector<std::atomic<bool>> hangs =
      std::vector<std::atomic<bool>>(devices); // that are in a kernel for ever
  const bool usesPool = environment("TESSERA_EMULATOR_POOL", 0) != 0;
  const uint64_t architecture = environment("TESSERA_EMULATOR_SM", 80);
  uint64_t seed = environment("TESSERA_EMULATOR_SEED", 1);
  std::map<std::string, Counts> counts;  // by kernel
  std::map<std::string, uint64_t> calls; // of the driver's functions, by name

  void fail(int code, const std::string &why);
  // Within a command of the number `command`; 0: the host's.
  void copy(uint64_t to, uint64_t from, size_t bytes, uint32_t command);
  void fill(uint64_t to, size_t bytes, uint32_t value, unsigned width, uint32_t command);
  void report() const;

private:
  Gpu();
};

// What a stream carries out, with the number that it has there.
using Action = std::function<void(Gpu &, uint32_t command)>;

// That a stream has come so far.
struct Record {
  bool done = false;
  Order::Clock clock;
};

class Capture;

struct Event {
  unsigned device = 0;              // of the streams that may record it
  std::shared_ptr<Record> last;     // null: never recorded, which nobody waits for
  std::shared_ptr<Capture> capture; // in which it was recorded last; null: in none
  size_t record = 0;                // there
};

// What was captured: lanes, one for each stream, the first being the stream that began it.
struct Graph {
  struct Step { // actions, then a record, or a wait for one
    std::vector<Action> actions;
    std::optional<size_t> records, awaits;
  };
  std::vector<std::vector<Step>> lanes;
  size_t records = 0;
};

// Its methods take the lock of the GPU.
class Stream {
public:
  Stream(uint64_t seed, unsigned device);
  ~Stream();

  // At the end of what it has to do, or of the graph that is being captured. Where very much is pending it
  // waits, as the driver does.
  void push(Action action);
  void pushAll(std::vector<Action> actions);
  std::shared_ptr<Record> record();
  void record(std::shared_ptr<Record> record);
  void await(std::shared_ptr<Record> record);
  void call(std::function<void()> onHost); // without the lock
  void drain();

  std::shared_ptr<Capture> capture; // null: none is under way
  const unsigned device;

private:
  struct Command {
    std::vector<Action> actions;
    Order::Clock known; // of the host, when it was given
    std::shared_ptr<Record> after, records;
    std::function<void()> onHost;
    bool isBounded = false; // counts in pending_
  };
  void push(Command command);
  void main();

  std::deque<Command> commands_;
  size_t pending_ = 0;
  std::condition_variable changed_;
  bool stop_ = false;
  uint32_t number_ = 0;
  uint64_t lag_ = environment("TESSERA_EMULATOR_LAG", 200);
  std::mt19937_64 random_;
  std::thread thread_;
};

// Streams that give to one graph. Of one thread, as the driver wants it.
class Capture : public std::enable_shared_from_this<Capture> {
public:
  explicit Capture(Stream *origin) { laneOf(origin); }

  void add(Stream *stream, Action action);
  void record(Stream *stream, Event *event);
  // The stream takes part from here on, if it did not.
  void await(Stream *stream, const Event *event);
  // Null: a stream that took part was not waited for.
  std::unique_ptr<Graph> end();
  bool isOver() const { return isOver_; }
  bool beganOn(const Stream *stream) const { return streams_.front() == stream; }

private:
  std::vector<Graph::Step> &laneOf(Stream *stream);
  bool isJoined() const;

  Graph graph_;
  std::vector<Stream *> streams_;                 // by lane
  std::vector<std::pair<size_t, size_t>> places_; // of records: lane, step
  bool isOver_ = false;
};

// A graph that can be given to a stream. Its other lanes are streams of their own.
class GraphExec {
public:
  explicit GraphExec(const Graph &graph) : graph_(graph) {}
  void launch(Stream &stream);

private:
  const Graph graph_;
  std::vector<std::unique_ptr<Stream>> others_;
};

} // namespace tessera::emulator
