// The transport plug-in over Open MPI. See runtime/comm/exchange/TransportPlugin.h.
//
// MPI 3 has no way to learn of a failed peer, so a thread of this plug-in sends a heartbeat to
// every peer and listens for theirs, and for the notice of a peer that failed in an orderly way.
// It is the thread that MPI begins and ends on, so that neither can hang the caller: ranks that
// don't come, or a peer that dies meanwhile, are errors when the limit is over. All calls of MPI
// are under one mutex (MPI_THREAD_SERIALIZED), which the thread holds only for moments.
#include "runtime/Environment.h"
#include "runtime/comm/exchange/TransportPlugin.h"
#include "runtime/comm/mpi/Arrivals.h"
#include "runtime/comm/mpi/PeerMemory.h"
#include "runtime/comm/mpi/PeerProcess.h"
#include "runtime/comm/mpi/PeerWatch.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <list>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <sys/resource.h>
#include <system_error>
#include <thread>

namespace {

using namespace tessera::comm;
using tessera::runtime::environmentNumber, tessera::runtime::progressTimeout;
using namespace std::chrono_literals;

enum : int { kHeartbeatTag = 1, kFailureTag = 2, kGoodbyeTag = 3 };
constexpr size_t kLargestPart = size_t{64} << 20; // what comes in part counts as having come
constexpr size_t kNotice = 480;                   // bytes of a failure's text
// mpirun sends SIGTERM to all when one process ends badly, and SIGKILL a second later.
constexpr auto kLookAround = 250ms, kLastWords = 700ms;
constexpr char kTerminated[] = "ended by SIGTERM, as mpirun does with all ranks when one has ended";

// A message: MPI requests of its parts.
struct Request {
  std::vector<MPI_Request> parts;
};

bool isTerminationPending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

class Connection {
public:
  struct Limits {
    Clock::duration silent, connect, stuck;
  };
  explicit Connection(const Limits &limits)
      : limit_(limits.silent), connectLimit_(limits.connect), stuckLimit_(limits.stuck) {}

  // Nothing, or why there is no connection. Then the thread may hang in MPI for ever, and the
  // object must stay.
  std::string connect(const Arrivals &arrivals) {
    try {
      heart_ = std::thread([this] { live(); });
    } catch (const std::system_error &e) {
      return "no thread for heartbeats can be made: " + e.code().message() + " (`ulimit -u`)";
    }
    std::unique_lock lock(wakeMutex_);
    auto end = Clock::now() + connectLimit_;
    while (!begun_) {
      changed_.wait_for(lock, 20ms);
      if (begun_)
        break;
      bool late = Clock::now() > end;
      if (late || isTerminationPending()) {
        heart_.detach();
        std::string missing = arrivals.missing();
        return (late
                    ? "not all processes of mpirun have connected in time (TESSERA_CONNECT_TIMEOUT)"
                    : "mpirun ends the processes before all have connected") +
               (missing.empty() ? "" : ": " + missing);
      }
    }
    if (!problem_.empty())
      heart_.join();
    return problem_;
  }

  int rank() const { return rank_; }
  int largestTag() const { return largestTag_; }
  int size() const { return size_; }
  int64_t process(int peer) const { return reachable_[peer]; }

  void *start(bool sending, int peer, int tag, void *data, size_t bytes) {
    auto request = new Request;
    std::lock_guard lock(mutex_);
    size_t at = 0;
    do {
      auto count = static_cast<int>(std::min(kLargestPart, bytes - at));
      char *part = static_cast<char *>(data) + at;
      request->parts.push_back(MPI_REQUEST_NULL);
      int code = sending
                     ? MPI_Isend(part, count, MPI_BYTE, peer, tag, comm_, &request->parts.back())
                     : MPI_Irecv(part, count, MPI_BYTE, peer, tag, comm_, &request->parts.back());
      if (code != MPI_SUCCESS) {
        delete request; // parts that were started stay with MPI: the run ends here
        return nullptr;
      }
      at += count;
    } while (at < bytes);
    return request;
  }

