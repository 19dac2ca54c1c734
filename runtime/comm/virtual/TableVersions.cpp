#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/cuda/MoveKernels.h"
#include <algorithm>
#include <cstring>

namespace tessera::runtime {

using namespace device::cuda;

static constexpr size_t kKept = 4; // versions, before one is written over

TableVersions::~TableVersions() {
  backend_.enter();
  for (auto &known : known_)
    if (known->version.used)
      backend_.driver().cuEventDestroy(known->version.used);
}

// The oldest that nobody reads any more, or a new one.
TableVersions::Known *TableVersions::free() {
  if (known_.size() >= kKept)
    for (auto it = known_.begin(); it != known_.end(); ++it)
      if (backend_.driver().cuEventQuery((*it)->version.used) == kSuccess) {
        std::rotate(it, it + 1, known_.end());
        return known_.back().get();
      }
  known_.push_back(std::make_unique<Known>());
  return known_.back().get();
}

Status TableVersions::write(Version &version, Stream stream) {
  size_t bytes = 8 * version.table.words.size();
  const Driver &driver = backend_.driver();
  if (!version.onHost || version.onHost->bytes() < bytes) {
    version.onHost = backend_.allocate(device::Space::Host, bytes);
    version.onDevice = backend_.allocate(device::Space::Device, bytes);
    if (!version.onHost || !version.onDevice) {
      version.onHost = nullptr;
      return {Code::ResourceExhausted, "no memory for a collective's table"};
    }
  }
  if (!version.used)
    if (ResultCode code = driver.cuEventCreate(&version.used, kNoTiming); code != kSuccess)
      return driver.status(code, "no event");
  std::memcpy(version.onHost->address().bits(), version.table.words.data(), bytes);
  return driver.status(driver.cuMemcpyAsync(version.onDevice->address().number(),
                                            version.onHost->address().number(), bytes, stream),
                       "a collective's table cannot be copied");
}

Result<TableVersions::Version *> TableVersions::of(const std::vector<uint64_t> &buffers,
                                                   const std::function<MoveTable()> &make,
                                                   Stream stream) {
  for (auto &known : known_)
    if (known->buffers == buffers)
      return &known->version;
  Known *known = free();
  known->buffers.clear(); // until it is written
  known->version.table = make();
  if (!known->version.table.words.empty())
    if (Status s = write(known->version, stream); !s.ok())
      return s;
  known->buffers = buffers;
  return &known->version;
}

static Result<Function> kernelOf(device::CudaBackend &backend, uint32_t unit,
                                 const CollectivePlan *reduction) {
  if (!reduction)
    return backend.kernelOf(unit, [&] { return copyingPtx(unit); });
  uint32_t number = static_cast<uint32_t>(reduction->type) << 8 | 0x80 |
                    static_cast<uint32_t>(reduction->reduction); // units are below
  return backend.kernelOf(number,
                          [&] { return reducingPtx(reduction->type, reduction->reduction); });
}

Status TableVersions::launch(Version &version, const CollectivePlan *reduction, Stream stream) {
  const MoveTable &table = version.table;
  const Driver &driver = backend_.driver();
  for (const Fill &fill : table.zeros)
    if (ResultCode code = driver.cuMemsetD8Async(fill.address, 0, fill.bytes, stream);
        code != kSuccess)
      return driver.status(code, "zeros cannot be written");
  if (table.words.empty())
    return {};
  auto function = kernelOf(backend_, table.unit, reduction);
  if (!function.ok())
    return function.status();
  Pointer address = version.onDevice->address().number();
  void *parameters[] = {&address};
  ResultCode code = driver.cuLaunchKernel(*function, table.blocks, 1, 1, kMoveThreads, 1, 1, 0,
                                          stream, parameters, nullptr);
  if (code == kSuccess)
    code = driver.cuEventRecord(version.used, stream);
  return driver.status(code, "it cannot be launched");
}

} // namespace tessera::runtime
