// Collectives among the devices of one process, without copies in between.
//
// The ranks of a group meet at (site, group): each leaves its table of buffers and goes on. The
// last to come carries the collective out, reading operands and writing results where they are;
// when it is large, idle workers take parts of it, or all of it where the rank has something to
// compute beside it and a core nothing. No rank ever blocks a worker: those that wait
// are parked, and are pushed when the collective is complete. As nobody completes a collective
// before all ranks have joined it, and a rank joins again only after its wait, one meeting place a
// site and group is enough.
//
// Each rank also leaves how many collectives of the group it had started: ranks that start them in
// different orders find out when they meet. Ranks that take different ways do not meet at all; then
// the run stalls, which is an error of its own.
#pragma once

#include "runtime/comm/local/Links.h"
#include "runtime/comm/local/LocalChannels.h"
#include "runtime/comm/local/Work.h"
#include "runtime/device/Communicator.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

class LocalCommunicator : public Communicator {
public:
  // What one takes for a program: linear in devices x (sites + sets of groups).
  static double bytesFor(const DeviceProgram &program);
  // `links`: simulated delays, or null for none. `channels`: of all programs of the file; null where
  // it has none.
  LocalCommunicator(const DeviceProgram &program, Run &run, std::shared_ptr<const Links> links,
                    std::shared_ptr<LocalChannels> channels);

  bool inPlace() const override { return true; }
  bool goesOnBeside() const override { return links_ != nullptr; }
  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers) override;
  device::Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) override;
  void wakeAll() override;
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;

protected:
  struct Arrival {
    void *const *buffers = nullptr;
    uint32_t sequence = 0; // of the rank's starts in the group
  };
  // Carries out a collective whose ranks have all come. Where the cores do not do it themselves, it is
  // over when it is under way.
  virtual Status move(Worker &worker, size_t number, uint32_t group, const Arrival *arrivals);
  virtual bool coresMove() const { return true; }
  uint32_t groupOf(uint32_t position, uint32_t site) const {
    return memberships_[position][sites_[site].plan->groupSet].group;
  }
  const DeviceProgram &program() const { return program_; }
  LocalChannels *channels() const { return channels_.get(); }

private:
  struct alignas(64) Meeting {
    std::atomic<uint32_t> arrived{0}, completed{0}; // completed: the epoch
    std::atomic<Task *> waiters{nullptr};
    Arrival *arrivals = nullptr; // by rank
    LocalCommunicator *owner = nullptr;
    Timer timer = {};
    uint32_t epoch = 0; // of the collective that the timer completes
  };
  // All meetings of a site, by group, and the arrivals at them, by group and rank.
  struct Site {
    const CollectivePlan *plan = nullptr;
    std::unique_ptr<Meeting[]> meetings;
    std::unique_ptr<Arrival[]> arrivals;
    uint32_t count = 0;
  };
  // What a device knows of a set of groups.
  struct Membership {
    uint32_t group = 0, rank = 0;
    uint32_t sequence = 0; // how many collectives of its group it has started
  };
  struct Job {
    const CollectivePlan *plan;
    const Work *work;
    const Arrival *arrivals;
    uint64_t firstUnit; // of the job
  };
  // A collective whose ranks have all come.
  struct Turn {
    Meeting *meeting;
    size_t number; // of the collective
    uint32_t group, epoch;
  };
  // One that another worker carries out. It deletes itself.
  class Carrying final : public Task {
  public:
    Carrying(LocalCommunicator &owner, const Turn &turn) : owner_(owner), turn_(turn) {}
    void run(Worker &worker) override;

  private:
    LocalCommunicator &owner_;
    const Turn turn_;
  };
  // Whether links take time for it.
  bool isSimulated(const CollectivePlan &plan) const { return links_ && plan.groupSize > 1; }
  bool isHandedOver(Worker &worker, const Turn &turn);
  Status carryOut(Worker &worker, const Turn &turn);
  static int32_t runUnits(void *job, Worker &worker, uint32_t begin, uint32_t end);
  static void runUnit(const Job &job, uint64_t unit);
  Meeting &meetingOf(uint32_t position, uint32_t site) const {
    const Site &at = sites_[site];
    return at.meetings[groupOf(position, site)];
  }
  Status checkOrder(const Meeting &meeting, const CollectivePlan &plan, uint32_t position) const;
  void complete(Meeting &meeting, uint32_t epoch);

  const DeviceProgram &program_;
  Run &run_;
  std::shared_ptr<const Links> links_;
  std::unique_ptr<LinkClock> linkClock_; // null without simulated links
  std::shared_ptr<LocalChannels> channels_;
  std::vector<Work> works_; // by collective
  std::vector<bool> isBeside_;
  std::vector<LinkUse> linkUses_; // the same, where links are simulated
  std::vector<Site> sites_;
  std::vector<std::vector<uint32_t>>
      epochs_; // by position and site: how often it has started there
  std::vector<std::vector<Membership>> memberships_; // by position and group set
};

} // namespace tessera::runtime
