// The kernels of a file, which its programs share: what the manifest says of them, and their
// functions.
#pragma once

#include "include/tessera/kernel_abi.h"
#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::library {
struct Product;
}

namespace tessera::runtime {

struct KernelEntry {
  TesseraKernel function;
  uint32_t grid;
  uint32_t
      chunk;  // cells that a worker takes at a time; the whole grid when it is not worth sharing
  bool wakes; // worth waking sleeping workers for
  std::string symbol;
  uint32_t operands = 0;
  uint32_t number = 0;                        // among the file's
  std::shared_ptr<const void> plan = nullptr; // of a kernel that the runtime brings
  // What such a kernel takes and leaves, for devices that have it computed on the host.
  struct Library {
    std::vector<uint64_t> operandBytes; // inputs, then outputs
    size_t inputs = 0;
    uint64_t scratchBytes = 0;
  };
  std::shared_ptr<const Library> library = nullptr; // null: no kernel of the runtime's
  // What cuBLASLt may compute in its place; null: nothing.
  std::shared_ptr<const library::Product> product = nullptr;
  void (*prepare)(const void *plan) =
      nullptr;               // makes tables before the first call; may be called twice
  bool used = false;         // some instruction runs it
  uint32_t location = 0;     // of the first one
  uint64_t mostOperands = 0; // bytes that a dispatch gives it
  uint64_t scratchBytes = 0; // a call's, where a dispatch says where it lies
};

using SymbolResolver = std::function<void *(const std::string &)>;

// Sizes and the runtime's own kernels are checked. `image`: of the code that is taken; null: of none.
Result<std::vector<KernelEntry>> readKernels(const program::File &file,
                                             const program::CodeImage *image);

// Grids worth sharing are cut into chunks of some microseconds, whatever the number of cores.
void shareKernels(const program::File &file, std::vector<KernelEntry> &kernels);

// Finds the functions of kernels that are the file's own.
Status resolveKernels(const program::File &file, const SymbolResolver &symbols,
                      std::vector<KernelEntry> &kernels);

} // namespace tessera::runtime
