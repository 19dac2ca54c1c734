// What has no code for GPUs is refused at its operation (docs/limits.md), not left to the driver.
// RUN: not tessera-opt %s --tessera-set-target="target=cuda" --tessera-codegen-gpu --split-input-file 2>&1 | FileCheck %s

// No place is there for the numbers of so many elements.
exec.kernel @sorted(%x: tensor<60000xbf16>) -> tensor<60000xbf16> {
  // CHECK: codegen-gpu-refuses.mlir:[[@LINE+1]]:{{[0-9]+}}: error: needs {{[0-9]+}} bytes of scratch for a row, and 8192 are there for --target=cuda yet
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %less = stablehlo.compare LT, %a, %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<60000xbf16>) -> tensor<60000xbf16>
  exec.yield %0 : tensor<60000xbf16>
}

// -----

exec.kernel @own(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: codegen-gpu-refuses.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'stablehlo.custom_call' has no code for --target=cuda yet
  %0 = stablehlo.custom_call @mine(%x) {api_version = 4 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  exec.yield %0 : tensor<4x4xf32>
}
