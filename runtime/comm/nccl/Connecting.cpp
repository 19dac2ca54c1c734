#include "runtime/comm/nccl/Connecting.h"
#include "runtime/pool/Pool.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace tessera::runtime::nccl {

namespace {

struct Attempt {
  std::atomic<bool> ended{false};
  ResultCode code = kSuccess;
  std::vector<Comm> comms;
};

int64_t timeLimit() {
  const char *text = std::getenv("TESSERA_COMM_TIMEOUT");
  double seconds = text ? std::atof(text) : 0;
  return static_cast<int64_t>((seconds > 0 ? seconds : 30) * 1e9);
}

// Each waits for all others: those of one thread are a group.
ResultCode initialize(const Library &library, const RanksHere &here, const UniqueId &id,
                      std::vector<Comm> &comms) {
  comms.resize(here.ranks.size());
  ResultCode code = library.ncclGroupStart();
  for (size_t i = 0; i < comms.size() && code == kSuccess; ++i) {
    here.backends[i]->enter();
    code = library.ncclCommInitRank(&comms[i], here.size, id, here.ranks[i]);
  }
  ResultCode ended = library.ncclGroupEnd();
  return code == kSuccess ? ended : code;
}

} // namespace

// On a thread of its own, which is left behind where it does not end: the process is about to fail.
Result<std::vector<Comm>> connect(const Library &library, const RanksHere &here,
                                  Transport *transport, const UniqueId &id) {
  auto attempt = std::make_shared<Attempt>();
  std::thread([attempt, &library, here, id] {
    attempt->code = initialize(library, here, id, attempt->comms);
    attempt->ended.store(true, std::memory_order_release);
  }).detach();
  int64_t deadline = Pool::now() + timeLimit();
  while (!attempt->ended.load(std::memory_order_acquire)) {
    if (Status s = transport ? transport->health() : Status(); !s.ok())
      return s;
    if (Pool::now() > deadline)
      return Status(Code::Unavailable, "NCCL does not connect the devices (NCCL_DEBUG=INFO says "
                                       "why; TESSERA_COMM_TIMEOUT sets how long it may take)");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (Status s = library.status(attempt->code, "the devices cannot be connected"); !s.ok())
    return s;
  return attempt->comms;
}

} // namespace tessera::runtime::nccl
