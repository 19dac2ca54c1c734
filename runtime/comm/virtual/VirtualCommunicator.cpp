#include "runtime/comm/virtual/VirtualCommunicator.h"
#include "runtime/comm/virtual/VirtualChannels.h"

namespace tessera::runtime {

using namespace device::cuda;

VirtualCommunicator::VirtualCommunicator(std::shared_ptr<device::CudaBackend> backend,
                                         const DeviceProgram &program, Run &run,
                                         std::shared_ptr<const Links> links,
                                         std::shared_ptr<VirtualChannels> channels)
    : LocalCommunicator(program, run, std::move(links), channels), backend_(std::move(backend)),
      driver_(backend_->driver()), channels_(channels.get()), run_(run),
      gathering_(channels ? channels->gathering() : std::make_shared<Gathering>(backend_)),
      ready_(*backend_), done_(*backend_), streams_(static_cast<size_t>(program.mesh().size())) {}

VirtualCommunicator::~VirtualCommunicator() {
  backend_->enter();
  for (Stream stream : streams_)
    backend_->close(stream);
}

// What a failed run has under way still writes to its buffers: it is over when this returns.
void VirtualCommunicator::reset() {
  backend_->enter();
  gathering_->drop();
  for (Stream stream : streams_)
    if (stream)
      backend_->finish(stream);
  LocalCommunicator::reset();
}

Status VirtualCommunicator::come(uint32_t position, uint32_t site, Gathering &, uint64_t lane) {
  if (isOfChannel(site))
    return channels_->come(program(), position, site, lane);
  return ready_.record(site, position, *gathering_, lane);
}

Status VirtualCommunicator::follow(uint32_t position, uint32_t site, Gathering &, uint64_t lane) {
  if (isOfChannel(site))
    return channels_->follow(program(), position, site, lane);
  return done_.await(site, groupOf(position, site), *gathering_, lane);
}

Status VirtualCommunicator::ofCollective(const CollectivePlan &plan, const Status &status) const {
  return {status.code(), std::string(nameOf(plan.kind)) + " at " +
                             program().location(plan.location) + ": " + status.message()};
}

// With a lane that is open.
Result<VirtualCommunicator::Moves *> VirtualCommunicator::movesOf(size_t number, uint32_t group) {
  const CollectivePlan &plan = program().decoded().collectives[number];
  std::lock_guard lock(mutex_);
  auto &moves = moves_[{plan.site, group}];
  if (moves)
    return moves.get();
  Stream &stream = streams_[program().decoded().groupSets[plan.groupSet].member(group, 0)];
  ResultCode code = stream ? kSuccess : driver_.cuStreamCreate(&stream, kNonBlocking);
  auto made = std::unique_ptr<Moves>(
      new Moves{laneOfCollective(program().index(), plan.site, group), TableVersions(*backend_)});
  if (code == kSuccess)
    code =
        gathering_->open(made->lane, stream, run_, [this, &plan](uint32_t, const Status &status) {
          return ofCollective(plan, status);
        });
  if (code != kSuccess)
    return driver_.status(code, "no stream for collectives");
  moves = std::move(made);
  return moves.get();
}

Status VirtualCommunicator::move(Worker &, size_t number, uint32_t group, const Arrival *arrivals) {
  const CollectivePlan &plan = program().decoded().collectives[number];
  Status status = give(number, group, arrivals);
  return status.ok() ? status : ofCollective(plan, status);
}

Status VirtualCommunicator::give(size_t number, uint32_t group, const Arrival *arrivals) {
  const CollectivePlan &plan = program().decoded().collectives[number];
  const GroupSet &set = program().decoded().groupSets[plan.groupSet];
  backend_->enter();
  auto found = movesOf(number, group);
  if (!found.ok())
    return found.status();
  Moves &own = **found;
  std::vector<uint64_t> buffers;
  size_t each = 2 * plan.transfers.size();
  for (uint32_t rank = 0; rank < plan.groupSize; ++rank)
    for (size_t i = 0; i < each; ++i)
      buffers.push_back(reinterpret_cast<uintptr_t>(arrivals[rank].buffers[i]));
  auto moves = own.tables.of(
      buffers,
      [&] {
        return moveTable(plan, [&](uint32_t rank, size_t i) { return buffers[rank * each + i]; });
      },
      plan.reduces() ? &plan : nullptr, step_);
  if (!moves.ok())
    return moves.status();
  for (uint32_t rank = 0; rank < plan.groupSize; ++rank)
    if (Status s = ready_.await(plan.site, set.member(group, rank), *gathering_, own.lane); !s.ok())
      return s;
  for (const Command &command : moves->commands)
    gathering_->add(own.lane, command, nullptr, moves->held);
  return done_.record(plan.site, group, *gathering_, own.lane);
}

} // namespace tessera::runtime
