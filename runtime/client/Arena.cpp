#include "runtime/client/Arena.h"
#include <algorithm>

namespace tessera::runtime {

Result<std::shared_ptr<Arena>>
Arena::make(std::span<const std::shared_ptr<const Executable>> executables) {
  if (executables.empty())
    return invalidArgument("an arena is for at least one executable");
  const auto &client = executables.front()->client();
  std::shared_ptr<Arena> arena(new Arena());
  size_t devices = 0;
  for (const auto &executable : executables) {
    if (executable->client() != client)
      return invalidArgument("the executables that share an arena belong to different clients");
    devices = std::max(devices, executable->positions().size());
    arena->bytes_ =
        std::max<uint64_t>(arena->bytes_, executable->program().manifest().arena_bytes());
  }
  for (size_t d = 0; d < devices; ++d) {
    auto memory = client->backend().allocate(device::Space::Device, arena->bytes_);
    if (!memory)
      return Status(Code::ResourceExhausted,
                    "no memory for an arena of " + std::to_string(arena->bytes_) + " bytes");
    arena->memory_.push_back(std::move(memory));
  }
  return arena;
}

} // namespace tessera::runtime
