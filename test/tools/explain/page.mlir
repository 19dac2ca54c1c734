// The page is whole in itself and its script runs in a browser. A text that would end the page's data is kept apart from it.
// RUN: tessera explain %s --html=%t.html
// RUN: %python %root/test/tools/explain/page.py %t.html | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.html
// CHECK: {{4 values, 1 collectives, [0-9]+ groups, .* boxes|no chromium: the page was not opened}}
// TEXT: <!DOCTYPE html>
// TEXT: \u003c/script>

sdy.mesh @mesh = <["model"=4]>
func.func public @main(%x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("</script>"),
                       %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<32x32xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
