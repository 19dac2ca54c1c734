#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/local/ScatteredRows.h"
#include <algorithm>
#include <cstring>
#include <new>

namespace tessera::runtime {

using program::Collective;

double LocalCommunicator::bytesFor(const DeviceProgram &program) {
  const Decoded &decoded = program.decoded();
  double devices = static_cast<double>(program.mesh().size());
  double bytes = devices * static_cast<double>(decoded.groupSets.size()) * sizeof(Membership);
  std::vector<bool> counted(decoded.sites);
  for (const CollectivePlan &plan : decoded.collectives)
    if (!counted[plan.site]) {
      counted[plan.site] = true;
      bytes += static_cast<double>(decoded.groupSets[plan.groupSet].count()) * sizeof(Meeting) +
               devices * (sizeof(Arrival) + sizeof(uint32_t));
    }
  return bytes;
}

// By collective, whether its devices do something else before the next wait.
static std::vector<bool> besideOther(const Decoded &decoded) {
  std::vector<bool> beside(decoded.collectives.size());
  for (size_t pc = 0; pc < decoded.code.size(); ++pc) {
    if (decoded.code[pc].opcode != Opcode::Start)
      continue;
    size_t next = pc + 1; // a program does not end behind a start
    while (decoded.code[next].opcode == Opcode::Start ||
           decoded.code[next].opcode == Opcode::Transfer)
      ++next;
    if (decoded.code[next].opcode != Opcode::Wait)
      beside[decoded.code[pc].a] = true;
  }
  return beside;
}

LocalCommunicator::LocalCommunicator(const DeviceProgram &program, Run &run,
                                     std::shared_ptr<const Links> links,
                                     std::shared_ptr<LocalChannels> channels)
    : program_(program), run_(run), links_(std::move(links)), channels_(std::move(channels)) {
  const Decoded &decoded = program.decoded();
  auto positions = static_cast<uint32_t>(program.mesh().size());
  if (links_)
    linkClock_ = std::make_unique<LinkClock>(positions);
  epochs_.assign(positions, std::vector<uint32_t>(decoded.sites));
  memberships_.assign(positions, std::vector<Membership>(decoded.groupSets.size()));
  for (size_t g = 0; g < decoded.groupSets.size(); ++g) {
    const GroupSet &set = decoded.groupSets[g];
    for (uint32_t p = 0; p < positions; ++p)
      memberships_[p][g] = {set.groupOf(p), set.rankOf(p), 0};
  }
  isBeside_ = besideOther(decoded);
  sites_.resize(decoded.sites);
  for (const CollectivePlan &plan : decoded.collectives) {
    works_.push_back(makeWork(plan));
    linkUses_.push_back(links_ ? links_->useOf(plan) : LinkUse());
    Site &site = sites_[plan.site];
    if (site.plan)
      continue;
    const GroupSet &set = decoded.groupSets[plan.groupSet];
    site.plan = &plan;
    site.count = set.count();
    site.meetings = std::make_unique<Meeting[]>(set.count());
    site.arrivals = std::make_unique<Arrival[]>(positions);
    for (uint32_t i = 0; i < set.count(); ++i) {
      Meeting &meeting = site.meetings[i];
      meeting.arrivals = &site.arrivals[uint64_t{i} * set.size()];
      meeting.owner = this;
      meeting.timer.context = &meeting;
      meeting.timer.fire = [](Timer *timer) {
        auto *due = static_cast<Meeting *>(timer->context);
        due->owner->complete(*due, due->epoch);
        due->owner->run_.retire();
      };
    }
  }
}

void LocalCommunicator::reset() {
  if (channels_)
    channels_->reset();
  for (Site &site : sites_)
    for (uint32_t i = 0; i < site.count; ++i) {
      site.meetings[i].arrived = 0;
      site.meetings[i].completed = 0;
      site.meetings[i].waiters = nullptr;
    }
  for (auto &epochs : epochs_)
    std::fill(epochs.begin(), epochs.end(), 0);
  for (auto &memberships : memberships_)
    for (Membership &membership : memberships)
      membership.sequence = 0;
}

Status LocalCommunicator::checkOrder(const Meeting &meeting, const CollectivePlan &plan,
                                     uint32_t position) const {
  uint32_t first = meeting.arrivals[0].sequence;
  for (uint32_t rank = 1; rank < plan.groupSize; ++rank) {
    if (meeting.arrivals[rank].sequence == first)
      continue;
    const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
    uint32_t group = set.groupOf(position);
    auto device = [&](uint32_t r) {
      return std::to_string(program_.mesh().deviceAt(set.member(group, r)));
    };
    return {Code::Internal,
            std::string(nameOf(plan.kind)) + " at " + program_.location(plan.location) +
                " is collective " + std::to_string(first) + " of its group on device " + device(0) +
                " and collective " + std::to_string(meeting.arrivals[rank].sequence) +
                " on device " + device(rank) +
                ": the devices took different ways through the program"};
  }
  return {};
}

Status LocalCommunicator::start(Worker &worker, uint32_t position, const CollectivePlan &plan,
                                const device::Address *buffers) {
  if (plan.route)
    return channels_->start(program_, position, plan, buffers);
  Membership &membership = memberships_[position][plan.groupSet];
  Meeting &meeting = sites_[plan.site].meetings[membership.group];
  uint32_t &started = epochs_[position][plan.site];
  if (meeting.completed.load(std::memory_order_relaxed) != started)
    return {Code::Internal, "device " + std::to_string(program_.mesh().deviceAt(position)) +
                                " starts " + nameOf(plan.kind) + " at " +
                                program_.location(plan.location) +
                                " again before it has waited for it"};
  uint32_t epoch = ++started;
  meeting.arrivals[membership.rank] = {device::pointersOf(buffers), ++membership.sequence};
  if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != plan.groupSize)
    return {};
  if (Status s = checkOrder(meeting, plan, position); !s.ok())
    return s;
  meeting.arrived.store(0, std::memory_order_relaxed);
  Turn turn{&meeting, static_cast<size_t>(&plan - program_.decoded().collectives.data()),
            membership.group, epoch};
  if (isSimulated(plan)) // from now on, whoever moves the bytes, and whenever
    meeting.timer.deadline =
        linkClock_->carry(linkUses_[turn.number], program_.decoded().groupSets[plan.groupSet],
                          turn.group, Pool::now());
  return isHandedOver(worker, turn) ? Status() : carryOut(worker, turn);
}

