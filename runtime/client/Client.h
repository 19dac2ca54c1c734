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
  std::shared_ptr<Transport> transport; // other processes; null: all devices here
  uint32_t gpus = 1; // that the devices here have, one each; 1: all are on one back end
};

// Thread-safe.
class Client {
public:
  static Result<std::shared_ptr<Client>> create(const ClientOptions &options);

  Pool &pool() const { return *pool_; }
  // Of a device of this process, by its number among those.
  device::Backend &backend(size_t device) const {
    return *backends_[backends_.size() == 1 ? 0 : device];
  }
  // How many devices this process may have; 0: any number.
  size_t mostDevices() const { return backends_.size() == 1 ? 0 : backends_.size(); }
  Transport *transport() const { return transport_.get(); }
  Deadlines &deadlines() { return deadlines_; }
  // Fails where this process cannot have a device of the number, and of one that was given up.
  Status checkDevice(size_t device) const;
  // Fails in the child of a fork, and where a device was given up.
  Status checkHere() const;

private:
  Client(std::shared_ptr<Pool> pool, std::vector<std::shared_ptr<device::Backend>> backends,
         std::shared_ptr<Transport> transport)
      : pool_(std::move(pool)), backends_(std::move(backends)), transport_(std::move(transport)) {}

  std::shared_ptr<Pool> pool_;
  std::vector<std::shared_ptr<device::Backend>> backends_; // one, or one a device
  std::shared_ptr<Transport> transport_;
  Deadlines deadlines_;
};

} // namespace tessera::runtime
