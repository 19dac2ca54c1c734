#include "runtime/comm/nccl/NcclCommunicator.h"
#include "runtime/comm/nccl/Connecting.h"
#include "runtime/device/cuda/MoveKernels.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace tessera::runtime {

using namespace device::cuda;
using device::Space;

static constexpr int kTurns = 1000; // of a millisecond

NcclCommunicator::NcclCommunicator(const nccl::Library &library,
                                   std::shared_ptr<device::CudaBackend> backend,
                                   const DeviceProgram &program, Run &run, Transport &transport)
    : library_(library), backend_(std::move(backend)), driver_(backend_->driver()),
      program_(program), run_(run), transport_(transport),
      position_(static_cast<uint32_t>(program.mesh().positionOf(transport.rank()))),
      ready_(*backend_), done_(*backend_) {}

Result<std::unique_ptr<NcclCommunicator>>
NcclCommunicator::make(std::shared_ptr<device::CudaBackend> backend, const DeviceProgram &program,
                       Run &run, Transport &transport) {
  auto library = nccl::Library::open();
  if (!library.ok())
    return library.status();
  if (!program.file().channels().empty())
    return Status(Code::Unimplemented, "communicator 'nccl' carries no channels between programs: "
                                       "run with --comm=mpi");
  std::unique_ptr<NcclCommunicator> made(
      new NcclCommunicator(**library, std::move(backend), program, run, transport));
  made->backend_->enter();
  if (Status s = made->driver_.status(made->driver_.cuStreamCreate(&made->stream_, kNonBlocking),
                                      "no stream for collectives");
      !s.ok())
    return s;
  uint64_t staging = 0; // all are in one stream
  for (const CollectivePlan &plan : program.decoded().collectives)
    staging = std::max(staging, stagingBytes(plan));
  made->staging_ = made->backend_->allocate(Space::Device, staging);
  if (!made->staging_)
    return Status(Code::ResourceExhausted,
                  "no memory for what collectives stage (" + std::to_string(staging) + " bytes)");
  return made;
}

NcclCommunicator::~NcclCommunicator() {
  backend_->enter();
  if (stream_)
    driver_.cuStreamSynchronize(stream_);
  if (comm_ && !aborted_) {
    if (registered_)
      library_.ncclCommDeregister(comm_, registered_);
    library_.ncclCommDestroy(comm_);
  }
  tables_.clear();
  if (stream_)
    driver_.cuStreamDestroy(stream_);
}

// Rank 0's, for all.
Status NcclCommunicator::exchangeId(nccl::UniqueId &id) {
  if (transport_.rank() != 0) {
    auto received = transport_.collect(0, kNcclTag, sizeof id);
    if (!received.ok())
      return received.status();
    std::copy_n((*received)->data(), sizeof id, id.bytes);
    return {};
  }
  if (Status s = library_.status(library_.ncclGetUniqueId(&id), "processes cannot be connected");
      !s.ok())
    return s;
  auto sent = std::make_shared<nccl::UniqueId>(id);
  for (int32_t peer = 1; peer < transport_.size(); ++peer)
    if (Status s = transport_.deliver(peer, kNcclTag, sent->bytes, sizeof id, sent); !s.ok())
      return s;
  return {};
}

Status NcclCommunicator::connect(std::shared_ptr<device::Memory> arena) {
  arena_ = std::move(arena);
  nccl::UniqueId id = {};
  if (Status s = exchangeId(id); !s.ok())
    return s;
  auto comm = nccl::connect(library_, backend_, transport_, id);
  if (!comm.ok())
    return comm.status();
  comm_ = *comm;
  // Without it what is sent goes by way of the library's own memory.
  if (library_.ncclCommRegister && library_.ncclCommDeregister && arena_ &&
      library_.ncclCommRegister(comm_, arena_->address().bits(), arena_->bytes(), &registered_) !=
          nccl::kSuccess)
    registered_ = nullptr;
  return {};
}

Status NcclCommunicator::come(uint32_t, uint32_t site, Gathering &gathering, uint64_t lane) {
  return driver_.status(ready_.record(site, 0, gathering.reach(lane)), "no event of a collective");
}

Status NcclCommunicator::follow(uint32_t, uint32_t site, Gathering &gathering, uint64_t lane) {
  return driver_.status(done_.await(site, 0, gathering.reach(lane)),
                        "a collective cannot be waited for");
}

Status NcclCommunicator::start(Worker &, uint32_t, const CollectivePlan &plan,
                               const device::Address *buffers) {
  backend_->enter();
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < 2 * plan.transfers.size(); ++i)
    addresses.push_back(buffers[i].number());
  Status status = driver_.status(ready_.await(plan.site, 0, stream_),
                                 "an operand of a collective cannot be waited for");
  if (status.ok())
    status = give(plan, addresses);
  if (status.ok())
    status = driver_.status(done_.record(plan.site, 0, stream_), "no event of a collective");
  if (!status.ok())
    return {status.code(), std::string(nameOf(plan.kind)) + " at " +
                               program_.location(plan.location) + ": " + status.message()};
  std::lock_guard lock(mutex_);
  underWay_.push_back(&plan);
  last_ = &plan;
  return {};
}

