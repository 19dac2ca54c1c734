#include "runtime/comm/mpi/Connection.h"
#include "runtime/comm/mpi/PeerMemory.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace tessera::comm {

using namespace std::chrono_literals;

namespace {

enum : int { kHeartbeatTag = 1, kFailureTag = 2, kGoodbyeTag = 3 };
constexpr size_t kLargestPart = size_t{64} << 20; // what comes in part counts as having come
constexpr size_t kNotice = 480;                   // bytes of a failure's text
// mpirun sends SIGTERM to all when one process ends badly, and SIGKILL a second later.
constexpr auto kLookAround = 250ms, kLastWords = 700ms;
constexpr char kTerminated[] = "ended by SIGTERM, as mpirun does with all ranks when one has ended";

bool isTerminationPending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

} // namespace

std::string Connection::connect(const Arrivals &arrivals) {
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
      return (late ? "not all processes of mpirun have connected in time (TESSERA_CONNECT_TIMEOUT)"
                   : "mpirun ends the processes before all have connected") +
             (missing.empty() ? "" : ": " + missing);
    }
  }
  if (!problem_.empty())
    heart_.join();
  return problem_;
}

void *Connection::start(bool sending, int peer, int tag, void *data, size_t bytes) {
  auto request = new Request;
  std::lock_guard lock(mutex_);
  size_t at = 0;
  do {
    auto count = static_cast<int>(std::min(kLargestPart, bytes - at));
    char *part = static_cast<char *>(data) + at;
    request->parts.push_back(MPI_REQUEST_NULL);
    int code = sending ? MPI_Isend(part, count, MPI_BYTE, peer, tag, comm_, &request->parts.back())
                       : MPI_Irecv(part, count, MPI_BYTE, peer, tag, comm_, &request->parts.back());
    if (code != MPI_SUCCESS) {
      delete request; // parts that were started stay with MPI: the run ends here
      return nullptr;
    }
    at += count;
  } while (at < bytes);
  return request;
}

int32_t Connection::test(Request *request, bool waits) {
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

void Connection::report(uint64_t collectives, bool waits) {
  collectives_.store(collectives, std::memory_order_relaxed);
  if (!waits)
    return;
  std::lock_guard lock(mutex_);
  if (std::exchange(waitingAt_, collectives) != collectives)
    waiting_.came(Clock::now());
  waiting_.asked(Clock::now());
}

bool Connection::failure(char *text, size_t size) {
  if (!failed_.load(std::memory_order_acquire))
    return false;
  std::lock_guard lock(mutex_);
  std::snprintf(text, size, "%s", failure_.c_str());
  return true;
}

void Connection::announce(const char *text) {
  std::lock_guard lock(mutex_);
  announceLocked(text, text);
}

bool Connection::close() {
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

void Connection::live() {
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

std::string Connection::begin() {
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

void Connection::end() {
  std::lock_guard calls(mutex_);
  for (int peer = 0; peer < size_; ++peer)
    if (outgoing_[peer] != MPI_REQUEST_NULL)
      MPI_Request_free(&outgoing_[peer]);
  // With a peer that is dead, finalizing would wait for it: the process ends, and mpirun ends the
  // rest.
  if (watch_->allGone() && !watch_->anyLost())
    MPI_Finalize();
}

void Connection::beat() {
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

void Connection::heedTermination(Clock::time_point now) {
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

void Connection::exchangeHeartbeats() {
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
    MPI_Isend(&beats_[peer], sizeof(Beat), MPI_BYTE, peer, kHeartbeatTag, comm_, &outgoing_[peer]);
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

void Connection::readNotices() {
  MPI_Status status;
  int there = 0;
  while (MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, comm_, &there, &status) == MPI_SUCCESS && there) {
    char text[kNotice + 1] = {};
    MPI_Recv(text, kNotice, MPI_BYTE, status.MPI_SOURCE, kFailureTag, comm_, MPI_STATUS_IGNORE);
    fail("rank " + std::to_string(status.MPI_SOURCE) + ": failed: " + text);
  }
  while (MPI_Iprobe(MPI_ANY_SOURCE, kGoodbyeTag, comm_, &there, &status) == MPI_SUCCESS && there) {
    char byte;
    MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, kGoodbyeTag, comm_, MPI_STATUS_IGNORE);
    watch_->saidGoodbye(status.MPI_SOURCE);
  }
}

void Connection::fail(const std::string &text) {
  if (failed_)
    return;
  failure_ = text;
  failed_.store(true, std::memory_order_release);
}

void Connection::announceLocked(const char *text, const std::string &own) {
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

void Connection::sayGoodbye() {
  for (int peer = 0; peer < size_; ++peer)
    if (peer != rank_) {
      MPI_Request request;
      MPI_Isend(&goodbye_, 1, MPI_BYTE, peer, kGoodbyeTag, comm_, &request);
      MPI_Request_free(&request);
    }
}

bool Connection::noticesSent() {
  for (Notice &notice : notices_) {
    int done = 0;
    MPI_Test(&notice.request, &done, MPI_STATUS_IGNORE);
    if (!done)
      return false;
  }
  return true;
}

} // namespace tessera::comm
