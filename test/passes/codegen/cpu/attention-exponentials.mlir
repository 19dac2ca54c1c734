// Attention of bf16 rounds its exponentials, of scores that are bf16: they are computed as bf16's, with one number looked up
// for each, though the program converts to f32 for the sum, too.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=sapphirerapids" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @attention
// CHECK: call void @llvm.x86.tdpbf16ps
// Of two registers.
// CHECK: call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512
// CHECK-COUNT-2: call <16 x float> @llvm.x86.avx512.permvar.sf.512
// CHECK-NOT: call <16 x float> @llvm.x86.avx512.permvar.sf.512
// CHECK: call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512
exec.kernel @attention(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16> {
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xbf16>
  %m = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xbf16>, tensor<bf16>) -> tensor<8x1024xbf16>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %d = stablehlo.subtract %s, %mb : tensor<8x1024x1024xbf16>
  %w = stablehlo.convert %d : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xf32>
  %x = stablehlo.exponential %w : tensor<8x1024x1024xf32>
  %e = stablehlo.convert %x : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
  %t = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
  %tn = stablehlo.convert %t : (tensor<8x1024xf32>) -> tensor<8x1024xbf16>
  %tb = stablehlo.broadcast_in_dim %tn, dims = [0, 1] : (tensor<8x1024xbf16>) -> tensor<8x1024x1024xbf16>
  %p = stablehlo.divide %e, %tb : tensor<8x1024x1024xbf16>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
  exec.yield %o : tensor<8x1024x64xbf16>
}
