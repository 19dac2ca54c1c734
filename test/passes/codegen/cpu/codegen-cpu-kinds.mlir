// Every kind of kernel gets code; only tiles of a product and rows of a sort need scratch.
// RUN: tessera-opt %s --tessera-codegen --mlir-elide-resource-strings-if-larger=8 | FileCheck %s

// A product with its epilogue: b's columns are copied into panels.
// CHECK: exec.kernel @product
// CHECK-SAME: grid = {{[0-9]+}} : i64, scratch_bytes = {{[1-9][0-9]*}} : i64
exec.kernel @product(%a: tensor<256x256xf32>, %b: tensor<128x256xf32>, %c: tensor<128xf32>) -> tensor<256x128xf32> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<256x256xf32>, tensor<128x256xf32>) -> tensor<256x128xf32>
  %e = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<128xf32>) -> tensor<256x128xf32>
  %s = stablehlo.add %d, %e : tensor<256x128xf32>
  exec.yield %s : tensor<256x128xf32>
}

// CHECK: exec.kernel @scatter
// CHECK-SAME: grid = {{[0-9]+}} : i64, scratch_bytes = 0 : i64
exec.kernel @scatter(%x: tensor<10x33xf32>, %i: tensor<6x1xi32>, %u: tensor<6x33xf32>) -> tensor<10x33xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<10x33xf32>, tensor<6x1xi32>, tensor<6x33xf32>) -> tensor<10x33xf32>
  exec.yield %r : tensor<10x33xf32>
}

// A row in two places: 37 records of eight bytes, with room for two vectors, each in lines of 64 bytes.
// CHECK: exec.kernel @sort
// CHECK-SAME: scratch_bytes = 1152 : i64
exec.kernel @sort(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  exec.yield %r : tensor<5x37xf32>
}

// Types of less than a byte, and of eight bits, compute in i4 and f32.
// CHECK: exec.kernel @narrow
// CHECK-SAME: grid = 1 : i64
exec.kernel @narrow(%x: tensor<9xi4>, %y: tensor<9xf8E4M3FN>) -> (tensor<9xf4E2M1FN>, tensor<9x2xi2>) {
  %a = stablehlo.add %x, %x : tensor<9xi4>
  %b = stablehlo.convert %a : (tensor<9xi4>) -> tensor<9xf8E4M3FN>
  %c = stablehlo.multiply %b, %y : tensor<9xf8E4M3FN>
  %d = stablehlo.convert %c : (tensor<9xf8E4M3FN>) -> tensor<9xf4E2M1FN>
  %e = stablehlo.bitcast_convert %a : (tensor<9xi4>) -> tensor<9x2xi2>
  exec.yield %d, %e : tensor<9xf4E2M1FN>, tensor<9x2xi2>
}

// CHECK: exec.kernel @complex
exec.kernel @complex(%x: tensor<9xcomplex<f64>>) -> tensor<9xcomplex<f64>> {
  %a = stablehlo.tanh %x : tensor<9xcomplex<f64>>
  %b = stablehlo.power %a, %x : tensor<9xcomplex<f64>>
  exec.yield %b : tensor<9xcomplex<f64>>
}
