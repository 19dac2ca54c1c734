// A program's kernels on the GPU, by their numbers: the best of its images that the GPU runs, and of the
// products of matrices that cuBLASLt may compute in their place those that it does.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/cuda/LibraryProduct.h"
#include "runtime/program/Launches.h"
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::runtime {
struct DeviceText;
}

namespace tessera::runtime::device {

class CudaCode final : public KernelCode {
public:
  static Result<std::shared_ptr<const KernelCode>> load(std::shared_ptr<CudaBackend> backend,
                                                        const LoadedProgram &program);
  ~CudaCode() override;

  cuda::Function function(uint32_t kernel) const { return functions_[kernel]; }
  const KernelLaunch &launch(uint32_t kernel) const { return launches_[kernel]; }
  // Null: the function computes it.
  const cuda::LibraryProduct *product(uint32_t kernel) const {
    return products_.empty() ? nullptr : products_[kernel].get();
  }
  bool usesLibrary() const { return given_ > 0; }

  std::string description() const override;
  std::string note() const override { return note_; }
  std::string libraryOf(uint32_t kernel) const override { return product(kernel) ? library_ : ""; }

private:
  explicit CudaCode(std::shared_ptr<CudaBackend> backend) : backend_(std::move(backend)) {}
  Status openImage(const LoadedProgram &program);
  Status open(const DeviceText &image);
  void findAliases(const std::vector<const DeviceText *> &images, const std::string &architecture);
  using KernelsByName = std::unordered_multimap<std::string_view, const KernelEntry *>;
  Result<const KernelEntry *> codeOf(const KernelEntry &kernel, const KernelsByName &kernels) const;
  Status findFunctions(const LoadedProgram &program);
  Status openProducts(const LoadedProgram &program);

  const std::shared_ptr<CudaBackend> backend_;
  cuda::Module module_ = nullptr;
  std::vector<cuda::Function> functions_; // null: no instruction runs it
  std::vector<KernelLaunch> launches_;
  std::map<std::string, std::string> aliases_; // kernels whose code is another's
  std::vector<std::unique_ptr<const cuda::LibraryProduct>> products_; // none: no library
  std::string image_, library_;                                       // "cuBLASLt 13.1.0"
  uint32_t wanted_ = 0, given_ = 0; // kernels that the library may compute, and does
  std::string note_;
  bool asksForLibrary_ = false;
};

} // namespace tessera::runtime::device
