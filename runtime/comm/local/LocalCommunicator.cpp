#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/array/ElementType.h"
#include <algorithm>
#include <cstring>

namespace tessera::runtime {

using program::Collective;

LocalCommunicator::LocalCommunicator(const LoadedProgram &program, Run &run,
                                     std::shared_ptr<const Links> links)
    : program_(program), run_(run), links_(std::move(links)) {
  const Decoded &decoded = program.decoded();
  size_t positions = program.mesh().size();
  places_.assign(positions, std::vector<Place>(decoded.sites));
  memberships_.assign(positions, std::vector<Membership>(decoded.groupSets.size()));
  for (size_t g = 0; g < decoded.groupSets.size(); ++g) {
    const GroupSet &set = decoded.groupSets[g];
    groups_.push_back(std::make_unique<Group[]>(set.groups.size()));
    for (size_t p = 0; p < positions; ++p)
      memberships_[p][g].group = &groups_[g][set.groupOf[p]];
  }
  meetings_.resize(decoded.sites);
  meetingCount_.resize(decoded.sites);
  planOfSite_.resize(decoded.sites);
  for (const CollectivePlan &plan : decoded.collectives) {
    works_.push_back(makeWork(plan));
    if (meetings_[plan.site])
      continue;
    const GroupSet &set = decoded.groupSets[plan.groupSet];
    planOfSite_[plan.site] = &plan;
    meetingCount_[plan.site] = static_cast<uint32_t>(set.groups.size());
    meetings_[plan.site] = std::make_unique<Meeting[]>(set.groups.size());
    for (size_t i = 0; i < set.groups.size(); ++i) {
      Meeting &meeting = meetings_[plan.site][i];
      meeting.arrivals.resize(set.size);
      meeting.owner = this;
      meeting.timer.context = &meeting;
      meeting.timer.fire = [](Timer *timer) {
        auto *due = static_cast<Meeting *>(timer->context);
        due->owner->complete(*due, due->epoch);
        due->owner->run_.retire();
      };
    }
    for (size_t p = 0; p < positions; ++p)
      places_[p][plan.site] = {&meetings_[plan.site][set.groupOf[p]], set.rankOf[p], 0};
  }
}

void LocalCommunicator::reset() {
  for (size_t site = 0; site < meetings_.size(); ++site)
    for (uint32_t i = 0; i < meetingCount_[site]; ++i) {
      meetings_[site][i].arrived = 0;
      meetings_[site][i].completed = 0;
      meetings_[site][i].waiters = nullptr;
    }
  for (auto &places : places_)
    for (Place &place : places)
      place.epoch = 0;
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
    const auto &group = set.groups[set.groupOf[position]];
    const auto &devices = program_.mesh().devices();
    return {Code::Failed, std::string(nameOf(plan.kind)) + " at " +
                              program_.location(plan.location) + " is collective " +
                              std::to_string(first) + " of its group on device " +
                              std::to_string(devices[group[0]]) + " and collective " +
                              std::to_string(meeting.arrivals[rank].sequence) + " on device " +
                              std::to_string(devices[group[rank]]) +
                              ": the devices took different ways through the program"};
  }
  return {};
}

Status LocalCommunicator::start(Worker &worker, uint32_t position, const CollectivePlan &plan,
                                void *const *buffers) {
  Place &place = places_[position][plan.site];
  Meeting &meeting = *place.meeting;
  if (meeting.completed.load(std::memory_order_relaxed) != place.epoch)
    return {Code::Failed, "device " + std::to_string(program_.mesh().devices()[position]) +
                              " starts " + nameOf(plan.kind) + " at " +
                              program_.location(plan.location) +
                              " again before it has waited for it"};
  Membership &membership = memberships_[position][plan.groupSet];
  uint32_t epoch = ++place.epoch;
  meeting.arrivals[place.rank] = {buffers, ++membership.sequence};
  if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != plan.groupSize)
    return {};
  if (Status s = checkOrder(meeting, plan, position); !s.ok())
    return s;
  meeting.arrived.store(0, std::memory_order_relaxed);
  const Work &work = works_[&plan - program_.decoded().collectives.data()];
  Job job{&plan, &work, meeting.arrivals.data()};
  if (work.units)
    worker.runJob(runUnits, &job, work.units, work.chunk, work.wakes);
  if (!links_ || plan.groupSize == 1) {
    complete(meeting, epoch);
    return {};
  }
  // The group's link carries one collective after the other.
  int64_t now = Pool::now(), takes = links_->nanoseconds(plan);
  int64_t free = membership.group->linkFree.load(std::memory_order_relaxed);
  while (!membership.group->linkFree.compare_exchange_weak(free, std::max(now, free) + takes))
    ;
  meeting.epoch = epoch;
  meeting.timer.deadline = std::max(now, free) + takes;
  run_.hold();
  worker.pool().add(&meeting.timer);
  return {};
}

void LocalCommunicator::complete(Meeting &meeting, uint32_t epoch) {
  meeting.completed.store(epoch, std::memory_order_seq_cst);
  run_.wake(meeting.waiters.exchange(nullptr, std::memory_order_seq_cst));
}

