#include "runtime/pool/Pool.h"
#include "runtime/Environment.h"
#include "runtime/HostMemory.h"
#include "runtime/pool/Futex.h"
#include "runtime/pool/NumericMode.h"
#include "runtime/pool/OwnThread.h"
#include <algorithm>
#include <ctime>
#include <map>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace tessera::runtime {

namespace {

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

std::vector<int> allowedCores() {
  std::vector<int> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set))
        cores.push_back(i);
  return cores;
}

uint32_t cellOf(uint64_t claim) { return static_cast<uint32_t>(claim); }

uint32_t chunkEnd(uint32_t begin, uint32_t chunk, uint32_t total) {
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{begin} + chunk, total));
}

bool later(const Timer *a, const Timer *b) { return a->deadline > b->deadline; }

thread_local bool ownThread = false;

} // namespace

void isOwnThread() { ownThread = true; }
bool onOwnThread() { return ownThread; }

int64_t Pool::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

Result<uint32_t> Pool::defaultSize() {
  auto workers = environmentNumber("TESSERA_WORKERS", 0, kMostWorkers);
  if (!workers.ok())
    return workers.status();
  auto chosen = static_cast<uint32_t>(workers->value_or(0));
  return chosen ? chosen : static_cast<uint32_t>(std::max<size_t>(1, allowedCores().size()));
}

Result<std::shared_ptr<Pool>> Pool::shared(uint32_t workers) {
  if (workers > kMostWorkers)
    return invalidArgument(std::to_string(workers) + " workers: at most " +
                           std::to_string(kMostWorkers));
  if (workers == 0) {
    auto size = defaultSize();
    if (!size.ok())
      return size.status();
    workers = *size;
  }
  auto poll = environmentNumber("TESSERA_POLL_US", 0, 1e6);
  if (!poll.ok())
    return poll.status();
  static std::mutex mutex;
  static auto &pools = *new std::map<uint32_t, std::weak_ptr<Pool>>;
  std::lock_guard lock(mutex);
  std::erase_if(pools, [](const auto &entry) { return entry.second.expired(); });
  std::shared_ptr<Pool> pool = pools[workers].lock();
  if (!pool || !pool->isHere()) {
    pool.reset(new Pool(workers, static_cast<int64_t>(poll->value_or(20) * 1e3)),
               JoinsOwnThreads());
    if (Status s = pool->start(); !s.ok())
      return s;
    pools[workers] = pool;
  }
  return pool;
}

Pool::Pool(uint32_t workers, int64_t pollNanoseconds)
    : pollNanoseconds_(pollNanoseconds), process_(getpid()) {
  for (uint32_t i = 0; i < workers; ++i)
    workers_.push_back(std::make_unique<Worker>(*this, i));
}

bool Pool::isHere() const { return process_ == getpid(); }

Status Pool::start() {
  std::vector<int> cores = allowedCores();
  for (auto &worker : workers_) {
    try {
      worker->thread_ = std::thread([w = worker.get()] {
        isOwnThread();
        NumericMode mode;
        w->main();
      });
    } catch (const std::system_error &e) {
      return {Code::ResourceExhausted,
              "thread " + std::to_string(worker->index_ + 1) + " of " +
                  std::to_string(workers_.size()) + " cannot be made: " + e.code().message() +
                  " (limits are `ulimit -u` and `ulimit -v`; TESSERA_WORKERS=N "
                  "takes fewer)"};
    }
    if (workers_.size() ==
        cores.size()) { // fewer may share the machine with other processes: they go
                        // where there is room
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cores[worker->index_], &set);
      pthread_setaffinity_np(worker->thread_.native_handle(), sizeof set, &set);
    }
  }
  return {};
}

Pool::~Pool() {
  if (!isHere()) { // there is nobody to join
    for (auto &worker : workers_)
      worker.release();
    return;
  }
  stop_ = true;
  for (auto &worker : workers_) {
    worker->asleep_ = 0;
    futexWake(worker->asleep_);
  }
  for (auto &worker : workers_)
    if (worker->thread_.joinable()) // all are, unless start failed
      worker->thread_.join();
}