  int32_t test(Request *request, bool waits) {
    std::lock_guard lock(mutex_);
    int done = 0;
    while (!request->parts.empty()) {
      if (MPI_Test(&request->parts.back(), &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        done = -1;
      if (done <= 0)
        break;
      request->parts.pop_back();
      waiting_.came(Clock::now());
    }
    if (done != 0)
      delete request;
    else if (waits)
      waiting_.asked(Clock::now());
    return done;
  }

  void report(uint64_t collectives, bool waits) {
    collectives_.store(collectives, std::memory_order_relaxed);
    if (!waits)
      return;
    std::lock_guard lock(mutex_);
    if (std::exchange(waitingAt_, collectives) != collectives)
      waiting_.came(Clock::now());
    waiting_.asked(Clock::now());
  }

  bool failure(char *text, size_t size) {
    if (!failed_.load(std::memory_order_acquire))
      return false;
    std::lock_guard lock(mutex_);
    std::snprintf(text, size, "%s", failure_.c_str());
    return true;
  }

  void announce(const char *text) {
    std::lock_guard lock(mutex_);
    announceLocked(text, text);
  }

  // In good order all ranks come here, and wait for each other: who has finished lives on until all
  // have. After a failure those that can be reached get time to hear of it. False when MPI hangs:
  // then the object must stay.
  bool close() {
    {
      std::lock_guard lock(mutex_);
      sayGoodbye();
    }
    std::unique_lock lock(wakeMutex_);
    closing_ = true;
    changed_.notify_all();
    // Longer than that, a failed rank would seem to hang; a second after the first exit, mpirun
    // ends all.
    auto grace = std::clamp<Clock::duration>(limit_ / 8, 500ms, 5s);
    Clock::time_point failedSince{};
    while (!over_) {
      changed_.wait_for(lock, 5ms);
      if (!failed_)
        continue;
      if (failedSince == Clock::time_point())
        failedSince = Clock::now();
      if (Clock::now() - failedSince > grace)
        break;
    }
    stop_ = true;
    changed_.notify_all();
    auto end = Clock::now() + std::min<Clock::duration>(limit_, 5s);
    while (!finalized_ && Clock::now() < end)
      changed_.wait_for(lock, 5ms);
    if (!finalized_) {
      heart_.detach();
      return false;
    }
    lock.unlock();
    heart_.join();
    return true;
  }

private:
  struct Notice {
    std::string text;
    MPI_Request request;
  };
  struct Beat {
    int64_t waiting; // nanoseconds
    uint64_t collectives;
  };

  void live() {
    std::string problem = begin();
    std::unique_lock lock(wakeMutex_);
    problem_ = problem;
    begun_ = true;
    changed_.notify_all();
    if (!problem.empty())
      return;
    while (!stop_ && !over_) {
      changed_.wait_for(lock, closing_ ? 5ms : 50ms);
      bool closing = closing_;
      lock.unlock();
      bool over = false;
      {
        std::lock_guard calls(mutex_);
        try {
          beat();
        } catch (const std::bad_alloc &) {
          // The next beat comes soon.
        }
        over = closing && watch_->allGone() && noticesSent();
      }
      lock.lock();
      over_ = over;
    }
    lock.unlock();
    end();
    lock.lock();
    finalized_ = true;
    changed_.notify_all();
  }

  std::string begin() {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
      return "MPI cannot be initialized (mpirun -n N tessera run ..)";
    if (provided < MPI_THREAD_SERIALIZED)
      return "this MPI does not allow calls from several threads";
    comm_ = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    int *largest = nullptr, known = 0;
    if (MPI_Comm_get_attr(comm_, MPI_TAG_UB, &largest, &known) == MPI_SUCCESS && known)
      largestTag_ = *largest;
    MPI_Comm_size(comm_, &size_);
    std::vector<ProcessName> names(size_);
    ProcessName own = ProcessName::ofThisOne();
    if (!gather(own, names))
      return "the processes cannot reach each other";
    char reaches = PeerMemory(names, rank_).reachesAll();
    std::vector<char> reach(size_);
    if (!gather(reaches, reach))
      return "the processes cannot reach each other";
    reachable_ = PeerMemory(names, rank_).reachable(reach);
    for (int peer = 0; peer < size_; ++peer)
      processes_.push_back(peer == rank_ ? PeerProcess() : PeerProcess(names[peer]));
    outgoing_.assign(size_, MPI_REQUEST_NULL);
    beats_.resize(size_);
    watch_ = std::make_unique<PeerWatch>(rank_, size_, limit_, Clock::now(), stuckLimit_);
    return "";
  }

  template <class T> bool gather(const T &own, std::vector<T> &all) {
    return MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_) ==
           MPI_SUCCESS;
  }

  void end() {
    std::lock_guard calls(mutex_);
    for (int peer = 0; peer < size_; ++peer)
      if (outgoing_[peer] != MPI_REQUEST_NULL)
        MPI_Request_free(&outgoing_[peer]);
    // With a peer that is dead, finalizing would wait for it: the process ends, and mpirun ends the
    // rest.
    if (watch_->allGone() && !watch_->anyLost())
      MPI_Finalize();
  }

  void beat() {
    // Looked at first: what a process sent before it ended is read below.
    std::vector<int> ended;
    for (int peer = 0; peer < size_; ++peer)
      if (processes_[peer].hasEnded())
        ended.push_back(peer);
    exchangeHeartbeats();
    readNotices();
    for (int peer : ended)
      watch_->processEnded(peer);
    Clock::time_point now = Clock::now();
    if (std::string wrong = watch_->check(waiting_.length(now), now, collectives_); !wrong.empty())
      fail(wrong);
    heedTermination(now);
  }

  // A host that blocks SIGTERM (`tessera run` does) hears first which rank has ended, and says so.
  void heedTermination(Clock::time_point now) {
    if (!isTerminationPending())
      return;
    if (terminatedSince_ == Clock::time_point())
      terminatedSince_ = now;
    if (now - terminatedSince_ > kLookAround && !failed_)
      announceLocked(kTerminated, kTerminated);
    if (now - terminatedSince_ > kLastWords) {
      sigset_t signals;
      sigemptyset(&signals);
      sigaddset(&signals, SIGTERM);
      pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    }
  }

  void exchangeHeartbeats() {
    auto waiting = std::chrono::nanoseconds(waiting_.length(Clock::now())).count();
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_)
        continue;
      int done = 1;
      if (outgoing_[peer] != MPI_REQUEST_NULL)
        MPI_Test(&outgoing_[peer], &done, MPI_STATUS_IGNORE);
      if (!done)
        continue;
      beats_[peer] = {waiting, collectives_};
      MPI_Isend(&beats_[peer], sizeof(Beat), MPI_BYTE, peer, kHeartbeatTag, comm_,
                &outgoing_[peer]);
    }
    MPI_Status status;
    int there = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, kHeartbeatTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      Beat beat = {};
      MPI_Recv(&beat, sizeof beat, MPI_BYTE, status.MPI_SOURCE, kHeartbeatTag, comm_,
               MPI_STATUS_IGNORE);
      watch_->heard(status.MPI_SOURCE, std::chrono::nanoseconds(beat.waiting), Clock::now(),
                    beat.collectives);
    }
  }

  void readNotices() {
    MPI_Status status;
    int there = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      char text[kNotice + 1] = {};
      MPI_Recv(text, kNotice, MPI_BYTE, status.MPI_SOURCE, kFailureTag, comm_, MPI_STATUS_IGNORE);
      fail("rank " + std::to_string(status.MPI_SOURCE) + ": failed: " + text);
    }
    while (MPI_Iprobe(MPI_ANY_SOURCE, kGoodbyeTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      char byte;
      MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, kGoodbyeTag, comm_, MPI_STATUS_IGNORE);
      watch_->saidGoodbye(status.MPI_SOURCE);
    }
  }

  void fail(const std::string &text) {
    if (failed_)
      return;
    failure_ = text;
    failed_.store(true, std::memory_order_release);
  }

  // `own`: what this process says from now on.
  void announceLocked(const char *text, const std::string &own) {
    if (failed_)
      return; // peers hear of a failure from the one that had it
    fail(own);
    std::string notice(text);
    notice.resize(kNotice);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) {
        notices_.push_back({notice, MPI_REQUEST_NULL});
        MPI_Isend(notices_.back().text.data(), kNotice, MPI_BYTE, peer, kFailureTag, comm_,
                  &notices_.back().request);
      }
  }

  void sayGoodbye() {
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) {
        MPI_Request request;
        MPI_Isend(&goodbye_, 1, MPI_BYTE, peer, kGoodbyeTag, comm_, &request);
        MPI_Request_free(&request);
      }
  }

  bool noticesSent() {
    for (Notice &notice : notices_) {
      int done = 0;
      MPI_Test(&notice.request, &done, MPI_STATUS_IGNORE);
      if (!done)
        return false;
    }
    return true;
  }

  const Clock::duration limit_, connectLimit_, stuckLimit_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, largestTag_ = 32767; // what MPI promises at least
  char goodbye_ = 0;

  std::mutex mutex_; // of all calls of MPI, and of what follows
  std::unique_ptr<PeerWatch> watch_;
  std::vector<PeerProcess> processes_;
  std::vector<int64_t> reachable_; // processes by rank, where memory can be reached
  Waiting waiting_;
  uint64_t waitingAt_ = 0; // collectives that it had come to when it last waited
  std::vector<MPI_Request> outgoing_;
  std::vector<Beat> beats_;
  std::list<Notice> notices_;
  std::string failure_;
  Clock::time_point terminatedSince_{};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> collectives_{0};

  std::mutex wakeMutex_; // of what follows
  std::condition_variable changed_;
  std::string problem_;
  bool begun_ = false, closing_ = false, over_ = false, stop_ = false, finalized_ = false;
  std::thread heart_;
};

