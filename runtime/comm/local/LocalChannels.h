// Channels between the devices of one process, without copies in between.
//
//   sender     start ------------ wait        the first of the two to come leaves its buffer, the
//   receiver          start .. wait           second copies; a wait parks until that is done
//
// What is sent on a way comes in the order of the sends: both sides keep a queue of buffers, one of
// which is empty.
#pragma once

#include "runtime/device/Communicator.h"
#include "runtime/pool/Run.h"
#include "runtime/program/LoadedProgram.h"
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime {

// Thread-safe; one object serves all devices of a file.
class LocalChannels {
public:
  // What one takes for a file: linear in devices x sites and in channels x devices that receive.
  static double bytesFor(const LoadedProgram &file);
  LocalChannels(const LoadedProgram &file, Run &run);
  virtual ~LocalChannels() = default;

  // As a communicator's; `plan` has a route, and `site` is one of those behind the collectives'.
  Status start(const DeviceProgram &program, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers);
  device::Outcome wait(const DeviceProgram &program, Task &task, uint32_t position, uint32_t site);
  void wakeAll();
  virtual void reset();
  std::string describeWait(const DeviceProgram &program, uint32_t position, uint32_t site) const;

protected:
  // One end of what is sent: of a device and a site.
  struct Place {
    const DeviceProgram *program;
    uint32_t position, site;
  };
  // Copies what is sent; where the cores do not do it themselves, it is under way when this returns.
  virtual Status carry(const Place &from, const Place &to, const void *source, void *target,
                       uint64_t bytes);

private:
  // Of a device and a site: what it has started there.
  struct Flight {
    std::mutex mutex;                     // of what follows
    const CollectivePlan *plan = nullptr; // null: nothing that was not waited for
    uint32_t left = 0;                    // of the copies that end it
    Task *waiter = nullptr;
  };
  struct End {
    Flight *flight;
    void *buffer;
    Place place;
  };
  // Where a device that receives and the one that sends to it meet.
  struct Way {
    std::mutex mutex;
    std::deque<End> sends, receives;
  };
  struct OfProgram {
    uint32_t firstSite, sites;
    std::unique_ptr<Flight[]> flights; // by position and site
  };
  Flight &flightOf(const DeviceProgram &program, uint32_t position, uint32_t site) const {
    const OfProgram &of = programs_[program.index()];
    return of.flights[uint64_t{position} * of.sites + (site - of.firstSite)];
  }
  Status meet(Way &way, End end, bool sends, uint64_t bytes);
  void oneIsDone(Flight &flight);

  const LoadedProgram &file_;
  Run &run_;
  std::vector<OfProgram> programs_;
  std::vector<std::unique_ptr<Way[]>> ways_; // by channel and receiving position
};

} // namespace tessera::runtime
