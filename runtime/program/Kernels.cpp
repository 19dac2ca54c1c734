#include "runtime/program/Kernels.h"
#include "include/tessera/library.h"
#include "lib/steps/SharedGrid.h"
#include "runtime/library/Library.h"
#include "runtime/program/OutsideKernel.h"
#include <algorithm>
#include <cmath>

namespace tessera::runtime {

namespace {

constexpr uint64_t kMostScratch = uint64_t{1} << 46;

Status findInLibrary(const program::Kernel &kernel, KernelEntry &entry) {
  auto found =
      findLibraryKernel({kernel.library(), {kernel.numbers().begin(), kernel.numbers().end()}});
  if (!found.ok())
    return found.status();
  bool fits = kernel.grid() == found->grid && kernel.scratch_bytes() >= found->scratchBytes &&
              kernel.operands_size() == static_cast<int>(found->operandBytes.size());
  for (int i = 0; fits && i < kernel.operands_size(); ++i)
    fits = kernel.operands(i).bytes() >= found->operandBytes[i] &&
           kernel.operands(i).written() == (i >= static_cast<int>(found->inputs));
  if (!fits)
    return invalidProgram("kernel '" + kernel.symbol() +
                          "' has another grid, other operands or less scratch than its library "
                          "needs: compile the program again");
  entry.grid = entry.chunk = found->grid;
  entry.function = found->function;
  entry.plan = std::move(found->plan);
  entry.library = std::make_shared<const KernelEntry::Library>(
      KernelEntry::Library{std::move(found->operandBytes), found->inputs, found->scratchBytes});
  entry.prepare = found->prepare;
  return {};
}

Status readProduct(const program::Kernel &kernel, KernelEntry &entry) {
  std::vector<int64_t> bytes;
  for (const auto &operand : kernel.operands())
    bytes.push_back(static_cast<int64_t>(std::min<uint64_t>(operand.bytes(), INT64_MAX)));
  library::Product product;
  bool isSound =
      library::Product::read({kernel.product().begin(), kernel.product().end()}, bytes, product) &&
      kernel.scratch_bytes() >= static_cast<uint64_t>(product.workspaceBytes());
  for (int i = 0; isSound && i < kernel.operands_size(); ++i)
    isSound = kernel.operands(i).written() == (i == product.d.operand);
  if (!isSound)
    return invalidProgram("kernel '" + kernel.symbol() +
                          "' is no such product of matrices as it says: compile the program again");
  entry.product = std::make_shared<const library::Product>(product);
  return {};
}

} // namespace

Result<std::vector<KernelEntry>> readKernels(const program::File &file,
                                             const program::CodeImage *image) {
  static const program::CodeImage none;
  const auto &grids = (image ? *image : none).grids();
  std::vector<KernelEntry> kernels;
  if (!grids.empty() && grids.size() != file.kernels_size())
    return invalidProgram("an image of code has " + std::to_string(grids.size()) + " grids for " +
                          std::to_string(file.kernels_size()) + " kernels");
  for (const auto &kernel : file.kernels()) {
    auto number = static_cast<int>(kernels.size());
    uint32_t grid = grids.empty() ? kernel.grid() : grids[number];
    if (grid == 0)
      return invalidProgram("kernel '" + kernel.symbol() + "' has an empty grid");
    double figures[] = {kernel.bytes_read(), kernel.bytes_written(), kernel.predicted_seconds()};
    bool areFigures = std::all_of(std::begin(figures), std::end(figures),
                                  [](double f) { return std::isfinite(f) && f >= 0; });
    if (!areFigures || !std::isfinite(kernel.flops()) || kernel.scratch_bytes() > kMostScratch)
      return invalidProgram("kernel '" + kernel.symbol() + "' has an impossible size");
    if (!kernel.outside().empty())
      if (Status s = checkOutside(kernel); !s.ok())
        return s;
    kernels.push_back({nullptr, grid, grid, false, kernel.symbol(),
                       static_cast<uint32_t>(kernel.operands_size()),
                       static_cast<uint32_t>(number)});
    if (!kernel.library().empty())
      if (Status s = findInLibrary(kernel, kernels.back()); !s.ok())
        return s;
    if (kernel.product_size())
      if (Status s = readProduct(kernel, kernels.back()); !s.ok())
        return s;
  }
  return kernels;
}

void shareKernels(const program::File &file, std::vector<KernelEntry> &kernels) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    KernelEntry &kernel = kernels[i];
    steps::SharedGrid shared{kernel.grid, file.kernels(static_cast<int>(i)).flops(),
                             static_cast<double>(kernel.mostOperands)};
    kernel.chunk = shared.chunk();
    kernel.wakes = shared.wakes();
  }
}

Status resolveKernels(const program::File &file, const SymbolResolver &symbols,
                      std::vector<KernelEntry> &kernels) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    KernelEntry &kernel = kernels[i];
    if (kernel.function)
      continue; // the runtime brings it
    if (const auto &said = file.kernels(static_cast<int>(i)); !said.outside().empty()) {
      auto found = findOutside(said, kernel.grid,
                               kernel.location ? file.locations(static_cast<int>(kernel.location))
                                               : "the program");
      if (!found.ok())
        return found.status();
      kernel.function = found->function;
      kernel.plan = std::move(found->plan);
      continue;
    }
    kernel.function = reinterpret_cast<TesseraKernel>(symbols(kernel.symbol));
    if (!kernel.function)
      return invalidProgram("the code section lacks kernel '" + kernel.symbol + "'");
  }
  return {};
}

} // namespace tessera::runtime