Status NcclCommunicator::give(const CollectivePlan &plan, const std::vector<uint64_t> &buffers) {
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  auto stages = stagesOf(plan, set.rankOf(position_), buffers, staging_->address().number());
  for (uint32_t i = 0; i < stages.size(); ++i)
    if (Status s = give(plan, stages[i], i, buffers); !s.ok())
      return s;
  return {};
}

Status NcclCommunicator::give(const CollectivePlan &plan, const DeviceStage &stage, uint32_t number,
                              const std::vector<uint64_t> &buffers) {
  if (Status s = launch(plan, 2 * number, buffers, stage.before, false, {}); !s.ok())
    return s;
  if (Status s = exchange(plan, stage); !s.ok())
    return s;
  return launch(plan, 2 * number + 1, buffers, stage.behind, stage.reduces, stage.zeros);
}

Status NcclCommunicator::launch(const CollectivePlan &plan, uint32_t table,
                                const std::vector<uint64_t> &buffers,
                                const std::vector<MovePart> &parts, bool reduces,
                                const std::vector<Fill> &zeros) {
  if (parts.empty() && zeros.empty())
    return {};
  auto &tables = tables_[{&plan, table}];
  if (!tables)
    tables = std::make_unique<TableVersions>(*backend_);
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
  for (const Command &command : moves->commands)
    if (ResultCode code = device::cuda::give(driver_, command, {}, stream_); code != kSuccess)
      return driver_.status(code, "it cannot be launched");
  return {};
}

Status NcclCommunicator::exchange(const CollectivePlan &plan, const DeviceStage &stage) {
  if (stage.sends.empty() && stage.receives.empty())
    return {};
  const GroupSet &set = program_.decoded().groupSets[plan.groupSet];
  auto peerOf = [&](uint32_t rank) {
    return static_cast<int>(program_.mesh().deviceAt(set.member(set.groupOf(position_), rank)));
  };
  std::lock_guard lock(mutex_);
  if (aborted_)
    return {Code::Unavailable, "the processes are not connected any more"};
  nccl::ResultCode code = library_.ncclGroupStart();
  for (const DeviceMessage &message : stage.sends)
    if (code == nccl::kSuccess)
      code = library_.ncclSend(reinterpret_cast<const void *>(message.address), message.bytes,
                               nccl::kBytes, peerOf(message.peer), comm_, stream_);
  for (const DeviceMessage &message : stage.receives)
    if (code == nccl::kSuccess)
      code = library_.ncclRecv(reinterpret_cast<void *>(message.address), message.bytes,
                               nccl::kBytes, peerOf(message.peer), comm_, stream_);
  nccl::ResultCode ended = library_.ncclGroupEnd();
  return library_.status(code == nccl::kSuccess ? ended : code, "messages cannot be given");
}

// The collective that the stream stands at, for messages. The lock is held.
std::string NcclCommunicator::oldest() {
  while (!underWay_.empty() && done_.isPast(underWay_.front()->site, 0))
    underWay_.pop_front();
  if (!last_)
    return "";
  const CollectivePlan &plan = underWay_.empty() ? *last_ : *underWay_.front();
  return std::string(underWay_.empty() ? " (found behind " : " (waiting for ") + nameOf(plan) +
         " at " + program_.location(plan.location) + ")";
}

// What the stream waits for does not come any more: it goes on without.
void NcclCommunicator::abort() {
  if (comm_ && !aborted_)
    library_.ncclCommAbort(comm_);
  aborted_ = true;
}

Status NcclCommunicator::health() {
  std::lock_guard lock(mutex_);
  if (aborted_)
    return {};
  Status status = transport_.health();
  nccl::ResultCode error = nccl::kSuccess;
  if (status.ok() && library_.ncclCommGetAsyncError(comm_, &error) == nccl::kSuccess)
    status = library_.status(error, "a message between processes failed");
  // Who it is, the processes' own transport knows some moments later.
  for (int turn = 0; turn < kTurns && !status.ok() && transport_.health().ok(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (Status named = transport_.health(); !status.ok() && !named.ok())
    status = named;
  if (!status.ok())
    status = {status.code(), status.message() + oldest()};
  else
    oldest(); // forgets what is over
  if (!status.ok() || run_.failed())
    abort();
  return status;
}

// Of a failed run: nothing is under way any more when this returns.
void NcclCommunicator::reset() {
  std::lock_guard lock(mutex_);
  backend_->enter();
  abort();
  driver_.cuStreamSynchronize(stream_);
  underWay_.clear();
}

std::string NcclCommunicator::describeWait(uint32_t, uint32_t) const { return "a collective"; }

} // namespace tessera::runtime
