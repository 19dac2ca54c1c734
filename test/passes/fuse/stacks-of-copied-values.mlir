// RUN: tessera compile %s -o %t.tsr --quiet --target-cpu=x86-64-v3 --memory=1800000
// RUN: not tessera compile %s -o %t.tsr --quiet --target-cpu=x86-64-v3 --memory=1600000 2>&1 | FileCheck %s

// Two layers of attention and their gradient by queries, which are not put away. A plan that fills the stack of exponentials
// with a copy of them, and makes their sums of what it was filled with, is not carried out as a whole.
// CHECK: does not fit into the memory of each device
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x128x8xf32>, %arg1: tensor<1x6x128x8xf32>, %arg2: tensor<1x6x128x8xf32>, %arg3: tensor<128xf32>, %arg4: tensor<2x48x48xf32>, %arg5: tensor<1x6x128x8xf32>) -> (tensor<1x6x128x8xf32> {jax.result_info = "result[0]"}, tensor<2x48x48xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x1x6x128x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1x6x128x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1x6x128x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x128x48xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5:10 = stablehlo.while(%iterArg = %arg4, %iterArg_14 = %arg1, %iterArg_15 = %0, %iterArg_16 = %arg2, %iterArg_17 = %c, %iterArg_18 = %arg0, %iterArg_19 = %1, %iterArg_20 = %2, %iterArg_21 = %3, %iterArg_22 = %4) : tensor<2x48x48xf32>, tensor<1x6x128x8xf32>, tensor<1x1x1x128xf32>, tensor<1x6x128x8xf32>, tensor<i32>, tensor<1x6x128x8xf32>, tensor<2x1x6x128x128xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x128x48xf32>
    cond {
      %c_23 = stablehlo.constant dense<2> : tensor<i32>
      %45 = stablehlo.compare LT, %iterArg_17, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    } do {
      %45 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_17) : (tensor<2x48x48xf32>, tensor<i32>) -> tensor<48x48xf32>
      %46:5 = func.call @closed_call(%iterArg_14, %iterArg_15, %iterArg_16, %iterArg_18, %45) : (tensor<1x6x128x8xf32>, tensor<1x1x1x128xf32>, tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>, tensor<48x48xf32>) -> (tensor<1x6x128x8xf32>, tensor<1x6x128x128xf32>, tensor<1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<1x128x48xf32>)
      %47 = func.call @dynamic_update_index_in_dim(%iterArg_19, %46#1, %iterArg_17) : (tensor<2x1x6x128x128xf32>, tensor<1x6x128x128xf32>, tensor<i32>) -> tensor<2x1x6x128x128xf32>
      %48 = func.call @dynamic_update_index_in_dim_0(%iterArg_20, %46#2, %iterArg_17) : (tensor<2x1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<i32>) -> tensor<2x1x6x128x1xf32>
      %49 = func.call @dynamic_update_index_in_dim_0(%iterArg_21, %46#3, %iterArg_17) : (tensor<2x1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<i32>) -> tensor<2x1x6x128x1xf32>
      %50 = func.call @dynamic_update_index_in_dim_1(%iterArg_22, %46#4, %iterArg_17) : (tensor<2x1x128x48xf32>, tensor<1x128x48xf32>, tensor<i32>) -> tensor<2x1x128x48xf32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %51 = stablehlo.add %iterArg_17, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %51, %46#0, %47, %48, %49, %50 : tensor<2x48x48xf32>, tensor<1x6x128x8xf32>, tensor<1x1x1x128xf32>, tensor<1x6x128x8xf32>, tensor<i32>, tensor<1x6x128x8xf32>, tensor<2x1x6x128x128xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x128x48xf32>
    }
    %6 = stablehlo.dot_general %5#5, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x128xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x6x128x128xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<1x6x128x128xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<128xf32>) -> tensor<1x1x1x128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x6x128x128xf32>
    %11 = stablehlo.subtract %8, %10 : tensor<1x6x128x128xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x6x128xf32>
    %14 = stablehlo.maximum %13, %12 : tensor<1x6x128xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %17 = stablehlo.subtract %11, %16 : tensor<1x6x128x128xf32>
    %18 = stablehlo.exponential %17 : tensor<1x6x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %21 = stablehlo.multiply %20, %20 : tensor<1x6x128x1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x6x128x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<1x6x128x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x6x128x8xf32>
    %25 = stablehlo.multiply %24, %arg5 : tensor<1x6x128x8xf32>
    %26 = stablehlo.dot_general %25, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x128xf32>
    %27 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<1x6x128x128xf32>
    %29 = stablehlo.multiply %28, %18 : tensor<1x6x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %32 = stablehlo.negate %31 : tensor<1x6x128x1xf32>
    %33 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %34 = stablehlo.divide %26, %33 : tensor<1x6x128x128xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%32 init: %cst_10) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x6x128x1xf32>, tensor<f32>) -> tensor<6x128xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [1, 2] : (tensor<6x128xf32>) -> tensor<1x6x128xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x128xf32>
    %38 = stablehlo.add %34, %37 : tensor<1x6x128x128xf32>
    %39 = stablehlo.multiply %38, %18 : tensor<1x6x128x128xf32>
    %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x6x128x128xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<1x6x128x128xf32>
    %42 = stablehlo.dot_general %41, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x128xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x48x48xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %44:10 = stablehlo.while(%iterArg = %5#6, %iterArg_14 = %5#7, %iterArg_15 = %5#8, %iterArg_16 = %arg4, %iterArg_17 = %5#9, %iterArg_18 = %arg1, %iterArg_19 = %arg2, %iterArg_20 = %c_13, %iterArg_21 = %42, %iterArg_22 = %43) : tensor<2x1x6x128x128xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x6x128x1xf32>, tensor<2x48x48xf32>, tensor<2x1x128x48xf32>, tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>, tensor<i32>, tensor<1x6x128x8xf32>, tensor<2x48x48xf32>
    cond {
      %c_23 = stablehlo.constant dense<2> : tensor<i32>
      %45 = stablehlo.compare LT, %iterArg_20, %c_23, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    } do {
      %c_23 = stablehlo.constant dense<2> : tensor<i32>
      %45 = stablehlo.subtract %c_23, %iterArg_20 : tensor<i32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %46 = stablehlo.subtract %45, %c_24 : tensor<i32>
      %47 = func.call @dynamic_index_in_dim_2(%iterArg, %46) : (tensor<2x1x6x128x128xf32>, tensor<i32>) -> tensor<1x6x128x128xf32>
      %48 = func.call @dynamic_index_in_dim_3(%iterArg_14, %46) : (tensor<2x1x6x128x1xf32>, tensor<i32>) -> tensor<1x6x128x1xf32>
      %49 = func.call @dynamic_index_in_dim_3(%iterArg_15, %46) : (tensor<2x1x6x128x1xf32>, tensor<i32>) -> tensor<1x6x128x1xf32>
      %50 = func.call @dynamic_index_in_dim(%iterArg_16, %46) : (tensor<2x48x48xf32>, tensor<i32>) -> tensor<48x48xf32>
      %51 = func.call @dynamic_index_in_dim_4(%iterArg_17, %46) : (tensor<2x1x128x48xf32>, tensor<i32>) -> tensor<1x128x48xf32>
      %52:2 = func.call @closed_call_5(%iterArg_18, %iterArg_19, %iterArg_21, %47, %48, %49, %50, %51) : (tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>, tensor<1x6x128x128xf32>, tensor<1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<48x48xf32>, tensor<1x128x48xf32>) -> (tensor<1x6x128x8xf32>, tensor<48x48xf32>)
      %53 = func.call @dynamic_update_index_in_dim_6(%iterArg_22, %52#1, %46) : (tensor<2x48x48xf32>, tensor<48x48xf32>, tensor<i32>) -> tensor<2x48x48xf32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %54 = stablehlo.add %iterArg_20, %c_25 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %54, %52#0, %53 : tensor<2x1x6x128x128xf32>, tensor<2x1x6x128x1xf32>, tensor<2x1x6x128x1xf32>, tensor<2x48x48xf32>, tensor<2x1x128x48xf32>, tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>, tensor<i32>, tensor<1x6x128x8xf32>, tensor<2x48x48xf32>
    }
    return %44#8, %44#9 : tensor<1x6x128x8xf32>, tensor<2x48x48xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x48x48xf32>, %arg1: tensor<i32>) -> tensor<48x48xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 48, 48] : (tensor<2x48x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x48x48xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x48x48xf32>) -> tensor<48x48xf32>
    return %1 : tensor<48x48xf32>
  }
  func.func private @closed_call(%arg0: tensor<1x6x128x8xf32>, %arg1: tensor<1x1x1x128xf32>, %arg2: tensor<1x6x128x8xf32>, %arg3: tensor<1x6x128x8xf32>, %arg4: tensor<48x48xf32>) -> (tensor<1x6x128x8xf32>, tensor<1x6x128x128xf32>, tensor<1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<1x128x48xf32>) {
    %0 = stablehlo.dot_general %arg3, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x128xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x6x128x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x6x128x128xf32>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 3] : (tensor<1x1x1x128xf32>) -> tensor<1x6x128x128xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<1x6x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x6x128xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<1x6x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %10 = stablehlo.subtract %4, %9 : tensor<1x6x128x128xf32>
    %11 = stablehlo.exponential %10 : tensor<1x6x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %15 = stablehlo.divide %11, %14 : tensor<1x6x128x128xf32>
    %16 = stablehlo.multiply %13, %13 : tensor<1x6x128x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x6x128x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<1x6x128x1xf32>
    %19 = stablehlo.dot_general %15, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x128xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x8xf32>
    %20 = stablehlo.transpose %19, dims = [0, 2, 1, 3] : (tensor<1x6x128x8xf32>) -> tensor<1x128x6x8xf32>
    %21 = stablehlo.reshape %20 : (tensor<1x128x6x8xf32>) -> tensor<1x128x48xf32>
    %22 = stablehlo.dot_general %21, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x128x48xf32>, tensor<48x48xf32>) -> tensor<1x128x48xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x128x48xf32>) -> tensor<1x128x6x8xf32>
    %24 = stablehlo.transpose %23, dims = [0, 2, 1, 3] : (tensor<1x128x6x8xf32>) -> tensor<1x6x128x8xf32>
    %25 = stablehlo.add %arg3, %24 : tensor<1x6x128x8xf32>
    return %25, %11, %13, %18, %21 : tensor<1x6x128x8xf32>, tensor<1x6x128x128xf32>, tensor<1x6x128x1xf32>, tensor<1x6x128x1xf32>, tensor<1x128x48xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x1x6x128x128xf32>, %arg1: tensor<1x6x128x128xf32>, %arg2: tensor<i32>) -> tensor<2x1x6x128x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<1x6x128x128xf32>) -> tensor<1x1x6x128x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<2x1x6x128x128xf32>, tensor<1x1x6x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x6x128x128xf32>
    return %1 : tensor<2x1x6x128x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<2x1x6x128x1xf32>, %arg1: tensor<1x6x128x1xf32>, %arg2: tensor<i32>) -> tensor<2x1x6x128x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<1x6x128x1xf32>) -> tensor<1x1x6x128x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<2x1x6x128x1xf32>, tensor<1x1x6x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x6x128x1xf32>
    return %1 : tensor<2x1x6x128x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<2x1x128x48xf32>, %arg1: tensor<1x128x48xf32>, %arg2: tensor<i32>) -> tensor<2x1x128x48xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x128x48xf32>) -> tensor<1x1x128x48xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<2x1x128x48xf32>, tensor<1x1x128x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x128x48xf32>
    return %1 : tensor<2x1x128x48xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<2x1x6x128x128xf32>, %arg1: tensor<i32>) -> tensor<1x6x128x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 1, 6, 128, 128] : (tensor<2x1x6x128x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x6x128x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x6x128x128xf32>) -> tensor<1x6x128x128xf32>
    return %1 : tensor<1x6x128x128xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<2x1x6x128x1xf32>, %arg1: tensor<i32>) -> tensor<1x6x128x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 1, 6, 128, 1] : (tensor<2x1x6x128x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x6x128x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x6x128x1xf32>) -> tensor<1x6x128x1xf32>
    return %1 : tensor<1x6x128x1xf32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<2x1x128x48xf32>, %arg1: tensor<i32>) -> tensor<1x128x48xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 128, 48] : (tensor<2x1x128x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x128x48xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x128x48xf32>) -> tensor<1x128x48xf32>
    return %1 : tensor<1x128x48xf32>
  }
  func.func private @closed_call_5(%arg0: tensor<1x6x128x8xf32>, %arg1: tensor<1x6x128x8xf32>, %arg2: tensor<1x6x128x8xf32>, %arg3: tensor<1x6x128x128xf32>, %arg4: tensor<1x6x128x1xf32>, %arg5: tensor<1x6x128x1xf32>, %arg6: tensor<48x48xf32>, %arg7: tensor<1x128x48xf32>) -> (tensor<1x6x128x8xf32>, tensor<48x48xf32>) {
    %0 = stablehlo.transpose %arg2, dims = [0, 2, 1, 3] : (tensor<1x6x128x8xf32>) -> tensor<1x128x6x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x128x6x8xf32>) -> tensor<1x128x48xf32>
    %2 = stablehlo.dot_general %1, %arg7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x128x48xf32>, tensor<1x128x48xf32>) -> tensor<48x48xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<48x48xf32>) -> tensor<48x48xf32>
    %4 = stablehlo.dot_general %1, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x128x48xf32>, tensor<48x48xf32>) -> tensor<1x128x48xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x128x48xf32>) -> tensor<1x128x6x8xf32>
    %6 = stablehlo.transpose %5, dims = [0, 2, 1, 3] : (tensor<1x128x6x8xf32>) -> tensor<1x6x128x8xf32>
    %7 = stablehlo.dot_general %6, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x8xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x128xf32>
    %8 = stablehlo.broadcast_in_dim %arg5, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<1x6x128x128xf32>
    %10 = stablehlo.multiply %9, %arg3 : tensor<1x6x128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<1x6x128x128xf32>, tensor<f32>) -> tensor<1x6x128xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x6x128xf32>) -> tensor<1x6x128x1xf32>
    %13 = stablehlo.negate %12 : tensor<1x6x128x1xf32>
    %14 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2, 3] : (tensor<1x6x128x1xf32>) -> tensor<1x6x128x128xf32>
    %15 = stablehlo.divide %7, %14 : tensor<1x6x128x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x6x128x1xf32>, tensor<f32>) -> tensor<6x128xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [1, 2] : (tensor<6x128xf32>) -> tensor<1x6x128xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x6x128xf32>) -> tensor<1x6x128x128xf32>
    %19 = stablehlo.add %15, %18 : tensor<1x6x128x128xf32>
    %20 = stablehlo.multiply %19, %arg3 : tensor<1x6x128x128xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x6x128x128xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<1x6x128x128xf32>
    %23 = stablehlo.dot_general %22, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x6x128x128xf32>, tensor<1x6x128x8xf32>) -> tensor<1x6x128x8xf32>
    %24 = stablehlo.add %arg2, %23 : tensor<1x6x128x8xf32>
    return %24, %3 : tensor<1x6x128x8xf32>, tensor<48x48xf32>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<2x48x48xf32>, %arg1: tensor<48x48xf32>, %arg2: tensor<i32>) -> tensor<2x48x48xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<48x48xf32>) -> tensor<1x48x48xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<2x48x48xf32>, tensor<1x48x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x48x48xf32>
    return %1 : tensor<2x48x48xf32>
  }
}