void Pool::push(Task *chain) {
  if (Worker *guest = Worker::guest; guest && &guest->pool_ == this && chain) {
    Task *last = chain;
    uint32_t count = 1;
    for (; last->next; last = last->next)
      ++count;
    return guest->push(chain, last, count);
  }
  // Neighbours with the same home go under one lock.
  while (chain) {
    Task *first = chain, *last = chain;
    uint32_t count = 1, home = first->home;
    for (; last->next && last->next->home == home; last = last->next)
      ++count;
    chain = last->next;
    last->next = nullptr;
    workers_[home]->push(first, last, count);
    std::atomic_thread_fence(
        std::memory_order_seq_cst); // against the sleeper's last look at the queues
    for (uint32_t i = 0; i < count && sleepers_.load(std::memory_order_relaxed); ++i)
      if (!wakeOne(home))
        break;
  }
}

bool Pool::wakeOne(uint32_t preferred) {
  for (uint32_t i = 0; i < size(); ++i) {
    Worker &worker = *workers_[(preferred + i) % size()];
    uint32_t asleep = 1;
    if (worker.asleep_.load(std::memory_order_relaxed) &&
        worker.asleep_.compare_exchange_strong(asleep, 0, std::memory_order_acq_rel)) {
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      futexWake(worker.asleep_);
      return true;
    }
  }
  return false;
}

void Pool::add(Timer *timer) {
  {
    std::lock_guard lock(timerMutex_);
    timers_.push_back(timer);
    std::push_heap(timers_.begin(), timers_.end(), later);
    nextDeadline_.store(timers_.front()->deadline, std::memory_order_seq_cst);
  }
  if (sleepers_.load(std::memory_order_seq_cst))
    wakeOne(0); // it sleeps again with the new limit
}

void Pool::fireTimers() {
  if (now() < nextDeadline_.load(std::memory_order_relaxed) || !timerMutex_.try_lock())
    return;
  std::vector<Timer *> due;
  while (!timers_.empty() && timers_.front()->deadline <= now()) {
    std::pop_heap(timers_.begin(), timers_.end(), later);
    due.push_back(timers_.back());
    timers_.pop_back();
  }
  nextDeadline_.store(timers_.empty() ? INT64_MAX : timers_.front()->deadline,
                      std::memory_order_seq_cst);
  timerMutex_.unlock();
  for (Timer *timer : due)
    timer->fire(timer);
}

thread_local Worker *Worker::guest = nullptr;

Worker::~Worker() { freeAligned(scratch_); }

void *Worker::growScratch(size_t bytes) {
  freeAligned(scratch_);
  scratch_ = allocateAligned(bytes);
  scratchBytes_ = scratch_ ? bytes : 0;
  return scratch_;
}

