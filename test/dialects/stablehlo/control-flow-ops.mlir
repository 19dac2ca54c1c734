// Loops, branches, tuples and calls: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, tensor<4xi32>>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4xf32>, tensor<4xi32>>
  return
}

// -----

// CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
func.func @f(%arg0: tuple<tensor<4xf32>, tensor<4xi32>>) {
  %0 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.optimization_barrier()
func.func @f() {
  stablehlo.optimization_barrier()
  return
}

// -----

// CHECK: "stablehlo.if"(%{{.*}}) ({
func.func @f(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = "stablehlo.if"(%arg0) ({
    stablehlo.return %arg1 : tensor<4xf32>
  }, {
    stablehlo.return %arg2 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

// CHECK: "stablehlo.case"(%{{.*}}) ({
func.func @f(%arg0: tensor<i32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<4xf32>
  }, {
    stablehlo.return %arg2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: "stablehlo.case"(%{{.*}}) ({
func.func @f(%arg0: tensor<i32>) {
  "stablehlo.case"(%arg0) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<4xf32> attributes {foo = 3 : i64}
// CHECK: cond {
// CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK: } do {
func.func @f(%arg0: tensor<i32>, %arg1: tensor<4xf32>) {
  %0:2 = stablehlo.while(%arg2 = %arg0, %arg3 = %arg1) : tensor<i32>, tensor<4xf32> attributes {foo = 3 : i64}
  cond {
    %1 = stablehlo.compare LT, %arg2, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %arg2, %arg3 : tensor<i32>, tensor<4xf32>
  }
  return
}

// -----

// CHECK: stablehlo.while()
// CHECK: cond {
// CHECK: stablehlo.constant dense<false> : tensor<i1>
// CHECK: } do {
func.func @f() {
  stablehlo.while()
  cond {
    %0 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// -----

// CHECK: stablehlo.composite "my.op" %{{.*}} {composite_attributes = {k = 1 : i64}, decomposition = @g, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
func.func @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 1 : i64}, decomposition = @g, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.composite "my.op" %{{.*}}({
func.func @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.composite "my.op" %arg0({
    stablehlo.return
  }) {decomposition = @g} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo(%{{.*}}) {api_version = 4 : i32, backend_config = {a = 1 : i64}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i64}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo.bar$x(%{{.*}}) {operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo.bar$x(%arg0) {operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo(%{{.*}}) {backend_config = "", called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) {backend_config = "", called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo(%{{.*}}) {api_version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) {api_version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.custom_call @foo() : () -> ()
func.func @f() {
  stablehlo.custom_call @foo() : () -> ()
  return
}

// -----

// CHECK: stablehlo.custom_call @foo(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @foo(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

// CHECK: "stablehlo.async_start"(%{{.*}}) ({
// CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
// CHECK: "stablehlo.async_done"(%{{.*}}) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%arg1: tensor<4xf32>):
    %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return
}
