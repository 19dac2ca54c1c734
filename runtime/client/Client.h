// What executes programs in this process: workers, memory, and the other processes, if there are
// any. Executables, buffers and arrays of one client share them.
#pragma once

#include "runtime/client/Deadlines.h"
#include "runtime/device/Device.h"
#include "runtime/pool/Pool.h"
#include <memory>
#include <string>

namespace tessera::runtime {

class Transport;

struct ClientOptions {
  std::string device = "cpu";           // the back end
  uint32_t workers = 0;                 // 0: TESSERA_WORKERS, or one a core
  std::shared_ptr<Transport> transport; // other processes, one device each; null: all devices here
};

// Thread-safe.
class Client {
public:
  static Result<std::shared_ptr<Client>> create(const ClientOptions &options);

  Pool &pool() const { return *pool_; }
  device::Backend &backend() const { return *backend_; }
  Transport *transport() const { return transport_.get(); }
  Deadlines &deadlines() { return deadlines_; }
  // Fails in the child of a fork.
  Status checkHere() const;

private:
  Client(std::shared_ptr<Pool> pool, std::shared_ptr<device::Backend> backend,
         std::shared_ptr<Transport> transport)
      : pool_(std::move(pool)), backend_(std::move(backend)), transport_(std::move(transport)) {}

  std::shared_ptr<Pool> pool_;
  std::shared_ptr<device::Backend> backend_;
  std::shared_ptr<Transport> transport_;
  Deadlines deadlines_;
};

} // namespace tessera::runtime