void Worker::push(Task *first, Task *last, uint32_t count) {
  while (lock_.test_and_set(std::memory_order_acquire))
    pause();
  (head_ ? tail_->next : head_) = first;
  tail_ = last;
  queued_.store(queued_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  lock_.clear(std::memory_order_release);
}

Task *Worker::pop() {
  if (queued_.load(std::memory_order_relaxed) == 0)
    return nullptr;
  while (lock_.test_and_set(std::memory_order_acquire))
    pause();
  Task *task = head_;
  if (task) {
    head_ = task->next;
    task->next = nullptr;
    queued_.store(queued_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  lock_.clear(std::memory_order_release);
  return task;
}

void Worker::main() {
  prctl(PR_SET_TIMERSLACK, 1000UL); // nanoseconds: collectives over simulated links end in time
  int64_t idleSince = 0;
  uint32_t polls = 0;
  while (!pool_.stop_.load(std::memory_order_relaxed)) {
    if (pool_.nextDeadline_.load(std::memory_order_relaxed) != INT64_MAX)
      pool_.fireTimers();
    Task *task = pop();
    for (uint32_t i = 1; !task && i < pool_.size(); ++i)
      task = pool_.workers_[(index_ + i) % pool_.size()]->pop();
    if (task) {
      task->run(*this);
      polls = 0;
    } else if (help()) {
      polls = 0;
    } else if (polls++ == 0) {
      idleSince = Pool::now();
    } else if (polls % 16 != 0 || Pool::now() - idleSince < pool_.pollNanoseconds_) {
      pause();
    } else {
      sleepOnce();
      polls = 0;
    }
  }
}

// Until a thread runs that has slept: timers are awaited awake for so long. (On a virtual machine a sleep ended
// 25 to 36 us late in the median, one of ten 45 us late.)
constexpr int64_t kWakeNanoseconds = 60'000;

// Sleeps unless there is work after all, by a last look that no push and no job can slip past.
bool Worker::sleepOnce() {
  asleep_.store(1, std::memory_order_relaxed);
  pool_.sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool work = pool_.stop_;
  for (auto &worker : pool_.workers_)
    work |= worker->queued_.load(std::memory_order_relaxed) != 0 ||
            cellOf(worker->claim_.load(std::memory_order_relaxed)) <
                worker->total_.load(std::memory_order_relaxed);
  int64_t deadline = pool_.nextDeadline_.load(std::memory_order_relaxed), limit = -1;
  if (deadline != INT64_MAX)
    limit = std::max<int64_t>(0, deadline - Pool::now() - kWakeNanoseconds);
  if (!work && limit != 0)
    futexWait(asleep_, 1, limit);
  if (asleep_.exchange(0, std::memory_order_acq_rel))
    pool_.sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return !work;
}

int32_t Worker::runJob(JobFunction function, void *context, uint32_t total, uint32_t chunk,
                       bool wakes) {
  if (chunk >= total)
    return function(context, *this, 0, total);
  if (pool_.size() == 1 || guest == this) { // nobody could take a part
    int32_t code = 0;
    for (uint32_t begin = 0; begin < total && !code; begin = chunkEnd(begin, chunk, total))
      code = function(context, *this, begin, chunkEnd(begin, chunk, total));
    return code;
  }
  uint64_t epoch = (claim_.load(std::memory_order_relaxed) >> 32) + 1;
  total_.store(0, std::memory_order_relaxed);
  function_.store(function, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  chunk_.store(chunk, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  error_.store(0, std::memory_order_relaxed);
  claim_.store(epoch << 32, std::memory_order_release);
  total_.store(total, std::memory_order_release);
  if (wakes) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint64_t chunks = (uint64_t{total} + chunk - 1) / chunk;
    for (uint64_t i = 1; i < chunks && pool_.sleepers_.load(std::memory_order_relaxed); ++i)
      if (!pool_.wakeOne(index_ + 1))
        break;
  }
  uint32_t own = 0;
  int32_t error = 0;
  uint64_t claim = epoch << 32;
  while (cellOf(claim) < total) {
    uint32_t begin = cellOf(claim), end = chunkEnd(begin, chunk, total);
    if (!claim_.compare_exchange_weak(claim, (epoch << 32) | end, std::memory_order_acq_rel))
      continue;
    if (int32_t code = function(context, *this, begin, end); code && !error)
      error = code;
    own += end - begin;
    claim = claim_.load(std::memory_order_relaxed);
    // After an error nobody needs the cells that are left.
    while (error && cellOf(claim) < total)
      if (claim_.compare_exchange_weak(claim, (epoch << 32) | total, std::memory_order_acq_rel)) {
        own += total - cellOf(claim);
        break;
      }
  }
  // Helpers may be in the middle of their last chunks.
  for (uint32_t polls = 0; finished_.load(std::memory_order_acquire) + own != total; ++polls) {
    if (polls < 4096)
      pause();
    else
      sched_yield(); // the helper has lost its core to another process
  }
  return error ? error : error_.load(std::memory_order_relaxed);
}

bool Worker::help() {
  for (uint32_t i = 1; i < pool_.size(); ++i) {
    Worker &other = *pool_.workers_[(index_ + i) % pool_.size()];
    uint64_t claim = other.claim_.load(std::memory_order_acquire);
    uint32_t total = other.total_.load(std::memory_order_acquire), begin = cellOf(claim);
    if (begin >= total)
      continue;
    JobFunction function = other.function_.load(std::memory_order_relaxed);
    void *context = other.context_.load(std::memory_order_relaxed);
    uint32_t end = chunkEnd(begin, other.chunk_.load(std::memory_order_relaxed), total);
    if (!other.claim_.compare_exchange_strong(claim, (claim >> 32 << 32) | end,
                                              std::memory_order_acq_rel))
      return true; // lost a race: look again
    int32_t code = function(context, *this, begin, end), none = 0;
    if (code)
      other.error_.compare_exchange_strong(none, code, std::memory_order_relaxed);
    other.finished_.fetch_add(end - begin, std::memory_order_release);
    return true;
  }
  return false;
}

} // namespace tessera::runtime
