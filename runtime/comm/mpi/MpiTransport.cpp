// The transport plug-in over Open MPI. See runtime/comm/exchange/TransportPlugin.h.
//
// MPI 3 has no way to learn of a failed peer, so a thread of this plug-in sends a heartbeat to
// every peer and listens for theirs, and for the notice of a peer that failed in an orderly way.
// All calls of MPI are under one mutex (MPI_THREAD_SERIALIZED), which the thread holds only for
// moments.
#include "runtime/comm/exchange/TransportPlugin.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mpi.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

enum : int { kHeartbeatTag = 1, kFailureTag = 2, kGoodbyeTag = 3 };
constexpr size_t kLargestPart = size_t{1} << 30; // MPI counts in int
constexpr size_t kNotice = 480;                  // bytes of a failure's text

// A message: MPI requests of its parts.
struct Request {
  std::vector<MPI_Request> parts;
};

class Connection {
public:
  explicit Connection(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    if (const char *seconds = std::getenv("TESSERA_COMM_TIMEOUT"))
      timeout_ = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::atof(seconds)));
    lastHeard_.assign(size_, Clock::now());
    outgoing_.assign(size_, MPI_REQUEST_NULL);
    gone_.assign(size_, false);
    heart_ = std::thread([this] { beat(); });
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

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

  int32_t test(Request *request) {
    std::lock_guard lock(mutex_);
    int done = 0;
    if (MPI_Testall(static_cast<int>(request->parts.size()), request->parts.data(), &done,
                    MPI_STATUSES_IGNORE) != MPI_SUCCESS)
      done = -1;
    if (done)
      delete request;
    return done;
  }

  int32_t failedPeer(char *text, size_t size) {
    int32_t peer = failedPeer_.load(std::memory_order_acquire);
    if (peer >= 0) {
      std::lock_guard lock(mutex_);
      std::snprintf(text, size, "%s", failure_.c_str());
    }
    return peer;
  }

  void announce(const char *text) {
    std::lock_guard lock(mutex_);
    if (announced_ || failedPeer_ >= 0)
      return; // peers hear of a failure from the one that had it
    announced_ = true;
    std::string notice(text);
    notice.resize(kNotice);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) {
        notices_.push_back({notice, MPI_REQUEST_NULL});
        MPI_Isend(notices_.back().text.data(), kNotice, MPI_BYTE, peer, kFailureTag, comm_,
                  &notices_.back().request);
      }
  }

  // In good order all ranks come here. After a failure those that can be reached get time to hear
  // of it.
  void close() {
    bool failed = announced_ || failedPeer_ >= 0;
    if (failed) {
      sayGoodbye();
      auto end = Clock::now() + std::chrono::seconds(5);
      while (Clock::now() < end && !allGone())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    bool everybody = !failed || (allGone() && !anySilent_);
    {
      std::lock_guard lock(wakeMutex_);
      stop_ = true;
    }
    wake_.notify_all();
    heart_.join();
    if (everybody)
      MPI_Finalize();
    // Otherwise a peer is dead and finalizing would wait for it: the process ends, and mpirun ends
    // the rest.
  }

private:
  struct Notice {
    std::string text;
    MPI_Request request;
  };

  void beat() {
    std::unique_lock lock(wakeMutex_);
    while (!stop_) {
      wake_.wait_for(lock, period_);
      lock.unlock();
      {
        std::lock_guard calls(mutex_);
        exchangeHeartbeats();
        readNotices();
        checkSilence();
      }
      lock.lock();
    }
    std::lock_guard calls(mutex_);
    for (int peer = 0; peer < size_; ++peer)
      if (outgoing_[peer] != MPI_REQUEST_NULL) {
        MPI_Request_free(&outgoing_[peer]);
      }
  }

  void exchangeHeartbeats() {
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_)
        continue;
      int done = 1;
      if (outgoing_[peer] != MPI_REQUEST_NULL)
        MPI_Test(&outgoing_[peer], &done, MPI_STATUS_IGNORE);
      if (done)
        MPI_Isend(&beatByte_, 1, MPI_BYTE, peer, kHeartbeatTag, comm_, &outgoing_[peer]);
    }
    MPI_Status status;
    int there = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, kHeartbeatTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      char byte;
      MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, kHeartbeatTag, comm_, MPI_STATUS_IGNORE);
      lastHeard_[status.MPI_SOURCE] = Clock::now();
    }
  }

  void readNotices() {
    MPI_Status status;
    int there = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      char text[kNotice + 1] = {};
      MPI_Recv(text, kNotice, MPI_BYTE, status.MPI_SOURCE, kFailureTag, comm_, MPI_STATUS_IGNORE);
      fail(status.MPI_SOURCE, std::string("failed: ") + text);
    }
    while (MPI_Iprobe(MPI_ANY_SOURCE, kGoodbyeTag, comm_, &there, &status) == MPI_SUCCESS &&
           there) {
      char byte;
      MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, kGoodbyeTag, comm_, MPI_STATUS_IGNORE);
      gone_[status.MPI_SOURCE] = true;
    }
  }

  void checkSilence() {
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_ && !gone_[peer] && Clock::now() - lastHeard_[peer] > timeout_) {
        char text[64];
        std::snprintf(text, sizeof text, "has been silent for %.3g s",
                      std::chrono::duration<double>(timeout_).count());
        fail(peer, text);
        gone_[peer] = anySilent_ = true;
      }
  }

  void fail(int peer, std::string text) {
    if (failedPeer_ >= 0)
      return;
    failure_ = std::move(text);
    failedPeer_.store(peer, std::memory_order_release);
  }

  void sayGoodbye() {
    std::lock_guard lock(mutex_);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) {
        MPI_Request request;
        MPI_Isend(&beatByte_, 1, MPI_BYTE, peer, kGoodbyeTag, comm_, &request);
        MPI_Request_free(&request);
      }
  }

  bool allGone() {
    std::lock_guard lock(mutex_);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_ && !gone_[peer])
        return false;
    for (Notice &notice : notices_) {
      int done = 0;
      MPI_Test(&notice.request, &done, MPI_STATUS_IGNORE);
      if (!done)
        return false;
    }
    return true;
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  Clock::duration timeout_ = std::chrono::seconds(30);
  const std::chrono::milliseconds period_{100};
  char beatByte_ = 0;

  std::mutex mutex_; // of all calls of MPI, and of what follows
  std::vector<Clock::time_point> lastHeard_;
  std::vector<MPI_Request> outgoing_;
  std::vector<bool> gone_;
  std::list<Notice> notices_;
  std::string failure_;
  bool announced_ = false, anySilent_ = false;
  std::atomic<int32_t> failedPeer_{-1};

  std::mutex wakeMutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread heart_;
};

