#include "runtime/device/cuda/CudaCode.h"

#include "runtime/program/LoadedProgram.h"
#include "runtime/program/PtxSection.h"
#include <algorithm>
#include <cstdlib>

namespace tessera::runtime::device {

using cuda::kSuccess;

CudaCode::~CudaCode() {
  backend_->enter();
  if (backend_->isGivenUp()) { // kernels may still run, for which all of it stays
    new auto(std::move(products_));
    return;
  }
  products_.clear();
  if (module_)
    backend_->driver().cuModuleUnload(module_);
}

// "sm_90a" runs on that architecture only. PTX of "sm_90" runs on all that are newer too, machine code on
// those of the same generation.
static bool runs(const DeviceText &image, int version) {
  if (!image.architecture.starts_with("sm_"))
    return false;
  char *end = nullptr;
  long wanted = std::strtol(image.architecture.c_str() + 3, &end, 10);
  if (*end == 'a')
    return wanted == version;
  return wanted <= version && (!image.isCubin || wanted / 10 == version / 10);
}

Result<std::shared_ptr<const KernelCode>> CudaCode::load(std::shared_ptr<CudaBackend> backend,
                                                         const LoadedProgram &program) {
  std::shared_ptr<CudaCode> made(new CudaCode(std::move(backend)));
  made->backend_->enter();
  if (Status s = made->openImage(program); !s.ok())
    return s;
  if (Status s = made->findFunctions(program); !s.ok())
    return s;
  if (made->asksForLibrary_)
    if (Status s = made->openProducts(program); !s.ok())
      return s;
  return std::shared_ptr<const KernelCode>(std::move(made));
}

// Machine code first. What the driver cannot use of it (it is older than the ptxas that made it, say) it
// compiles for itself.
Status CudaCode::openImage(const LoadedProgram &program) {
  std::string known;
  std::vector<const DeviceText *> fitting;
  for (const DeviceText &image : program.deviceCode()) {
    if (!image.isCubin)
      known += (known.empty() ? "" : ", ") + image.architecture;
    if (runs(image, backend_->version()))
      fitting.push_back(&image);
  }
  std::stable_partition(fitting.begin(), fitting.end(),
                        [](const DeviceText *image) { return image->isCubin; });
  if (fitting.empty() || fitting.back()->isCubin)
    return {Code::FailedPrecondition, "the program was compiled for " + known + "; this GPU is " +
                                          backend_->gpu() +
                                          ": name its architecture in --target=cuda:.."};
  for (const DeviceText *image : fitting) {
    Status status = open(*image);
    if (status.ok())
      findAliases(fitting, image->architecture);
    if (status.ok() || !image->isCubin)
      return status;
    note_ = status.message() + ": it compiled the PTX instead";
  }
  return {};
}

Status CudaCode::open(const DeviceText &image) {
  constexpr int kErrorLog = 5, kErrorLogBytes = 6; // options
  char log[2000] = "";
  int names[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  const cuda::Driver &driver = backend_->driver();
  cuda::ResultCode code = driver.cuModuleLoadDataEx(&module_, image.text.c_str(), 2, names, values);
  if (code != kSuccess) {
    module_ = nullptr;
    return driver.status(code, std::string("the driver refuses the ") +
                                   (image.isCubin ? "machine code" : "kernels") + " for " +
                                   image.architecture +
                                   (*log ? std::string(" (") + log + ")" : ""));
  }
  image_ = image.architecture + (image.isCubin ? " (machine code)" : " (PTX)");
  launches_ = image.launches;
  asksForLibrary_ = image.asksForLibrary;
  return {};
}

// Those of machine code are its PTX's.
void CudaCode::findAliases(const std::vector<const DeviceText *> &images,
                           const std::string &architecture) {
  for (const DeviceText *image : images)
    if (!image->isCubin && image->architecture == architecture)
      aliases_ = aliasesOf(image->text);
}

// The kernel whose code this one's is: it takes as much.
Result<const KernelEntry *> CudaCode::codeOf(const KernelEntry &kernel,
                                             const KernelsByName &kernels) const {
  auto alias = aliases_.find(kernel.symbol);
  if (alias == aliases_.end())
    return &kernel;
  const KernelLaunch &own = launch(kernel.number);
  auto [first, last] = kernels.equal_range(alias->second);
  for (; first != last; ++first) {
    const KernelEntry *other = first->second;
    const KernelLaunch &others = launch(other->number);
    if (other->operands == kernel.operands && others.maps.size() == own.maps.size() &&
        others.sharedBytes == own.sharedBytes)
      return other;
  }
  return invalidProgram("altered: kernel '" + kernel.symbol + "' has not the code of '" +
                        alias->second + "'");
}

Status CudaCode::findFunctions(const LoadedProgram &program) {
  constexpr int kMostSharedBytes = 8; // attribute of a function
  const cuda::Driver &driver = backend_->driver();
  KernelsByName kernels;
  for (const KernelEntry &kernel : program.kernels())
    kernels.emplace(kernel.symbol, &kernel);
  for (const KernelEntry &kernel : program.kernels()) {
    cuda::Function function = nullptr;
    if (kernel.library) { // the host computes it
      functions_.push_back(nullptr);
      continue;
    }
    if (kernel.used && kernel.function)
      return {Code::Unimplemented, "kernel '" + kernel.symbol + "' runs on CPUs only"};
    auto code = codeOf(kernel, kernels);
    if (!code.ok())
      return code.status();
    const std::string &symbol = (*code)->symbol;
    if (kernel.used && driver.cuModuleGetFunction(&function, module_, symbol.c_str()) != kSuccess)
      return invalidProgram("the code for " + image_ + " lacks kernel '" + symbol + "'");
    cuda::ResultCode done = kSuccess;
    // More than any launch may have without asking.
    if (auto bytes = static_cast<int>(launch(kernel.number).sharedBytes); function && bytes)
      done = driver.cuFuncSetAttribute(function, kMostSharedBytes, bytes);
    if (done != kSuccess)
      return driver.status(done,
                           "the GPU has not the shared memory of kernel '" + kernel.symbol + "'");
    functions_.push_back(function);
  }
  return {};
}

// Which kernels are the library's is known before anything runs, and said (docs/numbers.md).
Status CudaCode::openProducts(const LoadedProgram &program) {
  for (const KernelEntry &kernel : program.kernels())
    wanted_ += kernel.used && kernel.product;
  const char *said = std::getenv("TESSERA_CUBLASLT");
  std::string wish = said ? said : "";
  if (wish != "" && wish != "off" && wish != "require")
    return invalidArgument("TESSERA_CUBLASLT=" + wish + ": must be off or require");
  if (wanted_ == 0 || wish == "off")
    return {};
  auto library = cuda::ProductLibrary::make();
  if (!library.ok()) {
    note_ = "the program asks for cuBLASLt, and its own kernels run: " + library.status().message();
    return wish == "require" ? Status(library.status().code(),
                                      "TESSERA_CUBLASLT=require: " + library.status().message())
                             : Status();
  }
  library_ = (*library)->functions.name();
  std::string missing;
  for (const KernelEntry &kernel : program.kernels()) {
    products_.emplace_back();
    if (!kernel.used || !kernel.product)
      continue;
    products_.back() = cuda::LibraryProduct::make(*library, *kernel.product);
    given_ += products_.back() != nullptr;
    if (!products_.back() && missing.empty())
      missing = kernel.symbol;
  }
  if (missing.empty())
    return {};
  note_ = library_ + " has no way to compute " + std::to_string(wanted_ - given_) + " of " +
          std::to_string(wanted_) + " products ('" + missing + "'), and own kernels do";
  return wish == "require" ? Status(Code::Unimplemented, "TESSERA_CUBLASLT=require: " + note_)
                           : Status();
}

std::string CudaCode::description() const {
  std::string text = image_;
  if (asksForLibrary_ && wanted_)
    text += ", " + std::to_string(given_) + " of " + std::to_string(wanted_) + " products by " +
            (library_.empty() ? "cuBLASLt" : library_);
  return text;
}

} // namespace tessera::runtime::device
