#include "runtime/comm/virtual/VirtualChannels.h"

namespace tessera::runtime {

using namespace device::cuda;

VirtualChannels::VirtualChannels(std::shared_ptr<device::CudaBackend> backend,
                                 const LoadedProgram &file, Run &run)
    : LocalChannels(file, run), backend_(std::move(backend)), driver_(backend_->driver()),
      ready_(*backend_), done_(*backend_) {}

VirtualChannels::~VirtualChannels() {
  backend_->enter();
  for (auto &[device, stream] : streams_)
    if (stream) {
      driver_.cuStreamSynchronize(stream);
      driver_.cuStreamDestroy(stream);
    }
}

void VirtualChannels::reset() {
  backend_->enter();
  for (auto &[device, stream] : streams_)
    if (stream)
      driver_.cuStreamSynchronize(stream);
  LocalChannels::reset();
}

Status VirtualChannels::come(const DeviceProgram &program, uint32_t position, uint32_t site,
                             Stream stream) {
  return driver_.status(ready_.record(site, deviceOf(program, position), stream),
                        "no event of a channel");
}

Status VirtualChannels::follow(const DeviceProgram &program, uint32_t position, uint32_t site,
                               Stream stream) {
  return driver_.status(done_.await(site, deviceOf(program, position), stream),
                        "a channel cannot be waited for");
}

// What is sent to several devices is done when the last of its copies is: all are on one stream.
Status VirtualChannels::carry(const Place &from, const Place &to, const void *source, void *target,
                              uint64_t bytes) {
  uint32_t sender = deviceOf(*from.program, from.position),
           receiver = deviceOf(*to.program, to.position);
  backend_->enter();
  std::lock_guard lock(mutex_);
  Stream &stream = streams_[sender];
  ResultCode code = stream ? kSuccess : driver_.cuStreamCreate(&stream, kNonBlocking);
  if (code == kSuccess)
    code = ready_.await(from.site, sender, stream);
  if (code == kSuccess)
    code = ready_.await(to.site, receiver, stream);
  if (code == kSuccess && bytes)
    code = driver_.cuMemcpyAsync(reinterpret_cast<uintptr_t>(target),
                                 reinterpret_cast<uintptr_t>(source), bytes, stream);
  if (code == kSuccess)
    code = done_.record(from.site, sender, stream);
  if (code == kSuccess)
    code = done_.record(to.site, receiver, stream);
  return driver_.status(code, "what is sent on a channel cannot be copied");
}

} // namespace tessera::runtime
