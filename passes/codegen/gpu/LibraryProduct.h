// Kernels that are one product of matrices, with what cuBLASLt's epilogues can do behind it:
//
//   exec.kernel @dense(%x: tensor<64x32xbf16>, %w: tensor<32x96xbf16>, %b: tensor<96xf32>) -> tensor<64x96xf32>
//     max(x w + b, 0)   ->   x: operand 0, rows 32 apart; y: 1, 96 apart; bias: 2; d: 3, 96 apart; Relu
#pragma once

#include "dialects/tessera/TesseraDialect.h"
#include "include/tessera/library.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <optional>

namespace tessera::codegen::gpu {

// Of smaller ones the launch is what takes time.
inline constexpr int64_t kLeastLibraryFlops = int64_t{1} << 20;

// Empty where the library would compute anything else than the kernel, but for the order of its sums: where a
// result is rounded on the way, or an operand is computed, or lies as no matrix does.
std::optional<library::Product> libraryProductOf(const KernelSource &kernel);
// The same where an architecture of the target asks for it.
std::optional<library::Product> libraryProductOf(const KernelSource &kernel, TargetAttr target);

} // namespace tessera::codegen::gpu
