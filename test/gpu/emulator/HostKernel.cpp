#include "test/gpu/emulator/HostKernel.h"

#include "test/gpu/emulator/Streams.h"
#include <memory>

namespace tessera::emulator {

// What is wrong with touching a range; "" for nothing.
static std::string note(Gpu &gpu, const HostKernel::Range &range, uint32_t command) {
  for (size_t row = 0; row < range.rows; ++row) {
    uint64_t address = range.address + row * range.pitch;
    gpu.memory.kernelOf = gpu.current;
    bool isThere = gpu.memory.translate(address, range.bytes);
    gpu.memory.kernelOf.reset();
    if (!isThere)
      return "lies outside of what is allocated on its GPU";
    if (std::string problem = gpu.memory.note(address, range.bytes, range.isWritten, command);
        !problem.empty())
      return problem;
  }
  return "";
}

static void run(Gpu &gpu, const HostKernel &kernel, uint32_t command) {
  std::vector<uint8_t *> places;
  for (const HostKernel::Range &range : kernel.ranges) {
    if (std::string problem = note(gpu, range, command); !problem.empty())
      return gpu.fail(IllegalAddress, kernel.name + ": " + range.what + " " + problem);
    places.push_back(gpu.memory.translate(range.address, range.bytes));
  }
  ++gpu.counts[kernel.name].launches;
  kernel.compute(places);
}

void give(Stream *stream, HostKernel kernel) {
  {
    Gpu &gpu = Gpu::ofProcess();
    std::lock_guard lock(gpu.mutex);
    ++gpu.calls[kernel.name];
  }
  auto shared = std::make_shared<const HostKernel>(std::move(kernel));
  stream->push([shared](Gpu &gpu, uint32_t command) { run(gpu, *shared, command); });
}

} // namespace tessera::emulator