// Where a core has nothing to do, and the device something else, it goes on with that.
bool LocalCommunicator::isHandedOver(Worker &worker, const Turn &turn) {
  Pool &pool = worker.pool();
  if (!coresMove() || !works_[turn.number].wakes || !isBeside_[turn.number] || !pool.hasSleeper() ||
      worker.index() >= pool.size()) // a guest's thread is alone
    return false;
  auto *task = new (std::nothrow) Carrying(*this, turn);
  if (!task)
    return false;
  task->home = (worker.index() + 1) % pool.size();
  run_.wake(task);
  return true;
}

// If all cores have got something to do meanwhile, it is done when one of them has parked its device.
void LocalCommunicator::Carrying::run(Worker &worker) {
  std::unique_ptr<Carrying> self(this);
  Run &run = owner_.run_;
  if (!run.failed()) {
    try {
      if (Status s = owner_.carryOut(worker, turn_); !s.ok())
        run.fail(std::move(s));
    } catch (const std::bad_alloc &) {
      run.fail({Code::ResourceExhausted, "out of memory"});
    }
  }
  self.reset();
  run.retire();
}

Status LocalCommunicator::move(Worker &worker, size_t number, uint32_t, const Arrival *arrivals) {
  const Work &work = works_[number];
  Job job{&program_.decoded().collectives[number], &work, arrivals, 0};
  for (; job.firstUnit < work.units; job.firstUnit += Work::kMostCells)
    if (worker.runJob(runUnits, &job,
                      static_cast<uint32_t>(std::min(work.units - job.firstUnit, Work::kMostCells)),
                      work.chunk, work.wakes) != 0)
      return {Code::ResourceExhausted, "out of memory"};
  return {};
}

Status LocalCommunicator::carryOut(Worker &worker, const Turn &turn) {
  const CollectivePlan &plan = program_.decoded().collectives[turn.number];
  Meeting &meeting = *turn.meeting;
  if (Status s = move(worker, turn.number, turn.group, meeting.arrivals); !s.ok())
    return s;
  if (!isSimulated(plan)) {
    complete(meeting, turn.epoch);
    return {};
  }
  meeting.epoch = turn.epoch;
  run_.hold();
  try {
    worker.pool().add(&meeting.timer);
  } catch (const std::bad_alloc &) {
    run_.retire();
    throw;
  }
  return {};
}

void LocalCommunicator::complete(Meeting &meeting, uint32_t epoch) {
  meeting.completed.store(epoch, std::memory_order_seq_cst);
  run_.wake(meeting.waiters.exchange(nullptr, std::memory_order_seq_cst));
}

device::Outcome LocalCommunicator::wait(Worker &, Task &task, uint32_t position, uint32_t site) {
  using device::Outcome;
  if (site >= sites_.size())
    return channels_->wait(program_, task, position, site);
  Meeting &meeting = meetingOf(position, site);
  uint32_t epoch = epochs_[position][site];
  if (meeting.completed.load(std::memory_order_acquire) == epoch)
    return Outcome::Done;
  if (run_.failed())
    return Outcome::Failed;
  task.next = meeting.waiters.load(std::memory_order_relaxed);
  while (!meeting.waiters.compare_exchange_weak(task.next, &task, std::memory_order_seq_cst))
    ;
  // From here on another worker may run the task. Whoever completed or failed before it was in the
  // list did not see it: then wake the list; those woken for no reason come back.
  if (meeting.completed.load(std::memory_order_seq_cst) == epoch || run_.failed())
    run_.wake(meeting.waiters.exchange(nullptr, std::memory_order_seq_cst));
  return Outcome::Parked;
}

