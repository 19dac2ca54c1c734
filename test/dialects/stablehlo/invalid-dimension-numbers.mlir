// Numbers that no convolution has, in an attribute that none holds, are kept as they are written: the printer of other
// implementations ends its process over them.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// Wrong would be: roles are written at places that are none.
// CHECK: #stablehlo.conv<raw input_batch_dimension = -1, input_feature_dimension = 0, kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 0, output_batch_dimension = 0, output_feature_dimension = 0, input_spatial_dimensions = [], kernel_spatial_dimensions = [9000000000], output_spatial_dimensions = []>
func.func @f() attributes {dims = #stablehlo.conv<raw input_batch_dimension = -1, kernel_spatial_dimensions = [9000000000]>} {
  return
}
