// The ladder of jax.lax.associative_scan, as JAX writes it, is one running reduction, with neutral elements as starts.
// Guards against arrays that are combined in another order, in part, or with others being taken for a scan's, and against
// a scan from the end that combines them the wrong way round.
// RUN: tessera-opt %s --tessera-fold-empty-values --tessera-form-running-reductions | FileCheck %s

// CHECK-LABEL: @products
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = "stablehlo.reduce_window"(%arg0, %[[ONE]]) <{padding = dense<{{\[\[}}18, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 19>}> ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[AB:.*]] = stablehlo.multiply %[[A]], %[[B]]
// CHECK-NEXT: return %[[AB]]
// CHECK: return %[[R]]
func.func @products(%arg0: tensor<19xf32>) -> (tensor<19xf32>) {
  %0 = stablehlo.slice %arg0 [0:18:2] : (tensor<19xf32>) -> tensor<9xf32>
  %1 = stablehlo.slice %arg0 [1:19:2] : (tensor<19xf32>) -> tensor<9xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<9xf32>
  %3 = stablehlo.slice %2 [0:8:2] : (tensor<9xf32>) -> tensor<4xf32>
  %4 = stablehlo.slice %2 [1:9:2] : (tensor<9xf32>) -> tensor<4xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<4xf32>
  %6 = stablehlo.slice %5 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %7 = stablehlo.slice %5 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<2xf32>
  %9 = stablehlo.slice %8 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.slice %8 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<1xf32>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %13 = stablehlo.slice %8 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<0xf32>
  %15 = stablehlo.slice %8 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %16 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %17 = stablehlo.pad %16, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %18 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %19 = stablehlo.add %17, %18 : tensor<2xf32>
  %20 = stablehlo.slice %19 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %21 = stablehlo.slice %5 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %22 = stablehlo.multiply %20, %21 : tensor<1xf32>
  %23 = stablehlo.slice %5 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %24 = stablehlo.concatenate %23, %22, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %25 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %26 = stablehlo.pad %19, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %27 = stablehlo.add %25, %26 : tensor<4xf32>
  %28 = stablehlo.slice %2 [2:9:2] : (tensor<9xf32>) -> tensor<4xf32>
  %29 = stablehlo.multiply %27, %28 : tensor<4xf32>
  %30 = stablehlo.slice %2 [0:1] : (tensor<9xf32>) -> tensor<1xf32>
  %31 = stablehlo.concatenate %30, %29, dim = 0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %32 = stablehlo.pad %31, %cst_3, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %33 = stablehlo.pad %27, %cst_4, low = [1], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  %34 = stablehlo.add %32, %33 : tensor<9xf32>
  %35 = stablehlo.slice %arg0 [2:19:2] : (tensor<19xf32>) -> tensor<9xf32>
  %36 = stablehlo.multiply %34, %35 : tensor<9xf32>
  %37 = stablehlo.slice %arg0 [0:1] : (tensor<19xf32>) -> tensor<1xf32>
  %38 = stablehlo.concatenate %37, %36, dim = 0 : (tensor<1xf32>, tensor<9xf32>) -> tensor<10xf32>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %39 = stablehlo.pad %38, %cst_5, low = [0], high = [0], interior = [1] : (tensor<10xf32>, tensor<f32>) -> tensor<19xf32>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %40 = stablehlo.pad %34, %cst_6, low = [1], high = [1], interior = [1] : (tensor<9xf32>, tensor<f32>) -> tensor<19xf32>
  %41 = stablehlo.add %39, %40 : tensor<19xf32>
  return %41 : tensor<19xf32>
}

// The program scans the beginning of an array: its slice and the ladder's own are one.
// CHECK-LABEL: @beginning
// CHECK: %[[PART:.*]] = stablehlo.slice %arg0 [0:19]
// CHECK: %[[R:.*]] = "stablehlo.reduce_window"(%[[PART]], %{{.*}}) <{padding = dense<{{\[\[}}18, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 19>}>
// CHECK: return %[[R]]
func.func @beginning(%arg0: tensor<30xf32>) -> (tensor<19xf32>) {
  %0 = stablehlo.slice %arg0 [0:18:2] : (tensor<30xf32>) -> tensor<9xf32>
  %1 = stablehlo.slice %arg0 [1:19:2] : (tensor<30xf32>) -> tensor<9xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<9xf32>
  %3 = stablehlo.slice %2 [0:8:2] : (tensor<9xf32>) -> tensor<4xf32>
  %4 = stablehlo.slice %2 [1:9:2] : (tensor<9xf32>) -> tensor<4xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<4xf32>
  %6 = stablehlo.slice %5 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %7 = stablehlo.slice %5 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<2xf32>
  %9 = stablehlo.slice %8 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.slice %8 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<1xf32>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %13 = stablehlo.slice %8 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<0xf32>
  %15 = stablehlo.slice %8 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %16 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %17 = stablehlo.pad %16, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %18 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %19 = stablehlo.add %17, %18 : tensor<2xf32>
  %20 = stablehlo.slice %19 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %21 = stablehlo.slice %5 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %22 = stablehlo.multiply %20, %21 : tensor<1xf32>
  %23 = stablehlo.slice %5 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %24 = stablehlo.concatenate %23, %22, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %25 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %26 = stablehlo.pad %19, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %27 = stablehlo.add %25, %26 : tensor<4xf32>
  %28 = stablehlo.slice %2 [2:9:2] : (tensor<9xf32>) -> tensor<4xf32>
  %29 = stablehlo.multiply %27, %28 : tensor<4xf32>
  %30 = stablehlo.slice %2 [0:1] : (tensor<9xf32>) -> tensor<1xf32>
  %31 = stablehlo.concatenate %30, %29, dim = 0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %32 = stablehlo.pad %31, %cst_3, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %33 = stablehlo.pad %27, %cst_4, low = [1], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  %34 = stablehlo.add %32, %33 : tensor<9xf32>
  %35 = stablehlo.slice %arg0 [2:19:2] : (tensor<30xf32>) -> tensor<9xf32>
  %36 = stablehlo.multiply %34, %35 : tensor<9xf32>
  %37 = stablehlo.slice %arg0 [0:1] : (tensor<30xf32>) -> tensor<1xf32>
  %38 = stablehlo.concatenate %37, %36, dim = 0 : (tensor<1xf32>, tensor<9xf32>) -> tensor<10xf32>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %39 = stablehlo.pad %38, %cst_5, low = [0], high = [0], interior = [1] : (tensor<10xf32>, tensor<f32>) -> tensor<19xf32>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %40 = stablehlo.pad %34, %cst_6, low = [1], high = [1], interior = [1] : (tensor<9xf32>, tensor<f32>) -> tensor<19xf32>
  %41 = stablehlo.add %39, %40 : tensor<19xf32>
  return %41 : tensor<19xf32>
}

// Narrow floats are combined as f32, and rounded at the end.

// CHECK-LABEL: @narrow_products
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<19xbf16>) -> tensor<19xf32>
// CHECK: %[[R:.*]] = "stablehlo.reduce_window"(%[[X]], %[[ONE]])
// CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: %[[N:.*]] = stablehlo.convert %[[R]] : (tensor<19xf32>) -> tensor<19xbf16>
// CHECK: return %[[N]]
func.func @narrow_products(%arg0: tensor<19xbf16>) -> (tensor<19xbf16>) {
  %0 = stablehlo.slice %arg0 [0:18:2] : (tensor<19xbf16>) -> tensor<9xbf16>
  %1 = stablehlo.slice %arg0 [1:19:2] : (tensor<19xbf16>) -> tensor<9xbf16>
  %2 = stablehlo.multiply %0, %1 : tensor<9xbf16>
  %3 = stablehlo.slice %2 [0:8:2] : (tensor<9xbf16>) -> tensor<4xbf16>
  %4 = stablehlo.slice %2 [1:9:2] : (tensor<9xbf16>) -> tensor<4xbf16>
  %5 = stablehlo.multiply %3, %4 : tensor<4xbf16>
  %6 = stablehlo.slice %5 [0:3:2] : (tensor<4xbf16>) -> tensor<2xbf16>
  %7 = stablehlo.slice %5 [1:4:2] : (tensor<4xbf16>) -> tensor<2xbf16>
  %8 = stablehlo.multiply %6, %7 : tensor<2xbf16>
  %9 = stablehlo.slice %8 [0:1:2] : (tensor<2xbf16>) -> tensor<1xbf16>
  %10 = stablehlo.slice %8 [1:2:2] : (tensor<2xbf16>) -> tensor<1xbf16>
  %11 = stablehlo.multiply %9, %10 : tensor<1xbf16>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xbf16>) -> tensor<0xbf16>
  %13 = stablehlo.slice %8 [2:2:2] : (tensor<2xbf16>) -> tensor<0xbf16>
  %14 = stablehlo.multiply %12, %13 : tensor<0xbf16>
  %15 = stablehlo.slice %8 [0:1] : (tensor<2xbf16>) -> tensor<1xbf16>
  %16 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<1xbf16>, tensor<0xbf16>) -> tensor<1xbf16>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %17 = stablehlo.pad %16, %cst, low = [0], high = [1], interior = [1] : (tensor<1xbf16>, tensor<bf16>) -> tensor<2xbf16>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %18 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xbf16>, tensor<bf16>) -> tensor<2xbf16>
  %19 = stablehlo.add %17, %18 : tensor<2xbf16>
  %20 = stablehlo.slice %19 [0:1] : (tensor<2xbf16>) -> tensor<1xbf16>
  %21 = stablehlo.slice %5 [2:4:2] : (tensor<4xbf16>) -> tensor<1xbf16>
  %22 = stablehlo.multiply %20, %21 : tensor<1xbf16>
  %23 = stablehlo.slice %5 [0:1] : (tensor<4xbf16>) -> tensor<1xbf16>
  %24 = stablehlo.concatenate %23, %22, dim = 0 : (tensor<1xbf16>, tensor<1xbf16>) -> tensor<2xbf16>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %25 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %26 = stablehlo.pad %19, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %27 = stablehlo.add %25, %26 : tensor<4xbf16>
  %28 = stablehlo.slice %2 [2:9:2] : (tensor<9xbf16>) -> tensor<4xbf16>
  %29 = stablehlo.multiply %27, %28 : tensor<4xbf16>
  %30 = stablehlo.slice %2 [0:1] : (tensor<9xbf16>) -> tensor<1xbf16>
  %31 = stablehlo.concatenate %30, %29, dim = 0 : (tensor<1xbf16>, tensor<4xbf16>) -> tensor<5xbf16>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %32 = stablehlo.pad %31, %cst_3, low = [0], high = [0], interior = [1] : (tensor<5xbf16>, tensor<bf16>) -> tensor<9xbf16>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %33 = stablehlo.pad %27, %cst_4, low = [1], high = [1], interior = [1] : (tensor<4xbf16>, tensor<bf16>) -> tensor<9xbf16>
  %34 = stablehlo.add %32, %33 : tensor<9xbf16>
  %35 = stablehlo.slice %arg0 [2:19:2] : (tensor<19xbf16>) -> tensor<9xbf16>
  %36 = stablehlo.multiply %34, %35 : tensor<9xbf16>
  %37 = stablehlo.slice %arg0 [0:1] : (tensor<19xbf16>) -> tensor<1xbf16>
  %38 = stablehlo.concatenate %37, %36, dim = 0 : (tensor<1xbf16>, tensor<9xbf16>) -> tensor<10xbf16>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %39 = stablehlo.pad %38, %cst_5, low = [0], high = [0], interior = [1] : (tensor<10xbf16>, tensor<bf16>) -> tensor<19xbf16>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %40 = stablehlo.pad %34, %cst_6, low = [1], high = [1], interior = [1] : (tensor<9xbf16>, tensor<bf16>) -> tensor<19xbf16>
  %41 = stablehlo.add %39, %40 : tensor<19xbf16>
  return %41 : tensor<19xbf16>
}

