#include "runtime/device/cuda/LibraryProduct.h"

namespace tessera::runtime::device::cuda {

using library::Product;

Result<std::shared_ptr<const ProductLibrary>> ProductLibrary::make() {
  auto library = CublasLt::open();
  if (!library.ok())
    return library.status();
  lt::Handle handle = nullptr;
  if (lt::Status status = (*library)->cublasLtCreate(&handle); status != lt::kSuccess)
    return Status(Code::Unavailable, (*library)->name() + " cannot be used here (status " +
                                         std::to_string(status) + ")");
  return std::shared_ptr<const ProductLibrary>(new ProductLibrary(**library, handle));
}

ProductLibrary::~ProductLibrary() { functions.cublasLtDestroy(handle); }

static lt::DataType dataType(int64_t type) {
  switch (type) {
  case Product::F64:
    return lt::F64;
  case Product::BF16:
    return lt::BF16;
  case Product::F16:
    return lt::F16;
  default:
    return lt::F32;
  }
}

std::unique_ptr<const LibraryProduct>
LibraryProduct::make(std::shared_ptr<const ProductLibrary> library, const Product &product) {
  std::unique_ptr<LibraryProduct> made(new LibraryProduct(std::move(library), product));
  if (!made->describe() || !made->ask())
    return nullptr;
  return made;
}

LibraryProduct::~LibraryProduct() {
  const CublasLt &lib = library_->functions;
  for (lt::Layout layout : {a_, b_, c_, d_})
    if (layout)
      lib.cublasLtMatrixLayoutDestroy(layout);
  if (operation_)
    lib.cublasLtMatmulDescDestroy(operation_);
}

// Of `rows` by `columns` as the library has them: of what is turned, that is columns by rows.
bool LibraryProduct::layOut(lt::Layout &layout, int64_t type, int64_t rows, int64_t columns,
                            const Product::Matrix &matrix) {
  const CublasLt &lib = library_->functions;
  if (lib.cublasLtMatrixLayoutCreate(&layout, dataType(type), static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns),
                                     matrix.pitch()) != lt::kSuccess)
    return false;
  if (product_.batch == 1)
    return true;
  auto count = static_cast<int32_t>(product_.batch);
  return lib.cublasLtMatrixLayoutSetAttribute(layout, lt::BatchCount, &count, sizeof count) ==
             lt::kSuccess &&
         lib.cublasLtMatrixLayoutSetAttribute(layout, lt::BatchOffset, &matrix.perBatch,
                                              sizeof matrix.perBatch) == lt::kSuccess;
}

bool LibraryProduct::setBias(Pointer bias) const {
  return library_->functions.cublasLtMatmulDescSetAttribute(operation_, lt::BiasPointer, &bias,
                                                            sizeof bias) == lt::kSuccess;
}

bool LibraryProduct::describe() {
  const CublasLt &lib = library_->functions;
  const Product &p = product_;
  // f32 as it is: never by fewer bits of the factors.
  int compute = p.factors == Product::F64   ? lt::InF64
                : p.factors == Product::F32 ? lt::InPlainF32
                                            : lt::InF32;
  if (lib.cublasLtMatmulDescCreate(&operation_, compute,
                                   p.factors == Product::F64 ? lt::F64 : lt::F32) != lt::kSuccess)
    return false;
  auto set = [&](lt::OperationAttribute attribute, auto value) {
    return lib.cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value) ==
           lt::kSuccess;
  };
  // Rows that lie side by side are columns there: as they are wanted.
  int32_t a = p.y.isRowMajor() ? lt::AsItIs : lt::Transposed;
  int32_t b = p.x.isRowMajor() ? lt::AsItIs : lt::Transposed;
  uint32_t epilogue = (p.function == Product::Relu   ? lt::Relu
                       : p.function == Product::Gelu ? lt::Gelu
                       : p.bias >= 0                 ? 0u
                                                     : lt::Plain) |
                      (p.bias >= 0 ? lt::Bias : 0u);
  auto inner = [](const Product::Matrix &matrix, int64_t rows, int64_t columns) {
    return matrix.isRowMajor() ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [aRows, aColumns] = inner(p.y, p.k, p.n);
  auto [bRows, bColumns] = inner(p.x, p.m, p.k);
  return set(lt::TransposeA, a) && set(lt::TransposeB, b) && set(lt::Epilogue, epilogue) &&
         layOut(a_, p.factors, aRows, aColumns, p.y) &&
         layOut(b_, p.factors, bRows, bColumns, p.x) &&
         layOut(c_, p.result, p.n, p.m, p.c.operand < 0 ? p.d : p.c) &&
         layOut(d_, p.result, p.n, p.m, p.d);
}

bool LibraryProduct::ask() {
  constexpr uint32_t kAlignment = 64; // of every array of a program
  const CublasLt &lib = library_->functions;
  lt::Preference preference = nullptr;
  if (lib.cublasLtMatmulPreferenceCreate(&preference) != lt::kSuccess)
    return false;
  auto set = [&](lt::PreferenceAttribute attribute, auto value) {
    return lib.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value) ==
           lt::kSuccess;
  };
  auto workspace = static_cast<uint64_t>(product_.workspaceBytes());
  bool isSet = set(lt::MostWorkspace, workspace) && set(lt::ReductionSchemes, lt::kPartsAsComputed);
  for (auto alignment : {lt::AlignmentA, lt::AlignmentB, lt::AlignmentC, lt::AlignmentD})
    isSet = isSet && set(alignment, kAlignment);
  if (product_.bias >= 0) // whose alignment is read off an address
    isSet = isSet && setBias(kAlignment);
  lt::Found found = {};
  int count = 0;
  isSet =
      isSet && lib.cublasLtMatmulAlgoGetHeuristic(library_->handle, operation_, a_, b_, c_, d_,
                                                  preference, 1, &found, &count) == lt::kSuccess;
  lib.cublasLtMatmulPreferenceDestroy(preference);
  if (!isSet || count < 1 || found.state != lt::kSuccess || found.workspaceBytes > workspace)
    return false;
  algorithm_ = found.algorithm;
  return true;
}

lt::Status LibraryProduct::give(const Pointer *operands, Pointer workspace, Stream stream) const {
  auto at = [&](int64_t operand) { return reinterpret_cast<void *>(operands[operand]); };
  constexpr float one = 1, zero = 0;
  constexpr double oneF64 = 1, zeroF64 = 0;
  bool isF64 = product_.factors == Product::F64, isAdded = product_.c.operand >= 0;
  const void *alpha = isF64 ? static_cast<const void *>(&oneF64) : &one;
  const void *none = isF64 ? static_cast<const void *>(&zeroF64) : &zero;
  void *d = at(product_.d.operand);
  std::lock_guard lock(mutex_);
  if (product_.bias >= 0 && !setBias(operands[product_.bias]))
    return 7; // CUBLAS_STATUS_INVALID_VALUE
  return library_->functions.cublasLtMatmul(
      library_->handle, operation_, alpha, at(product_.y.operand), a_, at(product_.x.operand), b_,
      isAdded ? alpha : none, isAdded ? at(product_.c.operand) : d, c_, d, d_, &algorithm_,
      reinterpret_cast<void *>(workspace), static_cast<size_t>(product_.workspaceBytes()), stream);
}

} // namespace tessera::runtime::device::cuda
