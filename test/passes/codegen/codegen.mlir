// The whole phase: the module carries the machine code of its kernels, and each kernel what it costs and how many cells it has.
// Of a module that names no target the code is for this machine.
// RUN: tessera-opt %s --tessera-codegen | FileCheck %s

// CHECK: module attributes {tessera.target = #tessera.target<cpu, <"{{.+}}", vector_bits = {{128|256|512}}
// CHECK: exec.kernel @tanh_0{{.*}} attributes {flops = {{.*}}, grid = 1 : i64
exec.kernel @tanh_0(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  exec.yield %0 : tensor<8xf32>
}
// CHECK: exec.image "cpu" for "{{.+}}" [{{.*}}] dense_resource<{{.*}}> : tensor<{{[0-9]+}}xi8>
