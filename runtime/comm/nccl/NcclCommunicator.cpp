#include "runtime/comm/nccl/NcclCommunicator.h"
#include "runtime/comm/nccl/Connecting.h"
#include "runtime/device/cuda/MoveKernels.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <set>

namespace tessera::runtime {

using namespace device::cuda;
using device::Space;

NcclCommunicator::NcclCommunicator(const nccl::Library &library, const std::vector<Here> &here,
                                   const DeviceProgram &program, Run &run, Transport *transport)
    : library_(library), program_(program), run_(run), transport_(transport),
      order_(here.size(), [this](const StartOrder::Start &start) { return membersOf(start); }) {
  for (const Here &device : here)
    ranks_.push_back(std::make_unique<Rank>(device));
}

Result<std::unique_ptr<NcclCommunicator>> NcclCommunicator::make(const std::vector<Here> &here,
                                                                 const DeviceProgram &program,
                                                                 Run &run, Transport *transport) {
  auto library = nccl::Library::open();
  if (!library.ok())
    return library.status();
  if (!program.file().channels().empty())
    return Status(Code::Unimplemented, "communicator 'nccl' carries no channels between programs: "
                                       "run with --comm=mpi, or --comm=local on one GPU");
  std::unique_ptr<NcclCommunicator> made(
      new NcclCommunicator(**library, here, program, run, transport));
  for (auto &rank : made->ranks_)
    if (Status s = made->open(*rank); !s.ok())
      return s;
  return made;
}

Status NcclCommunicator::open(Rank &rank) {
  const Driver &driver = rank.backend->driver();
  rank.backend->enter();
  if (Status s = driver.status(driver.cuStreamCreate(&rank.stream, kNonBlocking),
                               "no stream for collectives");
      !s.ok())
    return s;
  uint64_t staging = 0; // all are in one stream
  for (const CollectivePlan &plan : program_.decoded().collectives)
    staging = std::max(staging, stagingBytes(plan));
  rank.staging = rank.backend->allocate(Space::Device, staging);
  return rank.staging ? Status()
                      : Status(Code::ResourceExhausted, "no memory for what collectives stage (" +
                                                            std::to_string(staging) + " bytes)" +
                                                            rank.backend->where());
}

NcclCommunicator::~NcclCommunicator() {
  for (auto &rank : ranks_) {
    const Driver &driver = rank->backend->driver();
    rank->backend->enter();
    bool ends = !rank->stream || rank->backend->finish(rank->stream) != kGivenUp;
    if (rank->comm && !aborted_ && ends) {
      if (rank->registered)
        library_.ncclCommDeregister(rank->comm, rank->registered);
      library_.ncclCommDestroy(rank->comm);
    }
    rank->tables.clear();
    if (rank->stream && ends)
      driver.cuStreamDestroy(rank->stream);
  }
}

size_t NcclCommunicator::indexOf(uint32_t position) const {
  size_t index = 0;
  while (ranks_[index]->position != position)
    ++index;
  return index;
}

std::vector<size_t> NcclCommunicator::membersOf(const StartOrder::Start &start) const {
  const Decoded &decoded = program_.decoded();
  const GroupSet &set = decoded.groupSets[decoded.collectives[start.collective].groupSet];
  std::vector<size_t> members;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (set.groupOf(ranks_[i]->position) == start.group)
      members.push_back(i);
  return members;
}

// --- Connecting ---

// From the process of the first device, for all that have devices of the program.
Status NcclCommunicator::exchangeId(nccl::UniqueId &id) {
  std::set<int32_t> processes;
  int32_t first = 0, own = transport_ ? transport_->rank() : 0;
  for (uint32_t p = static_cast<uint32_t>(program_.mesh().size()); transport_ && p-- > 0;) {
    first = static_cast<int32_t>(program_.mesh().deviceAt(p) * transport_->size() /
                                 program_.file().deviceCount());
    processes.insert(first);
  }
  if (first != own) {
    auto received = transport_->collect(first, kNcclTag, sizeof id);
    if (!received.ok())
      return received.status();
    std::copy_n((*received)->data(), sizeof id, id.bytes);
    return {};
  }
  if (Status s = library_.status(library_.ncclGetUniqueId(&id), "devices cannot be connected");
      !s.ok())
    return s;
  auto sent = std::make_shared<nccl::UniqueId>(id);
  for (int32_t peer : processes)
    if (peer != own)
      if (Status s = transport_->deliver(peer, kNcclTag, sent->bytes, sizeof id, sent); !s.ok())
        return s;
  return {};
}

Status NcclCommunicator::connect(std::vector<std::shared_ptr<device::Memory>> arenas) {
  for (size_t i = 0; i < ranks_.size(); ++i)
    ranks_[i]->arena = std::move(arenas[i]);
  return join();
}

Status NcclCommunicator::join() {
  nccl::UniqueId id = {};
  if (Status s = exchangeId(id); !s.ok())
    return s;
  nccl::RanksHere here{static_cast<int>(program_.mesh().size()), {}, {}};
  for (const auto &rank : ranks_) {
    here.ranks.push_back(static_cast<int>(rank->position));
    here.backends.push_back(rank->backend);
  }
  auto comms = nccl::connect(library_, here, transport_, id);
  if (!comms.ok())
    return comms.status();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Rank &rank = *ranks_[i];
    rank.comm = (*comms)[i];
    rank.isAborted = false;
    // Without it what is sent goes by way of the library's own memory.
    if (library_.ncclCommRegister && library_.ncclCommDeregister && rank.arena &&
        library_.ncclCommRegister(rank.comm, rank.arena->address().bits(), rank.arena->bytes(),
                                  &rank.registered) != nccl::kSuccess)
      rank.registered = nullptr;
  }
  aborted_ = false;
  return greet();
}

