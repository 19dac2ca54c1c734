// A product of matrices that cuBLASLt computes in the place of a kernel of the program's: how, it is asked
// once, when the program is loaded. Its matrices lie column by column, so that it computes the turned
// result of the turned factors, which is the same bytes:
//
//   d[m][n] = x[m][k] y[k][n]     ->     A = y (n x k), B = x (k x m), D = d (n x m)
#pragma once

#include "include/tessera/library.h"
#include "runtime/device/cuda/CublasLt.h"
#include <memory>
#include <mutex>

namespace tessera::runtime::device::cuda {

// The library's state on this GPU, for as long as anything of it is used.
class ProductLibrary {
public:
  // An error says what is missing.
  static Result<std::shared_ptr<const ProductLibrary>> make();
  ~ProductLibrary();
  ProductLibrary(const ProductLibrary &) = delete;
  ProductLibrary &operator=(const ProductLibrary &) = delete;

  const CublasLt &functions;
  const lt::Handle handle;

private:
  ProductLibrary(const CublasLt &functions, lt::Handle handle)
      : functions(functions), handle(handle) {}
};

// Thread-safe.
class LibraryProduct {
public:
  // Null: the library has nothing for it.
  static std::unique_ptr<const LibraryProduct> make(std::shared_ptr<const ProductLibrary> library,
                                                    const library::Product &product);
  ~LibraryProduct();
  LibraryProduct(const LibraryProduct &) = delete;
  LibraryProduct &operator=(const LibraryProduct &) = delete;

  // `operands`: the kernel's; the workspace is the stream's own for that time.
  lt::Status give(const Pointer *operands, Pointer workspace, Stream stream) const;

private:
  LibraryProduct(std::shared_ptr<const ProductLibrary> library, const library::Product &product)
      : library_(std::move(library)), product_(product) {}
  bool describe();
  bool layOut(lt::Layout &layout, int64_t type, int64_t rows, int64_t columns,
              const library::Product::Matrix &matrix);
  bool ask();
  bool setBias(Pointer bias) const;

  const std::shared_ptr<const ProductLibrary> library_;
  const library::Product product_;
  lt::Operation operation_ = nullptr;
  lt::Layout a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
  lt::Algorithm algorithm_ = {};
  mutable std::mutex mutex_; // where the bias lies is a part of the operation's description
};

} // namespace tessera::runtime::device::cuda
