#include "runtime/client/Arena.h"
#include <algorithm>
#include <utility>

namespace tessera::runtime {

using device::Space;

static constexpr std::array kSpaces = {Space::Device, Space::Host, Space::File};

// Kernels' arenas are there even if they are empty.
static std::array<uint64_t, 3> bytesOf(const program::Program &manifest) {
  return {std::max<uint64_t>(manifest.arena_bytes(), 1), manifest.host_bytes(),
          manifest.file_bytes()};
}

Result<std::shared_ptr<Arena>>
Arena::make(std::span<const std::shared_ptr<const Executable>> executables) {
  if (executables.empty())
    return invalidArgument("an arena is for at least one executable");
  const auto &client = executables.front()->client();
  std::shared_ptr<Arena> arena(new Arena());
  std::vector<std::array<uint64_t, 3>> bytes;
  for (const auto &executable : executables) {
    if (executable->client() != client)
      return invalidArgument("the executables that share an arena belong to different clients");
    const auto &devices = executable->devices();
    bytes.resize(std::max(bytes.size(), devices.size()));
    for (size_t d = 0; d < devices.size(); ++d) {
      auto wanted = bytesOf(devices[d].program->manifest());
      for (size_t s = 0; s < wanted.size(); ++s)
        bytes[d][s] = std::max(bytes[d][s], wanted[s]);
    }
  }
  const char *names[] = {"", " of the host", " in a file"};
  arena->memory_.resize(bytes.size());
  for (size_t d = 0; d < bytes.size(); ++d)
    for (Space space : kSpaces) {
      auto s = static_cast<size_t>(space);
      if (!bytes[d][s])
        continue;
      device::Backend &backend = client->backend(d);
      arena->memory_[d][s] = backend.allocate(space, bytes[d][s]);
      if (!arena->memory_[d][s])
        return Status(Code::ResourceExhausted, std::string("no memory for an arena") + names[s] +
                                                   " of " + std::to_string(bytes[d][s]) + " bytes" +
                                                   backend.where());
    }
  return arena;
}

bool Arena::isEnoughFor(const Executable &executable) const {
  const auto &devices = executable.devices();
  if (memory_.size() < devices.size())
    return false;
  for (size_t d = 0; d < devices.size(); ++d) {
    auto wanted = bytesOf(devices[d].program->manifest());
    for (size_t s = 0; s < wanted.size(); ++s)
      if (wanted[s] && (!memory_[d][s] || memory_[d][s]->bytes() < wanted[s]))
        return false;
  }
  return true;
}

std::string Arena::describe() const {
  size_t bytes = 0;
  for (const auto &spaces : memory_)
    bytes = std::max(bytes, spaces[0]->bytes());
  return std::to_string(bytes) + " bytes on " + std::to_string(memory_.size()) + " devices";
}

bool Arena::tryAcquire(const std::shared_ptr<device::Event> &done) {
  std::lock_guard lock(mutex_);
  if (!last_->ready())
    return false;
  last_ = done;
  return true;
}

std::shared_ptr<device::Event> Arena::enqueue(const std::shared_ptr<device::Event> &done) {
  std::lock_guard lock(mutex_);
  return std::exchange(last_, done);
}

void Arena::release(const std::shared_ptr<device::Event> &done) {
  std::lock_guard lock(mutex_);
  if (last_ == done)
    last_ = device::Event::past();
}

} // namespace tessera::runtime
