// A GPU of NVIDIA as devices: one of the process's, or all logical devices that it has, with queues of
// their own.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Driver.h"
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace tessera::runtime::device {

class CudaBackend final : public Backend {
public:
  // Of `of` GPUs of this process the one of the number.
  static Result<std::shared_ptr<Backend>> make(std::shared_ptr<Pool> pool, uint32_t number = 0,
                                               uint32_t of = 1);
  // How many GPUs the driver shows; 0 without one.
  static uint32_t visible();

  std::string_view name() const override { return "cuda"; }
  std::string where() const override { return where_; }
  bool reaches(const Backend &other) const override {
    const auto *cuda = dynamic_cast<const CudaBackend *>(&other);
    return cuda && cuda->context_ == context_;
  }
  std::shared_ptr<Memory> allocate(Space space, size_t bytes) override;
  std::vector<std::shared_ptr<Memory>> allocateTiles(Space space, size_t bytes,
                                                     size_t count) override;
  uint64_t mostMemory() const override;
  uint64_t takenMemory() const override;
  // These are over when they return.
  std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) override;
  std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) override;
  std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) override;
  void *hostView(Address) const override { return nullptr; }
  Result<std::shared_ptr<const KernelCode>> load(const LoadedProgram &program) override;
  std::unique_ptr<Queue> makeQueue(const Lane &lane) override;

  const cuda::Driver &driver() const { return driver_; }
  // "NVIDIA H100 80GB HBM3 (sm_90)"
  const std::string &gpu() const { return gpu_; }
  int version() const { return 10 * major_ + minor_; } // of its architecture
  Pool &pool() const { return *pool_; }
  // The thread's calls of the driver are about this GPU from now on.
  void enter() const { driver_.cuCtxSetCurrent(context_); }
  // Whether each command is waited for, so that an error names the one: CUDA_LAUNCH_BLOCKING.
  bool blocks() const { return blocks_; }
  // What work that was given to it earlier failed with: from then on no call succeeds.
  Status failure() const;
  // Nanoseconds for which it may stand at one command; 0: any time (Patience.h).
  int64_t longestStand() const { return longestStand_; }
  // What it was given does not end: what that may use is left alone, nobody waits for it, and no step
  // runs here any more. The first reason counts.
  void giveUp(std::string why);
  bool isGivenUp() const { return hang_->isThere.load(std::memory_order_acquire); }
  Status health() const override;
  // Until the stream has come to its end; kGivenUp, at once, where it may never.
  cuda::ResultCode finish(cuda::Stream stream) const;
  // Waits for it and gives it back, where it ends.
  void close(cuda::Stream stream) const;
  // The runtime's own kernel with a number (MoveKernels.h), compiled once.
  Result<cuda::Function> kernelOf(uint32_t number, const std::function<std::string()> &ptx);

private:
  class Block;
  class Tile;
  // Why a GPU was given up.
  struct Hang {
    std::atomic<bool> isThere{false};
    std::mutex mutex;
    std::string why;
  };

  CudaBackend(const cuda::Driver &driver, std::shared_ptr<Pool> pool)
      : driver_(driver), pool_(std::move(pool)) {}
  Status start(uint32_t number, uint32_t of);
  Status startPool(cuda::DeviceNumber device);
  cuda::ResultCode take(cuda::Pointer &memory, size_t bytes);
  std::shared_ptr<Event> move(cuda::Pointer to, cuda::Pointer from, size_t bytes);

  const cuda::Driver &driver_;
  const std::shared_ptr<Pool> pool_;
  cuda::Context context_ = nullptr;
  std::string gpu_, where_;
  int major_ = 0, minor_ = 0;
  bool blocks_ = false;
  int64_t longestStand_ = 0;
  Hang *hang_ = nullptr; // the process's, of this GPU
  // The driver's pool keeps what is given back. Its stream is only for that: null where there is none.
  cuda::MemoryPool memory_ = nullptr;
  cuda::Stream memoryStream_ = nullptr;
  std::mutex mutex_; // of what follows
  std::map<uint32_t, cuda::Function> kernels_;
};

} // namespace tessera::runtime::device