Connection &of(void *state) { return *static_cast<Connection *>(state); }

const char *explain(const std::string &problem) {
  thread_local std::string kept;
  kept = problem;
  return kept.c_str();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const char *
tessera_transport_open(TesseraTransport *transport) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized)
    return "MPI is in use already in this process";
  Arrivals arrivals;
  auto fail = [&](const std::string &problem) {
    arrivals.end(problem);
    return explain(problem);
  };
  // With less, Open MPI would crash while it begins.
  constexpr rlim_t least = rlim_t{256} << 20;
  rlimit memory;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least)
    return fail("MPI needs at least 256 MiB of address space (ulimit -v)");
  auto limit = environmentNumber("TESSERA_COMM_TIMEOUT", 0.5, 86400);
  double seconds = limit.ok() ? limit->value_or(30) : 30;
  // Processes start one after the other, and MPI takes its time to begin.
  auto start = environmentNumber("TESSERA_CONNECT_TIMEOUT", 0.5, 86400);
  double startSeconds = start.ok() ? start->value_or(std::max(seconds, 4.0)) : 30;
  auto stuck = progressTimeout();
  auto inClock = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  auto *connection = new Connection({.silent = inClock(seconds),
                                     .connect = inClock(startSeconds),
                                     .stuck = inClock(stuck.ok() ? *stuck : 0)});
  if (std::string problem = connection->connect(arrivals); !problem.empty())
    return fail(problem);
  for (const auto &status : {limit.status(), start.status(), stuck.status()})
    if (!status.ok()) // the other ranks must hear of it
      connection->announce((status.message() + " (seconds)").c_str());
  transport->abi = TESSERA_TRANSPORT_ABI;
  transport->rank = connection->rank();
  transport->size = connection->size();
  transport->largest_tag = connection->largestTag();
  transport->state = connection;
  transport->send = [](void *state, int32_t peer, int32_t tag, const void *data, size_t bytes) {
    return of(state).start(true, peer, tag, const_cast<void *>(data), bytes);
  };
  transport->receive = [](void *state, int32_t peer, int32_t tag, void *data, size_t bytes) {
    return of(state).start(false, peer, tag, data, bytes);
  };
  transport->test = [](void *state, void *request, int32_t waits) {
    return of(state).test(static_cast<Request *>(request), waits != 0);
  };
  transport->failure = [](void *state, char *text, size_t size) -> int32_t {
    return of(state).failure(text, size);
  };
  transport->report = [](void *state, uint64_t collectives, int32_t waits) {
    of(state).report(collectives, waits != 0);
  };
  transport->announce = [](void *state, const char *text) { of(state).announce(text); };
  transport->process = [](void *state, int32_t peer) { return of(state).process(peer); };
  transport->close = [](void *state) {
    if (of(state).close())
      delete &of(state);
  };
  return nullptr;
}
