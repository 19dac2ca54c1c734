// NVIDIA's library of matrix products, opened when a program that names it is loaded: nothing of it is
// linked, and no header of it is included. What follows are the parts of its interface that the runtime
// calls, as "cuBLASLt API" by NVIDIA has them. Matrices there lie column by column.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cuda/Driver.h"

namespace tessera::runtime::device::cuda {

namespace lt {

using Status = int; // cublasStatus_t
inline constexpr Status kSuccess = 0;

using Handle = struct HandleOfLibrary *;
using Operation = struct OperationOfLibrary *;   // what is computed
using Layout = struct LayoutOfLibrary *;         // of a matrix
using Preference = struct PreferenceOfLibrary *; // how it may be computed

struct Algorithm {
  uint64_t data[8];
};
struct Found {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

// cudaDataType, cublasComputeType_t, cublasOperation_t
enum DataType : int { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };
enum ComputeType : int { InF32 = 68, InPlainF32 = 69, InF64 = 70 };
enum Transpose : int { AsItIs = 0, Transposed = 1 };
// Attributes of operations, layouts and preferences.
enum OperationAttribute : int { TransposeA = 3, TransposeB = 4, Epilogue = 7, BiasPointer = 8 };
enum LayoutAttribute : int { BatchCount = 5, BatchOffset = 6 };
enum PreferenceAttribute : int {
  MostWorkspace = 1,
  ReductionSchemes = 3,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};
enum EpilogueBits : uint32_t { Plain = 1, Relu = 2, Bias = 4, Gelu = 32 };
// Parts of sums that are made apart are in the type of the sums.
inline constexpr uint32_t kPartsAsComputed = 2;

} // namespace lt

// name, parameters
#define TESSERA_CUBLASLT_FUNCTIONS(F)                                                              \
  F(cublasLtCreate, (lt::Handle * handle))                                                         \
  F(cublasLtDestroy, (lt::Handle handle))                                                          \
  F(cublasLtMatmulDescCreate, (lt::Operation * made, int computeType, int scaleType))              \
  F(cublasLtMatmulDescDestroy, (lt::Operation operation))                                          \
  F(cublasLtMatmulDescSetAttribute,                                                                \
    (lt::Operation operation, int attribute, const void *value, size_t bytes))                     \
  F(cublasLtMatrixLayoutCreate,                                                                    \
    (lt::Layout * made, int type, uint64_t rows, uint64_t columns, int64_t pitch))                 \
  F(cublasLtMatrixLayoutDestroy, (lt::Layout layout))                                              \
  F(cublasLtMatrixLayoutSetAttribute,                                                              \
    (lt::Layout layout, int attribute, const void *value, size_t bytes))                           \
  F(cublasLtMatmulPreferenceCreate, (lt::Preference * made))                                       \
  F(cublasLtMatmulPreferenceDestroy, (lt::Preference preference))                                  \
  F(cublasLtMatmulPreferenceSetAttribute,                                                          \
    (lt::Preference preference, int attribute, const void *value, size_t bytes))                   \
  F(cublasLtMatmulAlgoGetHeuristic,                                                                \
    (lt::Handle handle, lt::Operation operation, lt::Layout a, lt::Layout b, lt::Layout c,         \
     lt::Layout d, lt::Preference preference, int wanted, lt::Found *found, int *count))           \
  F(cublasLtMatmul,                                                                                \
    (lt::Handle handle, lt::Operation operation, const void *alpha, const void *a,                 \
     lt::Layout layoutOfA, const void *b, lt::Layout layoutOfB, const void *beta, const void *c,   \
     lt::Layout layoutOfC, void *d, lt::Layout layoutOfD, const lt::Algorithm *algorithm,          \
     void *workspace, size_t workspaceBytes, Stream stream))

// Thread-safe, as the library is but for its descriptions.
class CublasLt {
public:
  // The process's; an error says what to install.
  static Result<const CublasLt *> open();

#define F(name, parameters) lt::Status(*name) parameters = nullptr;
  TESSERA_CUBLASLT_FUNCTIONS(F)
#undef F
  // "cuBLASLt 13.1.0"
  const std::string &name() const { return name_; }

private:
  tessera::runtime::Status load();

  std::string name_;
};

} // namespace tessera::runtime::device::cuda