// Two arrays from the end on; of the second the results alone.
// CHECK-LABEL: @recurrence
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[R:.*]]:2 = "stablehlo.reduce_window"(%arg1, %arg0, %[[ZERO]], %[[ONE]]) <{padding = dense<{{\[\[}}0, 0], [0, 17]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 18>}> ({
// CHECK-NEXT: ^bb0(%[[X2:.*]]: tensor<f32>, %[[G2:.*]]: tensor<f32>, %[[X1:.*]]: tensor<f32>, %[[G1:.*]]: tensor<f32>):
// CHECK-NEXT: %[[GX:.*]] = stablehlo.multiply %[[G2]], %[[X1]]
// CHECK-NEXT: %[[X:.*]] = stablehlo.add %[[GX]], %[[X2]]
// CHECK-NEXT: %[[G:.*]] = stablehlo.multiply %[[G1]], %[[G2]]
// CHECK-NEXT: return %[[X]], %[[G]]
// CHECK: return %[[R]]#0
func.func @recurrence(%arg0: tensor<2x18xf32>, %arg1: tensor<2x18xf32>) -> (tensor<2x18xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2x18xf32>
  %1 = stablehlo.reverse %arg1, dims = [1] : tensor<2x18xf32>
  %2 = stablehlo.slice %0 [0:2, 0:17:2] : (tensor<2x18xf32>) -> tensor<2x9xf32>
  %3 = stablehlo.slice %1 [0:2, 0:17:2] : (tensor<2x18xf32>) -> tensor<2x9xf32>
  %4 = stablehlo.slice %0 [0:2, 1:18:2] : (tensor<2x18xf32>) -> tensor<2x9xf32>
  %5 = stablehlo.slice %1 [0:2, 1:18:2] : (tensor<2x18xf32>) -> tensor<2x9xf32>
  %6 = stablehlo.multiply %2, %4 : tensor<2x9xf32>
  %7 = stablehlo.multiply %4, %3 : tensor<2x9xf32>
  %8 = stablehlo.add %7, %5 : tensor<2x9xf32>
  %9 = stablehlo.slice %6 [0:2, 0:8:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %10 = stablehlo.slice %8 [0:2, 0:8:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %11 = stablehlo.slice %6 [0:2, 1:9:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %12 = stablehlo.slice %8 [0:2, 1:9:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %13 = stablehlo.multiply %9, %11 : tensor<2x4xf32>
  %14 = stablehlo.multiply %11, %10 : tensor<2x4xf32>
  %15 = stablehlo.add %14, %12 : tensor<2x4xf32>
  %16 = stablehlo.slice %13 [0:2, 0:3:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %17 = stablehlo.slice %15 [0:2, 0:3:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %18 = stablehlo.slice %13 [0:2, 1:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %19 = stablehlo.slice %15 [0:2, 1:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %20 = stablehlo.multiply %16, %18 : tensor<2x2xf32>
  %21 = stablehlo.multiply %18, %17 : tensor<2x2xf32>
  %22 = stablehlo.add %21, %19 : tensor<2x2xf32>
  %23 = stablehlo.slice %22 [0:2, 0:1:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %24 = stablehlo.slice %20 [0:2, 1:2:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %25 = stablehlo.slice %22 [0:2, 1:2:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %26 = stablehlo.multiply %24, %23 : tensor<2x1xf32>
  %27 = stablehlo.add %26, %25 : tensor<2x1xf32>
  %28 = stablehlo.slice %27 [0:2, 0:0] : (tensor<2x1xf32>) -> tensor<2x0xf32>
  %29 = stablehlo.slice %20 [0:2, 2:2:2] : (tensor<2x2xf32>) -> tensor<2x0xf32>
  %30 = stablehlo.slice %22 [0:2, 2:2:2] : (tensor<2x2xf32>) -> tensor<2x0xf32>
  %31 = stablehlo.multiply %29, %28 : tensor<2x0xf32>
  %32 = stablehlo.add %31, %30 : tensor<2x0xf32>
  %33 = stablehlo.slice %22 [0:2, 0:1] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %34 = stablehlo.concatenate %33, %32, dim = 1 : (tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x1xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %35 = stablehlo.pad %34, %cst, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %36 = stablehlo.pad %27, %cst_0, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
  %37 = stablehlo.add %35, %36 : tensor<2x2xf32>
  %38 = stablehlo.slice %37 [0:2, 0:1] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %39 = stablehlo.slice %13 [0:2, 2:4:2] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %40 = stablehlo.slice %15 [0:2, 2:4:2] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %41 = stablehlo.multiply %39, %38 : tensor<2x1xf32>
  %42 = stablehlo.add %41, %40 : tensor<2x1xf32>
  %43 = stablehlo.slice %15 [0:2, 0:1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %44 = stablehlo.concatenate %43, %42, dim = 1 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %45 = stablehlo.pad %44, %cst_1, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %46 = stablehlo.pad %37, %cst_2, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %47 = stablehlo.add %45, %46 : tensor<2x4xf32>
  %48 = stablehlo.slice %6 [0:2, 2:9:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %49 = stablehlo.slice %8 [0:2, 2:9:2] : (tensor<2x9xf32>) -> tensor<2x4xf32>
  %50 = stablehlo.multiply %48, %47 : tensor<2x4xf32>
  %51 = stablehlo.add %50, %49 : tensor<2x4xf32>
  %52 = stablehlo.slice %8 [0:2, 0:1] : (tensor<2x9xf32>) -> tensor<2x1xf32>
  %53 = stablehlo.concatenate %52, %51, dim = 1 : (tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x5xf32>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %54 = stablehlo.pad %53, %cst_3, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2x9xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %55 = stablehlo.pad %47, %cst_4, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x9xf32>
  %56 = stablehlo.add %54, %55 : tensor<2x9xf32>
  %57 = stablehlo.slice %56 [0:2, 0:8] : (tensor<2x9xf32>) -> tensor<2x8xf32>
  %58 = stablehlo.slice %0 [0:2, 2:18:2] : (tensor<2x18xf32>) -> tensor<2x8xf32>
  %59 = stablehlo.slice %1 [0:2, 2:18:2] : (tensor<2x18xf32>) -> tensor<2x8xf32>
  %60 = stablehlo.multiply %58, %57 : tensor<2x8xf32>
  %61 = stablehlo.add %60, %59 : tensor<2x8xf32>
  %62 = stablehlo.slice %1 [0:2, 0:1] : (tensor<2x18xf32>) -> tensor<2x1xf32>
  %63 = stablehlo.concatenate %62, %61, dim = 1 : (tensor<2x1xf32>, tensor<2x8xf32>) -> tensor<2x9xf32>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %64 = stablehlo.pad %63, %cst_5, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x9xf32>, tensor<f32>) -> tensor<2x18xf32>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %65 = stablehlo.pad %56, %cst_6, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<2x9xf32>, tensor<f32>) -> tensor<2x18xf32>
  %66 = stablehlo.add %64, %65 : tensor<2x18xf32>
  %67 = stablehlo.reverse %66, dims = [1] : tensor<2x18xf32>
  return %67 : tensor<2x18xf32>
}

// Nothing is known that changes no difference.
// CHECK-LABEL: @differences
// CHECK-NOT: stablehlo.reduce_window
// CHECK: return
func.func @differences(%arg0: tensor<17xf32>) -> (tensor<17xf32>) {
  %0 = stablehlo.slice %arg0 [0:16:2] : (tensor<17xf32>) -> tensor<8xf32>
  %1 = stablehlo.slice %arg0 [1:17:2] : (tensor<17xf32>) -> tensor<8xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<8xf32>
  %3 = stablehlo.slice %2 [0:7:2] : (tensor<8xf32>) -> tensor<4xf32>
  %4 = stablehlo.slice %2 [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  %5 = stablehlo.subtract %3, %4 : tensor<4xf32>
  %6 = stablehlo.slice %5 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %7 = stablehlo.slice %5 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %8 = stablehlo.subtract %6, %7 : tensor<2xf32>
  %9 = stablehlo.slice %8 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.slice %8 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %11 = stablehlo.subtract %9, %10 : tensor<1xf32>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %13 = stablehlo.slice %8 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %14 = stablehlo.subtract %12, %13 : tensor<0xf32>
  %15 = stablehlo.slice %8 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %16 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %17 = stablehlo.pad %16, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %18 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %19 = stablehlo.add %17, %18 : tensor<2xf32>
  %20 = stablehlo.slice %19 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %21 = stablehlo.slice %5 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %22 = stablehlo.subtract %20, %21 : tensor<1xf32>
  %23 = stablehlo.slice %5 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %24 = stablehlo.concatenate %23, %22, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %25 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %26 = stablehlo.pad %19, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %27 = stablehlo.add %25, %26 : tensor<4xf32>
  %28 = stablehlo.slice %27 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
  %29 = stablehlo.slice %2 [2:8:2] : (tensor<8xf32>) -> tensor<3xf32>
  %30 = stablehlo.subtract %28, %29 : tensor<3xf32>
  %31 = stablehlo.slice %2 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %32 = stablehlo.concatenate %31, %30, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %33 = stablehlo.pad %32, %cst_3, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %34 = stablehlo.pad %27, %cst_4, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %35 = stablehlo.add %33, %34 : tensor<8xf32>
  %36 = stablehlo.slice %arg0 [2:17:2] : (tensor<17xf32>) -> tensor<8xf32>
  %37 = stablehlo.subtract %35, %36 : tensor<8xf32>
  %38 = stablehlo.slice %arg0 [0:1] : (tensor<17xf32>) -> tensor<1xf32>
  %39 = stablehlo.concatenate %38, %37, dim = 0 : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %40 = stablehlo.pad %39, %cst_5, low = [0], high = [0], interior = [1] : (tensor<9xf32>, tensor<f32>) -> tensor<17xf32>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %41 = stablehlo.pad %35, %cst_6, low = [1], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<17xf32>
  %42 = stablehlo.add %40, %41 : tensor<17xf32>
  return %42 : tensor<17xf32>
}

// One of the combinations is of other elements.
// CHECK-LABEL: @spoiled
// CHECK-NOT: stablehlo.reduce_window
// CHECK: return
func.func @spoiled(%arg0: tensor<17xf32>) -> (tensor<17xf32>) {
  %0 = stablehlo.slice %arg0 [0:16:2] : (tensor<17xf32>) -> tensor<8xf32>
  %1 = stablehlo.slice %arg0 [1:17:2] : (tensor<17xf32>) -> tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  %3 = stablehlo.slice %2 [0:7:2] : (tensor<8xf32>) -> tensor<4xf32>
  %4 = stablehlo.slice %2 [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<4xf32>
  %6 = stablehlo.slice %5 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %7 = stablehlo.slice %5 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<2xf32>
  %9 = stablehlo.slice %8 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.slice %8 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<1xf32>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %13 = stablehlo.slice %8 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<0xf32>
  %15 = stablehlo.slice %8 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %16 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %17 = stablehlo.pad %16, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %18 = stablehlo.pad %11, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %19 = stablehlo.add %17, %18 : tensor<2xf32>
  %20 = stablehlo.slice %19 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %21 = stablehlo.slice %5 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %22 = stablehlo.multiply %20, %21 : tensor<1xf32>
  %23 = stablehlo.slice %5 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %24 = stablehlo.concatenate %23, %22, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %25 = stablehlo.pad %24, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %26 = stablehlo.pad %19, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %27 = stablehlo.add %25, %26 : tensor<4xf32>
  %28 = stablehlo.slice %27 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
  %29 = stablehlo.slice %2 [2:8:2] : (tensor<8xf32>) -> tensor<3xf32>
  %30 = stablehlo.multiply %28, %29 : tensor<3xf32>
  %31 = stablehlo.slice %2 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %32 = stablehlo.concatenate %31, %30, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %33 = stablehlo.pad %32, %cst_3, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %34 = stablehlo.pad %27, %cst_4, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %35 = stablehlo.add %33, %34 : tensor<8xf32>
  %36 = stablehlo.slice %arg0 [2:17:2] : (tensor<17xf32>) -> tensor<8xf32>
  %37 = stablehlo.multiply %35, %35 : tensor<8xf32>
  %38 = stablehlo.slice %arg0 [0:1] : (tensor<17xf32>) -> tensor<1xf32>
  %39 = stablehlo.concatenate %38, %37, dim = 0 : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %40 = stablehlo.pad %39, %cst_5, low = [0], high = [0], interior = [1] : (tensor<9xf32>, tensor<f32>) -> tensor<17xf32>
  %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %41 = stablehlo.pad %35, %cst_6, low = [1], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<17xf32>
  %42 = stablehlo.add %40, %41 : tensor<17xf32>
  return %42 : tensor<17xf32>
}
