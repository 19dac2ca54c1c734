// How devices reach each other: what their queues call when it is a collective's turn. One object
// serves all devices of this process; runtime/comm has them.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/Memory.h"
#include "runtime/device/Outcome.h"
#include "runtime/pool/Pool.h"
#include "runtime/program/Blocks.h"
#include <cstdint>
#include <string>

namespace tessera::runtime {

class Communicator {
public:
  virtual ~Communicator() = default;

  // Whether the cores that call `start` read and write buffers where they are: then it is given
  // addresses that they can reach, by the back end whose memory it is. Otherwise it is given those
  // of the device, and copies.
  virtual bool inPlace() const = 0;

  // Whether a collective goes on beside what its devices compute, once all have come. Devices that
  // share cores then let the others come, too, before they go on.
  virtual bool goesOnBeside() const { return false; }

  // The device at `position` joins its group's collective. `buffers`: operands, then results; valid
  // until the wait. May carry out the collective, and wake peers, when this device is the last to
  // come.
  virtual Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
                       const device::Address *buffers) = 0;

  // Done: the results are there and the operands are free.
  virtual device::Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) = 0;

  // Wakes every parked task: the run has failed.
  virtual void wakeAll() = 0;

  // What the device waits for at a site, and which devices have not come: for the message when
  // nothing moves any more.
  virtual std::string describeWait(uint32_t position, uint32_t site) const = 0;

  // Of a failed run: messages that are under way may still read from its buffers and write to them.
  virtual bool mayStillWrite() const { return false; }

  // Forgets whatever a failed run left behind. Nothing is running.
  virtual void reset() = 0;

  // Tells devices of other processes that one here failed.
  virtual void announceFailure(const std::string &) {}
};

} // namespace tessera::runtime
