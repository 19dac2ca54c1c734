// A communicator that moves bytes by commands in streams: devices order them by events, and nobody
// waits on the host for what a GPU has computed.
//
//   device 0   compute ..  ready 0 ------------------- compute ..  | done  compute ..
//   device 1   compute ..........  ready 1 ---- compute ......     | done  compute ..
//   of both                        | 0, 1  move the bytes  done
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cuda/Driver.h"

namespace tessera::runtime::device {

class StreamCommunicator {
public:
  // Before a `start`: the operands are there when the device's stream has come so far.
  virtual Status come(uint32_t position, uint32_t site, cuda::Stream stream) = 0;
  // After a `wait` that is done: what follows in the stream comes after what the site has started.
  virtual Status follow(uint32_t position, uint32_t site, cuda::Stream stream) = 0;
  // Asked while a device waits for its stream: whether that may still come so far.
  virtual Status health() { return {}; }

protected:
  ~StreamCommunicator() = default;
};

} // namespace tessera::runtime::device
