// A GPU of NVIDIA as devices: all logical devices of the process are on one, with queues of their
// own.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Driver.h"
#include <vector>

namespace tessera::runtime::device {

class CudaBackend final : public Backend {
public:
  static Result<std::shared_ptr<Backend>> make(std::shared_ptr<Pool> pool);

  std::string_view name() const override { return "cuda"; }
  std::shared_ptr<Memory> allocate(Space space, size_t bytes) override;
  uint64_t mostMemory() const override;
  // These are over when they return.
  std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) override;
  std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) override;
  std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) override;
  void *hostView(Address) const override { return nullptr; }
  // The best of the program's texts that the GPU runs, made its own by the driver.
  Result<std::shared_ptr<const KernelCode>> load(const LoadedProgram &program) override;
  std::unique_ptr<Queue> makeQueue(const Lane &lane) override;

  const cuda::Driver &driver() const { return driver_; }
  Pool &pool() const { return *pool_; }
  // The thread's calls of the driver are about this GPU from now on.
  void enter() const { driver_.cuCtxSetCurrent(context_); }

private:
  class Block;

  CudaBackend(const cuda::Driver &driver, std::shared_ptr<Pool> pool)
      : driver_(driver), pool_(std::move(pool)) {}
  Status start();
  std::shared_ptr<Event> move(cuda::Pointer to, cuda::Pointer from, size_t bytes);

  const cuda::Driver &driver_;
  const std::shared_ptr<Pool> pool_;
  cuda::Context context_ = nullptr;
  std::string gpu_; // "NVIDIA H100 80GB HBM3 (sm_90)"
  int major_ = 0, minor_ = 0;
};

// A program's kernels on the GPU, by their numbers.
class CudaCode final : public KernelCode {
public:
  CudaCode(std::shared_ptr<CudaBackend> backend, cuda::Module module)
      : backend_(std::move(backend)), module_(module) {}
  ~CudaCode() override;

  std::vector<cuda::Function> functions; // null: no instruction runs it

private:
  const std::shared_ptr<CudaBackend> backend_;
  const cuda::Module module_;
};

} // namespace tessera::runtime::device
