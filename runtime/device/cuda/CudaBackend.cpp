#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/Environment.h"
#include "runtime/device/cpu/BlockPool.h"
#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/CudaQueue.h"
#include "runtime/device/cuda/MoveKernels.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <cstdlib>

namespace tessera::runtime::device {

using cuda::kSuccess;

static cuda::Pointer pointerOf(const void *host) { return reinterpret_cast<uintptr_t>(host); }

class CudaBackend::Block final : public Memory {
public:
  Block(std::shared_ptr<CudaBackend> backend, Address address, size_t bytes, Space space)
      : Memory(backend, address, bytes, space) {}
  ~Block() override {
    auto &cuda = static_cast<CudaBackend &>(backend());
    if (cuda.isGivenUp()) // a kernel may still use it
      return;
    cuda.enter();
    switch (space()) {
    case Space::Device: // what used it is over
      if (cuda.memoryStream_)
        cuda.driver().cuMemFreeAsync(address().number(), cuda.memoryStream_);
      else
        cuda.driver().cuMemFree(address().number());
      break;
    case Space::Host:
      cuda.driver().cuMemFreeHost(address().bits());
      break;
    case Space::File:
      unmapFile(address().bits(), bytes());
      break;
    }
  }
};

// A piece of a block.
class CudaBackend::Tile final : public Memory {
public:
  Tile(std::shared_ptr<CudaBackend> backend, std::shared_ptr<Memory> whole, uint64_t offset,
       size_t bytes)
      : Memory(std::move(backend), whole->address() + offset, bytes, whole->space()),
        whole_(std::move(whole)) {}

private:
  const std::shared_ptr<Memory> whole_;
};

Result<std::shared_ptr<Backend>> CudaBackend::make(std::shared_ptr<Pool> pool, uint32_t number,
                                                   uint32_t of) {
  auto driver = cuda::Driver::open();
  if (!driver.ok())
    return driver.status();
  std::shared_ptr<CudaBackend> backend(new CudaBackend(**driver, std::move(pool)));
  if (Status s = backend->start(number, of); !s.ok())
    return s;
  return std::shared_ptr<Backend>(std::move(backend));
}

uint32_t CudaBackend::visible() {
  auto driver = cuda::Driver::open();
  int count = 0;
  bool isKnown = driver.ok() && (*driver)->cuDeviceGetCount(&count) == kSuccess;
  return isKnown ? static_cast<uint32_t>(count) : 0;
}

// Processes of one launcher on one machine take the visible GPUs in turn, each as many as it wants.
Status CudaBackend::start(uint32_t number, uint32_t of) {
  constexpr int kMajor = 75, kMinor = 76; // attributes: the architecture's version
  int count = 0, rank = 0;
  for (const char *name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char *text = std::getenv(name))
      rank = std::max(std::atoi(text), 0);
  if (cuda::ResultCode code = driver_.cuDeviceGetCount(&count); code != kSuccess || count == 0)
    return {Code::Unimplemented,
            "the program is for GPUs, and the driver shows none: see CUDA_VISIBLE_DEVICES"};
  auto seen = static_cast<uint32_t>(count);
  if (of > seen)
    return {Code::FailedPrecondition,
            "a GPU for each of " + std::to_string(of) +
                " devices of this process is wanted, and the driver shows " + std::to_string(seen) +
                ": see CUDA_VISIBLE_DEVICES, or use more processes, or --comm=local on one GPU"};
  auto ordinal = static_cast<int>((static_cast<uint32_t>(rank) * of + number) % seen);
  if (of > 1)
    where_ = " on GPU " + std::to_string(ordinal);
  cuda::DeviceNumber device = 0;
  char name[200] = "";
  auto check = [&](cuda::ResultCode code) {
    return driver_.status(code, "the GPU cannot be used");
  };
  if (Status s = check(driver_.cuDeviceGet(&device, ordinal)); !s.ok())
    return s;
  if (Status s = check(driver_.cuDeviceGetName(name, sizeof name, device)); !s.ok())
    return s;
  if (Status s = check(driver_.cuDeviceGetAttribute(&major_, kMajor, device)); !s.ok())
    return s;
  if (Status s = check(driver_.cuDeviceGetAttribute(&minor_, kMinor, device)); !s.ok())
    return s;
  gpu_ = std::string(name) + " (sm_" + std::to_string(major_) + std::to_string(minor_) + ")";
  if (Status s = check(driver_.cuDevicePrimaryCtxRetain(&context_, device)); !s.ok())
    return s; // it lasts until the process ends
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  blocks_ = blocking && *blocking && std::string(blocking) != "0";
  auto stand = progressTimeout();
  if (!stand.ok())
    return stand.status();
  longestStand_ = static_cast<int64_t>(*stand * 1e9);
  static std::mutex mutex;
  static auto &hangs = *new std::map<cuda::Context, Hang>; // also of clients that come later
  std::lock_guard lock(mutex);
  hang_ = &hangs[context_];
  if (Status s = health(); !s.ok())
    return s;
  enter();
  return startPool(device);
}

// Memory that is given back stays with the process, so that steps don't wait for the driver.
Status CudaBackend::startPool(cuda::DeviceNumber device) {
  constexpr int kPools = 115;          // attribute of a device: whether it has pools
  constexpr int kReleaseThreshold = 4; // attribute of a pool
  int hasPools = 0;
  uint64_t keeps = UINT64_MAX;
  if (driver_.cuDeviceGetAttribute(&hasPools, kPools, device) != kSuccess || !hasPools)
    return {};
  auto check = [&](cuda::ResultCode code) {
    return driver_.status(code, "the GPU's memory cannot be used");
  };
  if (Status s = check(driver_.cuDeviceGetDefaultMemPool(&memory_, device)); !s.ok())
    return s;
  if (Status s = check(driver_.cuMemPoolSetAttribute(memory_, kReleaseThreshold, &keeps)); !s.ok())
    return s;
  return check(driver_.cuStreamCreate(&memoryStream_, cuda::kNonBlocking));
}

// The stream is empty but for what is given back, so that waiting for it costs next to nothing.
cuda::ResultCode CudaBackend::take(cuda::Pointer &memory, size_t bytes) {
  if (!memoryStream_)
    return driver_.cuMemAlloc(&memory, bytes);
  cuda::ResultCode code = driver_.cuMemAllocAsync(&memory, bytes, memoryStream_);
  if (code == cuda::kOutOfMemory) { // but for what the pool keeps in other pieces
    driver_.cuStreamSynchronize(memoryStream_);
    driver_.cuMemPoolTrimTo(memory_, 0);
    code = driver_.cuMemAllocAsync(&memory, bytes, memoryStream_);
  }
  return code == kSuccess ? driver_.cuStreamSynchronize(memoryStream_) : code;
}

void CudaBackend::giveUp(std::string why) {
  std::lock_guard lock(hang_->mutex);
  if (isGivenUp())
    return;
  hang_->why = std::move(why);
  hang_->isThere.store(true, std::memory_order_release);
}

Status CudaBackend::health() const {
  if (!isGivenUp())
    return {};
  std::lock_guard lock(hang_->mutex);
  return {Code::Unavailable,
          "the GPU hangs, and this process uses it no more" + where_ + ": " + hang_->why};
}

cuda::ResultCode CudaBackend::finish(cuda::Stream stream) const {
  return isGivenUp() ? cuda::kGivenUp : driver_.cuStreamSynchronize(stream);
}

void CudaBackend::close(cuda::Stream stream) const {
  if (stream && finish(stream) != cuda::kGivenUp)
    driver_.cuStreamDestroy(stream);
}

Status CudaBackend::failure() const {
  if (Status s = health(); !s.ok())
    return s;
  enter();
  if (!memoryStream_)
    return {};
  return driver_.status(driver_.cuStreamSynchronize(memoryStream_), "the GPU failed" + where_);
}

Result<cuda::Function> CudaBackend::kernelOf(uint32_t number,
                                             const std::function<std::string()> &ptx) {
  std::lock_guard lock(mutex_);
  if (auto known = kernels_.find(number); known != kernels_.end())
    return known->second;
  if (Status s = health(); !s.ok())
    return s;
  enter();
  cuda::Module module = nullptr; // until the process ends
  cuda::Function function = nullptr;
  cuda::ResultCode code = driver_.cuModuleLoadDataEx(&module, ptx().c_str(), 0, nullptr, nullptr);
  if (code == kSuccess)
    code = driver_.cuModuleGetFunction(&function, module, cuda::kMoveKernel);
  if (code != kSuccess)
    return driver_.status(code, "the driver refuses a kernel of collectives");
  kernels_[number] = function;
  return function;
}

std::shared_ptr<Memory> CudaBackend::allocate(Space space, size_t bytes) {
  if (isGivenUp())
    return nullptr;
  enter();
  size_t taken = std::max<size_t>(bytes, 64);
  Address address;
  if (space == Space::Device) {
    cuda::Pointer memory = 0;
    if (take(memory, taken) == kSuccess)
      address = Address(reinterpret_cast<void *>(memory));
  } else {
    void *memory = nullptr;
    if (space == Space::File)
      memory = mapFile(bytes);
    else if (driver_.cuMemHostAlloc(&memory, taken, 0) != kSuccess)
      memory = nullptr;
    address = Address(memory);
  }
  if (!address)
    return nullptr;
  return std::make_shared<Block>(std::static_pointer_cast<CudaBackend>(shared_from_this()), address,
                                 bytes, space);
}

// Together, so that they take the driver one call, and lie alike from step to step: graphs know
// addresses.
std::vector<std::shared_ptr<Memory>> CudaBackend::allocateTiles(Space space, size_t bytes,
                                                                size_t count) {
  constexpr size_t kAlignment = 256;
  if (count < 2 || space == Space::File)
    return Backend::allocateTiles(space, bytes, count);
  size_t each = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  std::shared_ptr<Memory> whole = allocate(space, each * count);
  std::vector<std::shared_ptr<Memory>> tiles;
  auto self = std::static_pointer_cast<CudaBackend>(shared_from_this());
  for (size_t i = 0; whole && i < count; ++i)
    tiles.push_back(std::make_shared<Tile>(self, whole, i * each, bytes));
  return tiles;
}

uint64_t CudaBackend::takenMemory() const {
  size_t free = 0, total = 0;
  enter();
  return driver_.cuMemGetInfo(&free, &total) == kSuccess ? total - free : 0;
}

uint64_t CudaBackend::mostMemory() const {
  size_t free = 0, total = 0;
  enter();
  return driver_.cuMemGetInfo(&free, &total) == kSuccess ? total : 0;
}

std::shared_ptr<Event> CudaBackend::move(cuda::Pointer to, cuda::Pointer from, size_t bytes) {
  if (bytes == 0)
    return Event::past();
  Status status = health();
  enter();
  if (status.ok())
    status = driver_.status(driver_.cuMemcpy(to, from, bytes), "a copy from or to the GPU failed");
  if (status.ok())
    return Event::past();
  auto event = std::make_shared<Event>();
  event->signal(std::move(status));
  return event;
}

std::shared_ptr<Event> CudaBackend::copyToHost(void *to, Address from, size_t bytes) {
  return move(pointerOf(to), from.number(), bytes);
}
std::shared_ptr<Event> CudaBackend::copyFromHost(Address to, const void *from, size_t bytes) {
  return move(to.number(), pointerOf(from), bytes);
}
std::shared_ptr<Event> CudaBackend::copy(Address to, Address from, size_t bytes) {
  return move(to.number(), from.number(), bytes);
}

Result<std::shared_ptr<const KernelCode>> CudaBackend::load(const LoadedProgram &program) {
  if (program.deviceCode().empty()) // no kernels
    return std::shared_ptr<const KernelCode>();
  if (Status s = health(); !s.ok())
    return s;
  return CudaCode::load(std::static_pointer_cast<CudaBackend>(shared_from_this()), program);
}

std::unique_ptr<Queue> CudaBackend::makeQueue(const Lane &lane) {
  return std::make_unique<CudaQueue>(std::static_pointer_cast<CudaBackend>(shared_from_this()),
                                     lane);
}

} // namespace tessera::runtime::device
