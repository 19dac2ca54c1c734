#include "runtime/client/Client.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/execute/Backends.h"
#include "runtime/pool/OwnThread.h"
#include <algorithm>

namespace tessera::runtime {

Result<std::shared_ptr<Client>> Client::create(const ClientOptions &options) {
  uint32_t workers = options.workers;
  if (workers == 0 && options.transport) { // the processes share the machine's cores
    auto all = Pool::defaultSize();
    if (!all.ok())
      return all.status();
    workers = std::max(1u, *all / static_cast<uint32_t>(options.transport->size()));
  }
  auto pool = Pool::shared(workers);
  if (!pool.ok())
    return pool.status();
  std::vector<std::shared_ptr<device::Backend>> backends;
  for (uint32_t number = 0; number < std::max(1u, options.gpus); ++number) {
    auto backend = makeBackend(options.device, *pool, number, options.gpus,
                               options.transport ? options.transport->sharers() : 1);
    if (!backend.ok())
      return backend.status();
    backends.push_back(*backend);
  }
  return std::shared_ptr<Client>(new Client(*pool, std::move(backends), options.transport),
                                 JoinsOwnThreads());
}

Status Client::checkDevice(size_t device) const {
  if (!mostDevices() || device < mostDevices())
    return backend(device).health();
  return {Code::OutOfRange, "there is no device " + std::to_string(device) + ": the client has " +
                                std::to_string(mostDevices()) + " GPUs"};
}

Status Client::checkHere() const {
  if (!pool_->isHere())
    return {Code::FailedPrecondition, "it was made before this process was forked: its workers are "
                                      "threads of the parent; make another here"};
  for (const auto &backend : backends_)
    if (Status s = backend->health(); !s.ok())
      return s;
  return {};
}

} // namespace tessera::runtime
