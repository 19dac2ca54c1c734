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
  Comm comm = nullptr;
};

int64_t timeLimit() {
  const char *text = std::getenv("TESSERA_COMM_TIMEOUT");
  double seconds = text ? std::atof(text) : 0;
  return static_cast<int64_t>((seconds > 0 ? seconds : 30) * 1e9);
}

} // namespace

// On a thread of its own, which is left behind where it does not end: the process is about to fail.
Result<Comm> connect(const Library &library, std::shared_ptr<device::CudaBackend> backend,
                     Transport &transport, const UniqueId &id) {
  auto attempt = std::make_shared<Attempt>();
  std::thread([attempt, backend, &library, id, rank = transport.rank(), size = transport.size()] {
    backend->enter();
    attempt->code = library.ncclCommInitRank(&attempt->comm, size, id, rank);
    attempt->ended.store(true, std::memory_order_release);
  }).detach();
  int64_t deadline = Pool::now() + timeLimit();
  while (!attempt->ended.load(std::memory_order_acquire)) {
    if (Status s = transport.health(); !s.ok())
      return s;
    if (Pool::now() > deadline)
      return Status(Code::Unavailable, "NCCL does not connect the processes (NCCL_DEBUG=INFO says "
                                       "why; TESSERA_COMM_TIMEOUT sets how long it may take)");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (Status s = library.status(attempt->code, "the processes cannot be connected"); !s.ok())
    return s;
  return attempt->comm;
}

} // namespace tessera::runtime::nccl