Connection &of(void *state) { return *static_cast<Connection *>(state); }

} // namespace

extern "C" __attribute__((visibility("default"))) const char *
tessera_transport_open(TesseraTransport *transport) {
  int provided = 0, initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized)
    return "MPI is in use already in this process";
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return "MPI cannot be initialized (mpirun -n N tessera run ..)";
  if (provided < MPI_THREAD_SERIALIZED)
    return "this MPI does not allow calls from several threads";
  auto *connection = new Connection(MPI_COMM_WORLD);
  transport->abi = TESSERA_TRANSPORT_ABI;
  transport->rank = connection->rank();
  transport->size = connection->size();
  transport->state = connection;
  transport->send = [](void *state, int32_t peer, int32_t tag, const void *data, size_t bytes) {
    return of(state).start(true, peer, tag, const_cast<void *>(data), bytes);
  };
  transport->receive = [](void *state, int32_t peer, int32_t tag, void *data, size_t bytes) {
    return of(state).start(false, peer, tag, data, bytes);
  };
  transport->test = [](void *state, void *request) {
    return of(state).test(static_cast<Request *>(request));
  };
  transport->failed_peer = [](void *state, char *text, size_t size) {
    return of(state).failedPeer(text, size);
  };
  transport->announce = [](void *state, const char *text) { of(state).announce(text); };
  transport->close = [](void *state) {
    of(state).close();
    delete &of(state);
  };
  return nullptr;
}
