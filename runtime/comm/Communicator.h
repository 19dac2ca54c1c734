// How devices reach each other. One object serves all devices of this process.
#pragma once

#include "runtime/Status.h"
#include "runtime/pool/Pool.h"
#include "runtime/program/Blocks.h"
#include <cstdint>
#include <string>

namespace tessera::runtime {

class Communicator {
public:
  enum class Outcome { Ready, Parked, Failed };

  virtual ~Communicator() = default;

  // The device at `position` joins its group's collective. `buffers`: operands, then results; valid
  // until the wait. May carry out the collective, and wake peers, when this device is the last to
  // come.
  virtual Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
                       void *const *buffers) = 0;

  // Ready: the results are there and the operands are free. Parked: the task is kept and pushed
  // when it should ask again; the caller must not touch it any more. Failed: the run's status says
  // why.
  virtual Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) = 0;

  // Wakes every parked task: the run has failed.
  virtual void wakeAll() = 0;

  // What the device waits for at a site, and which devices have not come: for the message when
  // nothing moves any more.
  virtual std::string describeWait(uint32_t position, uint32_t site) const = 0;

  // Forgets whatever a failed run left behind. Nothing is running.
  virtual void reset() = 0;

  // Tells devices of other processes that one here failed.
  virtual void announceFailure(const std::string &) {}
};

} // namespace tessera::runtime