void LocalCommunicator::wakeAll() {
  if (channels_)
    channels_->wakeAll();
  for (Site &site : sites_)
    for (uint32_t i = 0; i < site.count; ++i)
      run_.wake(site.meetings[i].waiters.exchange(nullptr, std::memory_order_seq_cst));
}

std::string LocalCommunicator::describeWait(uint32_t position, uint32_t site) const {
  if (site >= sites_.size())
    return channels_->describeWait(program_, position, site);
  const CollectivePlan &plan = *sites_[site].plan;
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  std::string missing;
  int count = 0;
  for (uint32_t rank = 0; rank < set.size(); ++rank) {
    uint32_t peer = set.member(set.groupOf(position), rank);
    if (epochs_[peer][site] != epochs_[position][site] && count++ < 4)
      missing += (missing.empty() ? "" : ", ") + std::to_string(program_.mesh().deviceAt(peer));
  }
  return std::string(nameOf(plan.kind)) + " at " + program_.location(plan.location) +
         ", which device " + missing +
         (count > 4 ? " and others have not started" : " has not started");
}

int32_t LocalCommunicator::runUnits(void *context, Worker &, uint32_t begin, uint32_t end) {
  const Job &job = *static_cast<const Job *>(context);
  try {
    for (uint32_t unit = begin; unit < end; ++unit)
      runUnit(job, job.firstUnit + unit);
    return 0;
  } catch (const std::bad_alloc &) {
    return 1;
  }
}

void LocalCommunicator::runUnit(const Job &job, uint64_t unit) {
  const CollectivePlan &plan = *job.plan;
  const Work &work = *job.work;
  size_t count = plan.transfers.size();
  auto next = std::upper_bound(
      work.operands.begin(), work.operands.end(), unit,
      [](uint64_t unit, const Work::Operand &operand) { return unit < operand.firstUnit; });
  size_t i = next - work.operands.begin() - 1;
  const Transfer &transfer = plan.transfers[i];
  const Work::Operand &units = work.operands[i];
  uint64_t ofTransfer = unit - units.firstUnit, piece = ofTransfer % units.pieces;
  auto local = static_cast<uint32_t>(ofTransfer / units.pieces);
  uint32_t g = plan.groupSize;
  int64_t begin = static_cast<int64_t>(piece) * units.pieceBytes,
          end = std::min(begin + units.pieceBytes, transfer.block.bytes());
  auto operand = [&](uint32_t rank) {
    return static_cast<const char *>(job.arrivals[rank].buffers[i]);
  };
  auto result = [&](uint32_t rank) {
    return static_cast<char *>(job.arrivals[rank].buffers[count + i]);
  };
  switch (plan.kind) {
  case Collective::ALL_REDUCE: {
    const char *fixedSources[32];
    char *fixedTargets[32];
    std::vector<const char *> moreSources(g > 32 ? g : 0);
    std::vector<char *> moreTargets(moreSources.size());
    const char **sources = g > 32 ? moreSources.data() : fixedSources;
    char **targets = g > 32 ? moreTargets.data() : fixedTargets;
    for (uint32_t r = 0; r < g; ++r) {
      sources[r] = operand(r) + begin;
      targets[r] = result(r) + begin;
    }
    work.reduce(sources, g, targets, g, (end - begin) / byteSize(plan.type));
    return;
  }
  case Collective::REDUCE_SCATTER: {
    std::vector<const char *> sources(g);
    if (units.byRows) {
      std::vector<char *> targets(g);
      for (uint32_t r = 0; r < g; ++r) {
        sources[r] = operand(r);
        targets[r] = result(r);
      }
      int64_t row = transfer.block.row;
      return reduceRows(transfer, work.reduce, sources, targets, begin / row, end / row,
                        byteSize(plan.type));
    }
    forEachRun(transfer.block, begin, end, [&](int64_t from, int64_t to, int64_t bytes) {
      for (uint32_t r = 0; r < g; ++r)
        sources[r] = operand(r) + local * transfer.fromStep + from;
      char *target = result(local) + to;
      work.reduce(sources.data(), g, &target, 1, bytes / byteSize(plan.type));
    });
    return;
  }
  case Collective::PERMUTE:
    if (int64_t source = plan.permutation.sourceOf(local); source < 0)
      std::memset(result(local) + begin, 0, end - begin);
    else
      std::memcpy(result(local) + begin, operand(static_cast<uint32_t>(source)) + begin,
                  end - begin);
    return;
  case Collective::BROADCAST:
    std::memcpy(result(local) + begin, operand(0) + begin, end - begin);
    return;
  default: {
    if (units.byRows) {
      forEachRun(transfer.block, begin, end, [&](int64_t from, int64_t to, int64_t bytes) {
        for (uint32_t r = 0; r < g; ++r)
          std::memcpy(result(local) + r * transfer.toStep + to,
                      operand(r) + local * transfer.fromStep + from, bytes);
      });
      return;
    }
    uint32_t source = local % g, target = local / g;
    copyBlock(transfer.block, operand(source) + target * transfer.fromStep,
              result(target) + source * transfer.toStep, begin, end);
  }
  }
}

} // namespace tessera::runtime
