// The connection of this process with those of the same mpirun.
//
// MPI 3 has no way to learn of a failed peer, so a thread of this plug-in sends a heartbeat to
// every peer and listens for theirs, and for the notice of a peer that failed in an orderly way.
// It is the thread that MPI begins and ends on, so that neither can hang the caller: ranks that
// don't come, or a peer that dies meanwhile, are errors when the limit is over. All calls of MPI
// are under one mutex (MPI_THREAD_SERIALIZED), which the thread holds only for moments.
#pragma once

#include "runtime/comm/mpi/Arrivals.h"
#include "runtime/comm/mpi/PeerProcess.h"
#include "runtime/comm/mpi/PeerWatch.h"
#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tessera::comm {

// A message: MPI requests of its parts.
struct Request {
  std::vector<MPI_Request> parts;
};

class Connection {
public:
  struct Limits {
    Clock::duration silent, connect, stuck;
  };
  explicit Connection(const Limits &limits)
      : limit_(limits.silent), connectLimit_(limits.connect), stuckLimit_(limits.stuck) {}

  // Nothing, or why there is no connection. Then the thread may hang in MPI for ever, and the
  // object must stay.
  std::string connect(const Arrivals &arrivals);

  int rank() const { return rank_; }
  int largestTag() const { return largestTag_; }
  int size() const { return size_; }
  int64_t process(int peer) const { return reachable_[peer]; }

  void *start(bool sending, int peer, int tag, void *data, size_t bytes);
  int32_t test(Request *request, bool waits);
  void report(uint64_t collectives, bool waits);
  bool failure(char *text, size_t size);
  void announce(const char *text);

  // In good order all ranks come here, and wait for each other: who has finished lives on until all
  // have. After a failure those that can be reached get time to hear of it. False when MPI hangs:
  // then the object must stay.
  bool close();

private:
  struct Notice {
    std::string text;
    MPI_Request request;
  };
  struct Beat {
    int64_t waiting; // nanoseconds
    uint64_t collectives;
  };

  void live();
  std::string begin();

  template <class T> bool gather(const T &own, std::vector<T> &all) {
    return MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_) ==
           MPI_SUCCESS;
  }

  void end();
  void beat();

  // A host that blocks SIGTERM (`tessera run` does) hears first which rank has ended, and says so.
  void heedTermination(Clock::time_point now);
  void exchangeHeartbeats();
  void readNotices();
  void fail(const std::string &text);

  // `own`: what this process says from now on.
  void announceLocked(const char *text, const std::string &own);
  void sayGoodbye();
  bool noticesSent();

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

} // namespace tessera::comm
