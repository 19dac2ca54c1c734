// What goes wrong while collectives are under way: who is stuck where, peers that died, ending all of it.
#include "runtime/comm/nccl/NcclCommunicator.h"
#include "runtime/program/LoadedProgram.h"
#include <chrono>
#include <thread>

namespace tessera::runtime {

static constexpr int kTurns = 1000; // of a millisecond

// At messages of a collective to which all of the group that are here have come, and which has others.
bool NcclCommunicator::waitsForOthers(const Rank &rank) const {
  if (!rank.underWay.isAtMessages())
    return false;
  const CollectivePlan *plan = rank.underWay.first();
  const GroupSet &set = program_.decoded().groupSets[plan->groupSet];
  uint32_t here = 0;
  for (const auto &other : ranks_) {
    if (set.groupOf(other->position) != set.groupOf(rank.position))
      continue;
    if (!other->underWay.isIn() || other->underWay.first() != plan)
      return false;
    ++here;
  }
  return here < plan->groupSize;
}

// What peers have to know to find out who is stuck.
void NcclCommunicator::reportProgress() {
  uint64_t collectives = 0;
  bool waits = false;
  for (auto &rank : ranks_) {
    rank->underWay.forgetEnded();
    collectives += rank->underWay.count();
  }
  for (auto &rank : ranks_)
    waits |= waitsForOthers(*rank);
  if (transport_)
    transport_->report(collectives, waits);
}

// The collective that the streams stand at, for messages. The lock is held.
std::string NcclCommunicator::oldest() const {
  const CollectivePlan *last = nullptr, *waited = nullptr;
  for (const auto &rank : ranks_) {
    last = last ? last : rank->underWay.last();
    if (rank->underWay.first() && (!waited || rank->underWay.isIn()))
      waited = rank->underWay.first();
  }
  if (!last)
    return "";
  const CollectivePlan &plan = waited ? *waited : *last;
  return std::string(waited ? " (waiting for " : " (found behind ") + nameOf(plan) + " at " +
         program_.location(plan.location) + ")";
}

// What the streams wait for does not come any more: they go on without. The library may wait for what a GPU
// does beside, so that of one that stands elsewhere the connection is left until it has come to messages,
// and of one that was given up for good.
void NcclCommunicator::abort(Those those) {
  for (auto &rank : ranks_) {
    bool isMeant = those == Those::All || rank->underWay.isAtMessages();
    if (!rank->comm || rank->isAborted || !isMeant || rank->backend->isGivenUp())
      continue;
    library_.ncclCommAbort(rank->comm);
    rank->isAborted = true;
  }
  aborted_ = true;
}

bool NcclCommunicator::waits(uint32_t position) {
  std::lock_guard lock(mutex_);
  Rank &rank = *ranks_[indexOf(position)];
  rank.underWay.forgetEnded();
  return rank.underWay.isAtMessages();
}

Status NcclCommunicator::health() {
  std::lock_guard lock(mutex_);
  if (aborted_) {
    for (auto &rank : ranks_)
      rank->underWay.forgetEnded();
    abort(Those::InCollectives);
    return {};
  }
  auto ofProcesses = [&] { return transport_ ? transport_->health() : Status(); };
  Status status = ofProcesses();
  for (auto &rank : ranks_) {
    nccl::ResultCode error = nccl::kSuccess;
    if (status.ok() && rank->comm &&
        library_.ncclCommGetAsyncError(rank->comm, &error) == nccl::kSuccess)
      status = library_.status(error, transport_ ? "a message between processes failed"
                                                 : "a message between devices failed");
  }
  // Who it is, the processes' own transport knows some moments later.
  for (int turn = 0; transport_ && turn < kTurns && !status.ok() && ofProcesses().ok(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (Status named = ofProcesses(); !status.ok() && !named.ok())
    status = named;
  reportProgress();
  if (!status.ok())
    status = {status.code(), status.message() + oldest()};
  if (!status.ok() || run_.failed())
    abort(Those::InCollectives);
  return status;
}

// Of a failed run: nothing is under way any more when this returns.
void NcclCommunicator::reset() {
  std::lock_guard lock(mutex_);
  abort(Those::All);
  for (auto &rank : ranks_) {
    rank->backend->enter();
    rank->backend->finish(rank->stream);
    rank->underWay.forgetEnded();
  }
  order_.clear();
  waiting_ = nullptr;
}

std::string NcclCommunicator::describeWait(uint32_t position, uint32_t site) const {
  std::lock_guard lock(mutex_);
  const Decoded &decoded = program_.decoded();
  const CollectivePlan *plan = nullptr;
  for (const CollectivePlan &each : decoded.collectives)
    plan = !plan && each.site == site ? &each : plan;
  const GroupSet &set = decoded.groupSets[plan->groupSet];
  std::string missing;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (set.groupOf(ranks_[i]->position) == set.groupOf(position) && !order_.isPending(i, site))
      missing += (missing.empty() ? "" : ", ") +
                 std::to_string(program_.mesh().deviceAt(ranks_[i]->position));
  return std::string(nameOf(plan->kind)) + " at " + program_.location(plan->location) +
         (missing.empty() ? "" : ", which device " + missing + " has not started");
}

} // namespace tessera::runtime
