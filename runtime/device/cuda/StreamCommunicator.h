// A communicator that moves bytes by commands in streams: devices order them by events, and nobody
// waits on the host for what a GPU has computed.
//
//   device 0   compute ..  ready 0 ------------------- compute ..  | done  compute ..
//   device 1   compute ..........  ready 1 ---- compute ......     | done  compute ..
//   of both                        | 0, 1  move the bytes  done
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cuda/Gathering.h"

namespace tessera::runtime::device {

class StreamCommunicator {
public:
  // Where the commands of all its devices are gathered together; null: each device has a gathering of
  // its own.
  virtual cuda::Gathering *gathering() { return nullptr; }
  // A number of its own for each device of the gathering.
  virtual uint32_t deviceOf(uint32_t position) const { return position; }
  // A step begins: nothing is under way.
  virtual void begin() {}
  // Before a `start`: the operands are there when the device's lane has come so far.
  virtual Status come(uint32_t position, uint32_t site, cuda::Gathering &gathering,
                      uint64_t lane) = 0;
  // After a `wait` that is done: what follows in the lane comes after what the site has started.
  virtual Status follow(uint32_t position, uint32_t site, cuda::Gathering &gathering,
                        uint64_t lane) = 0;
  // Whether the device's stream stands at messages of others.
  virtual bool waits(uint32_t) { return false; }
  // Asked while a device waits for its stream: whether that may still come so far.
  virtual Status health() { return {}; }

protected:
  ~StreamCommunicator() = default;
};

} // namespace tessera::runtime::device
