#include "runtime/comm/virtual/VirtualChannels.h"

namespace tessera::runtime {

using namespace device::cuda;

VirtualChannels::VirtualChannels(std::shared_ptr<device::CudaBackend> backend,
                                 const LoadedProgram &file, Run &run)
    : LocalChannels(file, run), backend_(std::move(backend)), run_(run),
      driver_(backend_->driver()), gathering_(std::make_shared<Gathering>(backend_)),
      ready_(*backend_), done_(*backend_) {}

VirtualChannels::~VirtualChannels() {
  backend_->enter();
  for (auto &[device, stream] : streams_)
    backend_->close(stream);
}

void VirtualChannels::reset() {
  backend_->enter();
  gathering_->drop();
  for (auto &[device, stream] : streams_)
    if (stream)
      backend_->finish(stream);
  LocalChannels::reset();
}

Status VirtualChannels::come(const DeviceProgram &program, uint32_t position, uint32_t site,
                             uint64_t lane) {
  return ready_.record(site, deviceOf(program, position), *gathering_, lane);
}

Status VirtualChannels::follow(const DeviceProgram &program, uint32_t position, uint32_t site,
                               uint64_t lane) {
  return done_.await(site, deviceOf(program, position), *gathering_, lane);
}

// What is sent to several devices is done when the last of its copies is: all are in one lane.
Status VirtualChannels::carry(const Place &from, const Place &to, const void *source, void *target,
                              uint64_t bytes) {
  uint32_t sender = deviceOf(*from.program, from.position),
           receiver = deviceOf(*to.program, to.position);
  backend_->enter();
  std::lock_guard lock(mutex_);
  Stream &stream = streams_[sender];
  ResultCode code = stream ? kSuccess : driver_.cuStreamCreate(&stream, kNonBlocking);
  uint64_t lane = laneOfChannel(sender, from.site);
  if (code == kSuccess && lanes_.insert(lane).second)
    code = gathering_->open(lane, stream, run_, [](uint32_t, const Status &status) {
      return Status(status.code(),
                    "what is sent on a channel cannot be copied: " + status.message());
    });
  if (code != kSuccess)
    return driver_.status(code, "what is sent on a channel cannot be copied");
  for (auto [site, device] : {std::pair(from.site, sender), std::pair(to.site, receiver)})
    if (Status s = ready_.await(site, device, *gathering_, lane); !s.ok())
      return s;
  if (bytes)
    gathering_->add(lane, {.kind = Command::Copy,
                           .from = reinterpret_cast<uintptr_t>(source),
                           .to = reinterpret_cast<uintptr_t>(target),
                           .bytes = bytes});
  for (auto [site, device] : {std::pair(from.site, sender), std::pair(to.site, receiver)})
    if (Status s = done_.record(site, device, *gathering_, lane); !s.ok())
      return s;
  return {};
}

} // namespace tessera::runtime
