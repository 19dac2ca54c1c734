// Loops, branches and tuples: what breaks a constraint of the specification is refused by its number.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C1: cond must return one tensor<i1>}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }, {
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<i1>) {
  // expected-error@+1 {{constraint C2: body returns 0 values, expected 1}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %b : tensor<i1>
  }, {
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<i1>, %b: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2: false_branch returns 'tensor<i1>' as value 0, expected 'tensor<4xf32>'}}
  %0 = "stablehlo.if"(%a) ({
    stablehlo.return %b : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<i1>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<i32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{constraint C1: needs a branch}}
  %0 = "stablehlo.case"(%a) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tuple<tensor<4xf32>>) {
  // expected-error@+1 {{constraint C1: index is 1, the tuple has 1 elements}}
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{names a decomposition '@nowhere' that the module lacks}}
  %0 = stablehlo.composite "a.x" %a {decomposition = @nowhere} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%i: tensor<ui32>, %a: tensor<4xf32>) {
  // expected-error@+1 {{takes a tensor<i32> as index}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<ui32>) -> tensor<4xf32>
  return
}

// -----

// Values have the specification's element types, in tuples too.
func.func @f(%a: tensor<4xi3>) {
  // expected-error@+1 {{operand #0 must be variadic of value of the specification's types, but got 'tensor<4xi3>'}}
  %0 = stablehlo.optimization_barrier %a : tensor<4xi3>
  return
}

// -----

// One scale for each index of the quantized dimension.
func.func @f(%a: tensor<4x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 must be variadic of value of the specification's types}}
  %0 = stablehlo.tuple %a : tuple<tensor<4x!quant.uniform<i8:f32:1, {1.0, 2.0}>>>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{result_layouts has dense<1> : tensor<2xindex> for 'tensor<2x3xf32>', which is no order of its dimensions}}
  %0 = stablehlo.custom_call @g(%a) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{has an alias of a value of 'tensor<2x4xf32>' to one of 'tensor<2x3xf32>'}}
  %0 = stablehlo.custom_call @g(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>) -> (tensor<i1>, tensor<2x4xf32>) {
  %0:2 = stablehlo.custom_call @g(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> (tensor<i1>, tensor<2x4xf32>)
  return %0#0, %0#1 : tensor<i1>, tensor<2x4xf32>
}
