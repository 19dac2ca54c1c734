// Unusual input that is fine all the same.
// RUN: tessera-opt %s | FileCheck %s
// RUN: tessera explain %s --html=%t.html
// RUN: tessera compile %s -o %t.tsr --report=%t.json && tessera run %t.tsr

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // A computation that ends without a return gets one.
  // CHECK: sdy.return
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
  } : () -> ()
  // The largest number of a group.
  sdy.sharding_group %a group_id=9223372036854775807 : tensor<4xf32>
  // A file name that is no UTF-8, which programs and reports are.
  %0 = stablehlo.add %a, %a : tensor<4xf32> loc("\FF\FE.py":1:2)
  return %0 : tensor<4xf32>
}
