// What cuBLASLt may compute in a kernel's place is said beside it, where the target asks for it, and only what is the
// same computation. [factors, result, function, batch, m, n, k, bias, then of both factors, what is added and the
// result: operand, and how far apart problems, rows and columns lie]
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80+cublaslt" --tessera-codegen-gpu | FileCheck %s
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu | FileCheck %s --check-prefix=UNASKED
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80+cublaslt" --tessera-codegen-gpu -o %t.cuda
// RUN: sed 's/#tessera.target<cuda, <[^>]*>>/#tessera.target<cpu, <"x86-64-v3", vector_bits = 256, features = ["avx2", "fma"]>>/' %t.cuda | tessera-opt --tessera-generate-code -o %t.cpu
// RUN: FileCheck %s --check-prefix=CPU --input-file=%t.cpu
// RUN: tessera-opt %s --tessera-set-target="target=cpu,cuda:sm_80+cublaslt processors=x86-64-v3" --tessera-generate-code | FileCheck %s --check-prefix=BOTH
// RUN: not tessera-opt %s --tessera-set-target="target=cuda:sm_80+cublas" 2>&1 | FileCheck %s --check-prefix=NONE

// UNASKED-NOT: product
// What is compiled again for a CPU has none.
// CPU: exec.kernel @plain
// CPU-NOT: product
// BOTH: exec.kernel @plain
// BOTH-SAME: product = array<i64: 0, 0, 0, 1, 96, 112, 80,
// NONE: --target=cuda:sm_80+cublas: 'cublas' is none of cubin, cublaslt

// CHECK: exec.kernel @plain
// CHECK-SAME: product = array<i64: 0, 0, 0, 1, 96, 112, 80, -1, 0, 0, 80, 1, 1, 0, 112, 1, -1, 0, 0, 0, 2, 0, 112, 1>
// CHECK-SAME: scratch_bytes = 172032
exec.kernel @plain(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>) -> tensor<96x112xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  exec.yield %0 : tensor<96x112xf32>
}

// Both factors turned, and dimensions that lie as one.
// CHECK: exec.kernel @turned
// CHECK-SAME: product = array<i64: 2, 2, 0, 1, 96, 112, 80, -1, 0, 0, 1, 96, 1, 0, 1, 80, -1, 0, 0, 0, 2, 0, 112, 1>
exec.kernel @turned(%x: tensor<8x10x4x24xbf16>, %w: tensor<7x16x80xbf16>) -> tensor<4x24x7x16xbf16> {
  %r = stablehlo.reshape %x : (tensor<8x10x4x24xbf16>) -> tensor<80x4x24xbf16>
  %0 = stablehlo.dot_general %r, %w, contracting_dims = [0] x [2] : (tensor<80x4x24xbf16>, tensor<7x16x80xbf16>) -> tensor<4x24x7x16xbf16>
  exec.yield %0 : tensor<4x24x7x16xbf16>
}

// A batch.
// CHECK: exec.kernel @batch
// CHECK-SAME: product = array<i64: 0, 0, 0, 3, 64, 96, 32, -1, 0, 2048, 32, 1, 1, 3072, 96, 1, -1, 0, 0, 0, 2, 6144, 96, 1>
exec.kernel @batch(%x: tensor<3x64x32xf32>, %w: tensor<3x32x96xf32>) -> tensor<3x64x96xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x64x32xf32>, tensor<3x32x96xf32>) -> tensor<3x64x96xf32>
  exec.yield %0 : tensor<3x64x96xf32>
}

// A bias and what is added, before one rounding; GELU by its values, as it is written here.
// CHECK: exec.kernel @gelu
// CHECK-SAME: product = array<i64: 2, 2, 2, 1, 96, 112, 80, 2, 0, 0, 80, 1, 1, 0, 112, 1, 3, 0, 112, 1, 4, 0, 112, 1>
exec.kernel @gelu(%x: tensor<96x80xbf16>, %w: tensor<80x112xbf16>, %b: tensor<112xbf16>, %c: tensor<96x112xbf16>) -> tensor<96x112xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xbf16>, tensor<80x112xbf16>) -> tensor<96x112xf32>
  %wide = stablehlo.convert %b : (tensor<112xbf16>) -> tensor<112xf32>
  %rows = stablehlo.broadcast_in_dim %wide, dims = [1] : (tensor<112xf32>) -> tensor<96x112xf32>
  %1 = stablehlo.add %0, %rows : tensor<96x112xf32>
  %added = stablehlo.convert %c : (tensor<96x112xbf16>) -> tensor<96x112xf32>
  %2 = stablehlo.add %added, %1 : tensor<96x112xf32>
  %k0 = stablehlo.constant dense<0.044715> : tensor<96x112xf32>
  %k1 = stablehlo.constant dense<0.797884583> : tensor<96x112xf32>
  %one = stablehlo.constant dense<1.0> : tensor<96x112xf32>
  %half = stablehlo.constant dense<0.5> : tensor<96x112xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<96x112xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<96x112xf32>
  %5 = stablehlo.multiply %k0, %4 : tensor<96x112xf32>
  %6 = stablehlo.add %2, %5 : tensor<96x112xf32>
  %7 = stablehlo.multiply %k1, %6 : tensor<96x112xf32>
  %8 = stablehlo.tanh %7 : tensor<96x112xf32>
  %9 = stablehlo.add %one, %8 : tensor<96x112xf32>
  %10 = stablehlo.multiply %half, %9 : tensor<96x112xf32>
  %11 = stablehlo.multiply %2, %10 : tensor<96x112xf32>
  %12 = stablehlo.convert %11 : (tensor<96x112xf32>) -> tensor<96x112xbf16>
  exec.yield %12 : tensor<96x112xbf16>
}

// The product is rounded before the bias is added.
// CHECK: exec.kernel @rounded
// CHECK-NOT: product
// CHECK: exec.kernel @doubled
exec.kernel @rounded(%x: tensor<96x80xbf16>, %w: tensor<80x112xbf16>, %b: tensor<112xbf16>) -> tensor<96x112xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xbf16>, tensor<80x112xbf16>) -> tensor<96x112xbf16>
  %rows = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<112xbf16>) -> tensor<96x112xbf16>
  %1 = stablehlo.add %0, %rows : tensor<96x112xbf16>
  exec.yield %1 : tensor<96x112xbf16>
}

// A function that there is no epilogue for; a factor that is computed; a bias of rows; too small.
// CHECK-NOT: product
exec.kernel @doubled(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>) -> tensor<96x112xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  %1 = stablehlo.add %0, %0 : tensor<96x112xf32>
  exec.yield %1 : tensor<96x112xf32>
}
exec.kernel @computed(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>) -> tensor<96x112xf32> {
  %e = stablehlo.exponential %x : tensor<96x80xf32>
  %0 = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  exec.yield %0 : tensor<96x112xf32>
}
exec.kernel @of_rows(%x: tensor<96x80xf32>, %w: tensor<80x112xf32>, %b: tensor<96xf32>) -> tensor<96x112xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<96x80xf32>, tensor<80x112xf32>) -> tensor<96x112xf32>
  %columns = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<96xf32>) -> tensor<96x112xf32>
  %1 = stablehlo.add %0, %columns : tensor<96x112xf32>
  exec.yield %1 : tensor<96x112xf32>
}
exec.kernel @small(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  exec.yield %0 : tensor<32x32xf32>
}
