#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/cuda/MoveKernels.h"
#include <algorithm>
#include <cstring>

namespace tessera::runtime {

using namespace device::cuda;

static constexpr size_t kKept = 4; // versions, before one is written over

// The oldest that nobody reads any more, or a new one; the last of all from here on.
std::shared_ptr<TableVersions::Version> &TableVersions::free(uint64_t step) {
  auto isFree = [&](const auto &version) {
    return version->step < step && version.use_count() == 1;
  };
  auto found =
      known_.size() < kKept ? known_.end() : std::find_if(known_.begin(), known_.end(), isFree);
  if (found == known_.end())
    known_.push_back(std::make_shared<Version>());
  else
    std::rotate(found, found + 1, known_.end());
  return known_.back();
}

Status TableVersions::write(Version &version) {
  size_t bytes = 8 * version.table.words.size();
  if (!version.onHost || version.onHost->bytes() < bytes) {
    version.onHost = backend_.allocate(device::Space::Host, bytes);
    version.onDevice = backend_.allocate(device::Space::Device, bytes);
    if (!version.onHost || !version.onDevice) {
      version.onHost = nullptr;
      if (Status s = backend_.failure(); !s.ok())
        return s;
      return {Code::ResourceExhausted, "no memory for a collective's table" + backend_.where()};
    }
  }
  std::memcpy(version.onHost->address().bits(), version.table.words.data(), bytes);
  return {};
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

Result<TableVersions::Moves> TableVersions::of(const std::vector<uint64_t> &buffers,
                                               const std::function<MoveTable()> &make,
                                               const CollectivePlan *reduction, uint64_t step) {
  auto isOfThem = [&](const auto &version) { return version->buffers == buffers; };
  auto known = std::find_if(known_.begin(), known_.end(), isOfThem);
  bool isNew = known == known_.end();
  std::shared_ptr<Version> &version = isNew ? free(step) : *known;
  if (isNew) {
    version->buffers.clear(); // until it is written
    version->table = make();
    if (!version->table.words.empty())
      if (Status s = write(*version); !s.ok())
        return s;
    version->buffers = buffers;
  }
  version->step = step;
  Moves moves{{}, version};
  const MoveTable &table = version->table;
  for (const Fill &fill : table.zeros)
    moves.commands.push_back({.kind = Command::Zeros, .to = fill.address, .bytes = fill.bytes});
  if (table.words.empty())
    return moves;
  Pointer onDevice = version->onDevice->address().number();
  if (isNew)
    moves.commands.push_back({.kind = Command::Copy,
                              .from = version->onHost->address().number(),
                              .to = onDevice,
                              .bytes = 8 * table.words.size()});
  auto function = kernelOf(backend_, table.unit, reduction);
  if (!function.ok())
    return function.status();
  moves.commands.push_back(
      {.kind = Command::Move, .function = *function, .to = onDevice, .bytes = table.blocks});
  return moves;
}

} // namespace tessera::runtime