// NCCL connects two ranks at their first message, and waits for both meanwhile. Of several processes with
// several devices each two could wait for others of each other's: so all of these connect here, at once.
Status NcclCommunicator::greet() {
  if (!transport_ || ranks_.size() == 1)
    return {};
  const Decoded &decoded = program_.decoded();
  nccl::ResultCode code = library_.ncclGroupStart();
  for (const auto &rank : ranks_) {
    std::set<uint32_t> peers; // positions
    for (const CollectivePlan &plan : decoded.collectives) {
      const GroupSet &set = decoded.groupSets[plan.groupSet];
      uint32_t own = set.rankOf(rank->position);
      for (uint32_t r = 0; r < plan.groupSize; ++r)
        if (r != own && (plan.moves(own, r) || plan.moves(r, own)))
          peers.insert(set.member(set.groupOf(rank->position), r));
    }
    char *byte = static_cast<char *>(rank->staging->address().bits());
    for (uint32_t peer : peers) {
      if (code == nccl::kSuccess)
        code = library_.ncclSend(byte, 1, nccl::kBytes, static_cast<int>(peer), rank->comm,
                                 rank->stream);
      if (code == nccl::kSuccess)
        code = library_.ncclRecv(byte + 1, 1, nccl::kBytes, static_cast<int>(peer), rank->comm,
                                 rank->stream);
    }
  }
  nccl::ResultCode ended = library_.ncclGroupEnd();
  return library_.status(code == nccl::kSuccess ? ended : code, "the devices cannot be connected");
}

// --- Collectives ---

Status NcclCommunicator::come(uint32_t position, uint32_t site, Gathering &gathering,
                              uint64_t lane) {
  Rank &rank = *ranks_[indexOf(position)];
  return rank.backend->driver().status(rank.ready.record(site, 0, gathering.reach(lane)),
                                       "no event of a collective");
}

Status NcclCommunicator::follow(uint32_t position, uint32_t site, Gathering &gathering,
                                uint64_t lane) {
  Rank &rank = *ranks_[indexOf(position)];
  return rank.backend->driver().status(rank.done.await(site, 0, gathering.reach(lane)),
                                       "a collective cannot be waited for");
}

Status NcclCommunicator::start(Worker &, uint32_t position, const CollectivePlan &plan,
                               const device::Address *buffers) {
  const Decoded &decoded = program_.decoded();
  StartOrder::Start start{plan.site,
                          static_cast<uint32_t>(&plan - decoded.collectives.data()),
                          decoded.groupSets[plan.groupSet].groupOf(position),
                          {}};
  for (size_t i = 0; i < 2 * plan.transfers.size(); ++i)
    start.buffers.push_back(buffers[i].number());
  std::lock_guard lock(mutex_);
  order_.add(indexOf(position), std::move(start));
  bool isGiven = false;
  while (auto ready = order_.next()) {
    if (Status s = give(std::move(*ready)); !s.ok())
      return s;
    isGiven = true;
  }
  if (isGiven)
    run_.wake(std::exchange(waiting_, nullptr));
  return {};
}

Status NcclCommunicator::give(StartOrder::Ready ready) {
  const CollectivePlan &plan = program_.decoded().collectives[ready.starts.front().collective];
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  std::vector<Turn> turns;
  for (size_t i = 0; i < ready.ranks.size(); ++i) {
    Rank *rank = ranks_[ready.ranks[i]].get();
    auto &buffers = ready.starts[i].buffers;
    auto stages =
        stagesOf(plan, set.rankOf(rank->position), buffers, rank->staging->address().number());
    turns.push_back({rank, std::move(buffers), std::move(stages)});
  }
  Status status = give(plan, turns);
  return status.ok() ? status
                     : Status(status.code(), std::string(nameOf(plan.kind)) + " at " +
                                                 program_.location(plan.location) + ": " +
                                                 status.message());
}

