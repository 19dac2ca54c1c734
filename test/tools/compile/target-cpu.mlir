// --target-cpu fixes the instruction set, which the report and the program tell, on any machine. x86-64-v4 is compiled for also where the
// processor lacks AVX-512; what is no such processor is refused before anything is done.
// RUN: tessera compile %s -o %t.tsr --target-cpu=x86-64-v4 --report=- | FileCheck %s --check-prefix=V4
// RUN: tessera compile %s -o - --target-cpu=x86-64-v3 --stop-after=codegen | FileCheck %s --check-prefix=V3
// RUN: tessera compile %s -o - --target-cpu=x86-64-v3 --stop-after=memory | FileCheck %s --check-prefix=MEMORY
// RUN: not tessera compile %s -o %t.tsr --target-cpu=x86-64-v9 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tessera compile %s -o %t.tsr --target-cpu=cortex-a76 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tessera compile %s -o %t.tsr --target-cpu=pentium4 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: tessera compile %s -o - --target=shadow --stop-after=import | FileCheck %s --check-prefix=SHADOW
// RUN: not tessera compile %s -o %t.tsr --target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: tessera compile --target-cpu=help | FileCheck %s --check-prefix=HELP
// V4: "target": {
// V4-NEXT: "name": "cpu",
// V4-NEXT: "processors": [
// V4-NEXT: {
// V4-NEXT: "cpu": "x86-64-v4",
// V4-NEXT: "features": [
// V4: "avx512f",
// V4-NOT: "avx512bf16"
// V4: "vector_bits": 512
// The module says it from the start; what code is generated again for is the same.
// MEMORY: module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v3"
// V3: #tessera.target<cpu, <"x86-64-v3", vector_bits = 256, features = ["sse3", "ssse3", "fma", "cx16", "sse4.1", "sse4.2", "movbe", "popcnt", "avx", "f16c", "bmi", "avx2", "bmi2", "sahf", "lzcnt"]
// UNKNOWN: error: --target-cpu={{.*}}: LLVM knows no x86 processor of that name; use native, x86-64-v3, x86-64-v4 or a name that `tessera compile --target-cpu=help` lists
// NARROW: error: --target-cpu=pentium4: not a 64-bit processor; use native
// SHADOW: #tessera.target<shadow, <"
// TARGET: error: --target=tpu: no such target; use --target=cpu or --target=shadow or --target=cuda
// HELP: native
// HELP: sapphirerapids
// HELP: znver4
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
