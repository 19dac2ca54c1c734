// Collectives among the devices of one process, without copies in between.
//
// The ranks of a group meet at (site, group): each leaves its table of buffers and goes on. The
// last to come carries the collective out, reading operands and writing results where they are;
// when it is large, idle workers take parts of it. No rank ever blocks a worker: those that wait
// are parked, and are pushed when the collective is complete. As nobody completes a collective
// before all ranks have joined it, and a rank joins again only after its wait, one meeting place a
// site and group is enough.
//
// Each rank also leaves how many collectives of the group it had started: ranks that start them in
// different orders find out when they meet. Ranks that take different ways do not meet at all; then
// the run stalls, which is an error of its own.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Reduce.h"
#include "runtime/comm/local/Links.h"
#include "runtime/execute/Run.h"
#include "runtime/program/LoadedProgram.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

class LocalCommunicator : public Communicator {
public:
  // `links`: simulated delays, or null for none.
  LocalCommunicator(const LoadedProgram &program, Run &run, std::shared_ptr<const Links> links);

  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               void *const *buffers) override;
  Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) override;
  void wakeAll() override;
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;

private:
  struct alignas(64) Group {
    std::atomic<int64_t> linkFree{0}; // when the simulated link is free again
  };
  struct Arrival {
    void *const *buffers = nullptr;
    uint32_t sequence = 0; // of the rank's starts in the group
  };
  struct alignas(64) Meeting {
    std::atomic<uint32_t> arrived{0}, completed{0}; // completed: the epoch
    std::atomic<Task *> waiters{nullptr};
    std::vector<Arrival> arrivals; // by rank
    LocalCommunicator *owner = nullptr;
    Timer timer = {};
    uint32_t epoch = 0; // of the collective that the timer completes
  };
  // What a device knows of a site.
  struct Place {
    Meeting *meeting = nullptr;
    uint32_t rank = 0;
    uint32_t epoch = 0; // how often it has started here
  };
  // The same of a group.
  struct Membership {
    Group *group = nullptr;
    uint32_t sequence = 0;
  };
  // How a collective is cut into units of work: unit u of operand i moves piece u % pieces of one
  // (target, source).
  struct Work {
    std::vector<uint32_t> firstUnit, pieces;
    int64_t pieceBytes = 0;
    uint32_t units = 0, chunk = 1;
    bool wakes = false;
    ReduceFunction reduce = nullptr;
  };
  struct Job {
    const CollectivePlan *plan;
    const Work *work;
    const Arrival *arrivals;
  };

  static Work makeWork(const CollectivePlan &plan);
  static int32_t runUnits(void *job, Worker &worker, uint32_t begin, uint32_t end);
  static void runUnit(const Job &job, uint32_t unit);
  Status checkOrder(const Meeting &meeting, const CollectivePlan &plan, uint32_t position) const;
  void complete(Meeting &meeting, uint32_t epoch);

  const LoadedProgram &program_;
  Run &run_;
  std::shared_ptr<const Links> links_;
  std::vector<Work> works_;                          // by collective
  std::vector<std::unique_ptr<Group[]>> groups_;     // by group set
  std::vector<std::unique_ptr<Meeting[]>> meetings_; // by site
  std::vector<uint32_t> meetingCount_;               // by site
  std::vector<std::vector<Place>> places_;           // by position and site
  std::vector<std::vector<Membership>> memberships_; // by position and group set
  std::vector<const CollectivePlan *> planOfSite_;
};

} // namespace tessera::runtime
