#include "runtime/comm/virtual/VirtualCommunicator.h"
#include "runtime/comm/virtual/VirtualChannels.h"

namespace tessera::runtime {

using namespace device::cuda;

VirtualCommunicator::VirtualCommunicator(std::shared_ptr<device::CudaBackend> backend,
                                         const DeviceProgram &program, Run &run,
                                         std::shared_ptr<const Links> links,
                                         std::shared_ptr<VirtualChannels> channels)
    : LocalCommunicator(program, run, std::move(links), channels), backend_(std::move(backend)),
      driver_(backend_->driver()), channels_(channels.get()), ready_(*backend_), done_(*backend_),
      streams_(static_cast<size_t>(program.mesh().size())) {}

VirtualCommunicator::~VirtualCommunicator() {
  backend_->enter();
  for (Stream stream : streams_)
    if (stream) {
      driver_.cuStreamSynchronize(stream);
      driver_.cuStreamDestroy(stream);
    }
}

// What a failed run has under way still writes to its buffers: it is over when this returns.
void VirtualCommunicator::reset() {
  backend_->enter();
  for (Stream stream : streams_)
    if (stream)
      driver_.cuStreamSynchronize(stream);
  LocalCommunicator::reset();
}

// Null: the driver gives none.
Stream VirtualCommunicator::streamOf(uint32_t position) {
  std::lock_guard lock(mutex_);
  Stream &stream = streams_[position];
  if (!stream && driver_.cuStreamCreate(&stream, kNonBlocking) != kSuccess)
    stream = nullptr;
  return stream;
}

Status VirtualCommunicator::come(uint32_t position, uint32_t site, Stream stream) {
  if (isOfChannel(site))
    return channels_->come(program(), position, site, stream);
  return driver_.status(ready_.record(site, position, stream), "no event of a collective");
}

Status VirtualCommunicator::follow(uint32_t position, uint32_t site, Stream stream) {
  if (isOfChannel(site))
    return channels_->follow(program(), position, site, stream);
  return driver_.status(done_.await(site, groupOf(position, site), stream),
                        "a collective cannot be waited for");
}

Status VirtualCommunicator::move(Worker &, size_t number, uint32_t group, const Arrival *arrivals) {
  const CollectivePlan &plan = program().decoded().collectives[number];
  const GroupSet &set = program().decoded().groupSets[plan.groupSet];
  backend_->enter();
  Stream stream = streamOf(set.member(group, 0));
  if (!stream)
    return {Code::ResourceExhausted, "no stream for collectives"};
  for (uint32_t rank = 0; rank < plan.groupSize; ++rank)
    if (ResultCode code = ready_.await(plan.site, set.member(group, rank), stream);
        code != kSuccess)
      return driver_.status(code, "an operand of a collective cannot be waited for");
  if (Status s = launch(number, group, arrivals, stream); !s.ok())
    return {s.code(), std::string(nameOf(plan.kind)) + " at " + program().location(plan.location) +
                          ": " + s.message()};
  return driver_.status(done_.record(plan.site, group, stream), "no event of a collective");
}

Status VirtualCommunicator::launch(size_t number, uint32_t group, const Arrival *arrivals,
                                   Stream stream) {
  const CollectivePlan &plan = program().decoded().collectives[number];
  std::vector<uint64_t> buffers;
  for (uint32_t rank = 0; rank < plan.groupSize; ++rank)
    for (size_t i = 0; i < 2 * plan.transfers.size(); ++i)
      buffers.push_back(reinterpret_cast<uintptr_t>(arrivals[rank].buffers[i]));
  TableVersions *tables;
  {
    std::lock_guard lock(mutex_);
    auto &of = tables_[{static_cast<uint32_t>(number), group}];
    if (!of)
      of = std::make_unique<TableVersions>(*backend_);
    tables = of.get();
  }
  size_t each = 2 * plan.transfers.size();
  auto version = tables->of(
      buffers,
      [&] {
        return moveTable(plan, [&](uint32_t rank, size_t i) { return buffers[rank * each + i]; });
      },
      stream);
  if (!version.ok())
    return version.status();
  return tables->launch(**version, plan.reduces() ? &plan : nullptr, stream);
}

} // namespace tessera::runtime