Status NcclCommunicator::give(const CollectivePlan &plan, std::vector<Turn> &turns) {
  for (const Turn &turn : turns) {
    Rank &rank = *turn.rank;
    rank.backend->enter();
    if (Status s = rank.backend->driver().status(rank.ready.await(plan.site, 0, rank.stream),
                                                 "an operand of a collective cannot be waited for");
        !s.ok())
      return s;
    if (Status s = rank.underWay.begin(rank.stream); !s.ok())
      return s;
  }
  for (size_t i = 0; i < turns.front().stages.size(); ++i) { // of all as many
    auto table = static_cast<uint32_t>(2 * i);
    for (const Turn &turn : turns)
      if (Status s =
              launch(*turn.rank, plan, table, turn.buffers, turn.stages[i].before, false, {});
          !s.ok())
        return s;
    if (Status s = exchange(plan, turns, i); !s.ok())
      return s;
    for (const Turn &turn : turns) {
      const DeviceStage &stage = turn.stages[i];
      if (Status s = launch(*turn.rank, plan, table + 1, turn.buffers, stage.behind, stage.reduces,
                            stage.zeros);
          !s.ok())
        return s;
    }
  }
  for (const Turn &turn : turns) {
    Rank &rank = *turn.rank;
    if (Status s = rank.backend->driver().status(rank.done.record(plan.site, 0, rank.stream),
                                                 "no event of a collective");
        !s.ok())
      return s;
    if (Status s = rank.underWay.end(rank.stream, plan); !s.ok())
      return s;
  }
  return {};
}

Status NcclCommunicator::launch(Rank &rank, const CollectivePlan &plan, uint32_t table,
                                const std::vector<uint64_t> &buffers,
                                const std::vector<MovePart> &parts, bool reduces,
                                const std::vector<Fill> &zeros) {
  if (parts.empty() && zeros.empty())
    return {};
  rank.backend->enter();
  auto &tables = rank.tables[{&plan, table}];
  if (!tables)
    tables = std::make_unique<TableVersions>(*rank.backend);
  auto moves = tables->of(
      buffers,
      [&] {
        MoveTable made = moveTable(parts, reduces ? reducedUnit(plan.type, plan.reduction) : 0);
        made.zeros = zeros;
        return made;
      },
      reduces ? &plan : nullptr, step_);
  if (!moves.ok())
    return moves.status();
  const Driver &driver = rank.backend->driver();
  for (const Command &command : moves->commands)
    if (ResultCode code = device::cuda::give(driver, command, {}, rank.stream); code != kSuccess)
      return driver.status(code, "it cannot be launched");
  return {};
}

// The messages of all its ranks here, together.
Status NcclCommunicator::exchange(const CollectivePlan &plan, const std::vector<Turn> &turns,
                                  size_t stage) {
  auto isEmpty = [&](const Turn &turn) {
    return turn.stages[stage].sends.empty() && turn.stages[stage].receives.empty();
  };
  if (std::all_of(turns.begin(), turns.end(), isEmpty))
    return {};
  auto mark = [&] {
    Status status;
    for (const Turn &turn : turns)
      if (status.ok())
        status = turn.rank->underWay.turn(turn.rank->stream);
    return status;
  };
  if (aborted_ && transport_)
    return {Code::Unavailable, "the processes are not connected any more"};
  if (aborted_) // after a step that failed
    if (Status s = join(); !s.ok())
      return s;
  if (Status s = mark(); !s.ok())
    return s;
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  nccl::ResultCode code = library_.ncclGroupStart();
  for (const Turn &turn : turns) {
    const Rank &rank = *turn.rank;
    auto peerOf = [&](const DeviceMessage &message) {
      return static_cast<int>(set.member(set.groupOf(rank.position), message.peer));
    };
    for (const DeviceMessage &message : turn.stages[stage].sends)
      if (code == nccl::kSuccess)
        code = library_.ncclSend(reinterpret_cast<const void *>(message.address), message.bytes,
                                 nccl::kBytes, peerOf(message), rank.comm, rank.stream);
    for (const DeviceMessage &message : turn.stages[stage].receives)
      if (code == nccl::kSuccess)
        code = library_.ncclRecv(reinterpret_cast<void *>(message.address), message.bytes,
                                 nccl::kBytes, peerOf(message), rank.comm, rank.stream);
  }
  nccl::ResultCode ended = library_.ncclGroupEnd();
  if (Status s = library_.status(code == nccl::kSuccess ? ended : code, "messages cannot be given");
      !s.ok())
    return s;
  return mark();
}

device::Outcome NcclCommunicator::wait(Worker &, Task &task, uint32_t position, uint32_t site) {
  using device::Outcome;
  std::lock_guard lock(mutex_);
  if (run_.failed())
    return Outcome::Failed;
  if (!order_.isPending(indexOf(position), site))
    return Outcome::Done;
  task.next = waiting_;
  waiting_ = &task;
  return Outcome::Parked;
}

void NcclCommunicator::wakeAll() {
  std::lock_guard lock(mutex_);
  run_.wake(std::exchange(waiting_, nullptr));
}

} // namespace tessera::runtime
