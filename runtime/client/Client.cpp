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
  auto backend = makeBackend(options.device, *pool);
  if (!backend.ok())
    return backend.status();
  return std::shared_ptr<Client>(new Client(*pool, *backend, options.transport), JoinsOwnThreads());
}

Status Client::checkHere() const {
  if (pool_->isHere())
    return {};
  return {Code::FailedPrecondition, "it was made before this process was forked: its workers are "
                                    "threads of the parent; make another here"};
}

} // namespace tessera::runtime