Communicator::Outcome LocalCommunicator::wait(Worker &, Task &task, uint32_t position,
                                              uint32_t site) {
  const Place &place = places_[position][site];
  Meeting &meeting = *place.meeting;
  uint32_t epoch = place.epoch;
  if (meeting.completed.load(std::memory_order_acquire) == epoch)
    return Outcome::Ready;
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
  for (size_t site = 0; site < meetings_.size(); ++site)
    for (uint32_t i = 0; i < meetingCount_[site]; ++i)
      run_.wake(meetings_[site][i].waiters.exchange(nullptr, std::memory_order_seq_cst));
}

std::string LocalCommunicator::describeWait(uint32_t position, uint32_t site) const {
  const CollectivePlan &plan = *planOfSite_[site];
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  std::string missing;
  int count = 0;
  for (uint32_t peer : set.groups[set.groupOf[position]])
    if (places_[peer][site].epoch != places_[position][site].epoch && count++ < 4)
      missing += (missing.empty() ? "" : ", ") + std::to_string(program_.mesh().devices()[peer]);
  return std::string(nameOf(plan.kind)) + " at " + program_.location(plan.location) +
         ", which device " + missing +
         (count > 4 ? " and others have not started" : " has not started");
}

// About this much is read and written for a unit, and for a chunk that is worth handing to another
// worker.
static constexpr int64_t kUnitTraffic = 128 << 10, kInlineTraffic = 64 << 10,
                         kWakeTraffic = 512 << 10;

LocalCommunicator::Work LocalCommunicator::makeWork(const CollectivePlan &plan) {
  Work work;
  int64_t g = plan.groupSize, traffic = 0, smallest = INT64_MAX;
  if (plan.reduces())
    work.reduce = reduceFunction(plan.type, plan.reduction);
  // A unit touches `touched` times its piece.
  int64_t touched = plan.kind == Collective::ALL_REDUCE       ? 2 * g
                    : plan.kind == Collective::REDUCE_SCATTER ? g + 1
                                                              : 2;
  work.pieceBytes = std::max<int64_t>(4096, kUnitTraffic / touched / 256 * 256);
  for (const Transfer &transfer : plan.transfers) {
    int64_t bytes = transfer.block.bytes(),
            pieces = (bytes + work.pieceBytes - 1) / work.pieceBytes;
    int64_t targets = plan.kind == Collective::ALL_REDUCE ? 1 : g;
    bool fromAll = plan.kind == Collective::ALL_GATHER || plan.kind == Collective::ALL_TO_ALL;
    int64_t units = pieces * targets * (fromAll ? g : 1);
    work.firstUnit.push_back(work.units);
    work.pieces.push_back(static_cast<uint32_t>(pieces));
    work.units += static_cast<uint32_t>(units);
    traffic += units * std::min(bytes, work.pieceBytes) * touched;
    if (units)
      smallest = std::min(smallest, std::min(bytes, work.pieceBytes) * touched);
  }
  work.chunk = traffic <= 2 * kInlineTraffic
                   ? work.units
                   : static_cast<uint32_t>(std::clamp<int64_t>(
                         kInlineTraffic / std::max<int64_t>(smallest, 1), 1, work.units));
  work.wakes = traffic > kWakeTraffic;
  return work;
}

int32_t LocalCommunicator::runUnits(void *context, Worker &, uint32_t begin, uint32_t end) {
  const Job &job = *static_cast<const Job *>(context);
  for (uint32_t unit = begin; unit < end; ++unit)
    runUnit(job, unit);
  return 0;
}

void LocalCommunicator::runUnit(const Job &job, uint32_t unit) {
  const CollectivePlan &plan = *job.plan;
  const Work &work = *job.work;
  size_t count = plan.transfers.size();
  size_t i = std::upper_bound(work.firstUnit.begin(), work.firstUnit.end(), unit) -
             work.firstUnit.begin() - 1;
  const Transfer &transfer = plan.transfers[i];
  uint32_t g = plan.groupSize, local = unit - work.firstUnit[i], piece = local % work.pieces[i];
  local /= work.pieces[i];
  int64_t begin = piece * work.pieceBytes,
          end = std::min(begin + work.pieceBytes, transfer.block.bytes());
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
    forEachRun(transfer.block, begin, end, [&](int64_t from, int64_t to, int64_t bytes) {
      for (uint32_t r = 0; r < g; ++r)
        sources[r] = operand(r) + local * transfer.fromStep + from;
      char *target = result(local) + to;
      work.reduce(sources.data(), g, &target, 1, bytes / byteSize(plan.type));
    });
    return;
  }
  case Collective::PERMUTE:
    if (plan.source[local] < 0)
      std::memset(result(local) + begin, 0, end - begin);
    else
      std::memcpy(result(local) + begin, operand(plan.source[local]) + begin, end - begin);
    return;
  case Collective::BROADCAST:
    std::memcpy(result(local) + begin, operand(0) + begin, end - begin);
    return;
  default: {
    uint32_t source = local % g, target = local / g;
    copyBlock(transfer.block, operand(source) + target * transfer.fromStep,
              result(target) + source * transfer.toStep, begin, end);
  }
  }
}

} // namespace tessera::runtime
