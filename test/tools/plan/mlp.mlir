// A plan, its report, the same module with annotations, which compiles and is a plan of its own.
// RUN: tessera plan %s --devices=8 -o %t.mlir --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=MODULE < %t.mlir
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: tessera compile %t.mlir -o %t.tsr --quiet
// RUN: tessera info %t.tsr | FileCheck %s --check-prefix=PROGRAM
// The annotations decide everything: a plan of the annotated module is the module.
// RUN: tessera plan %t.mlir -o %t.again.mlir --report=%t.again.json > /dev/null
// RUN: grep sdy.sharding %t.mlir > %t.lines
// RUN: grep sdy.sharding %t.again.mlir | diff %t.lines -
// The same input gives the same plan; compile plans likewise.
// RUN: tessera plan %s --devices=8 -o %t.b.mlir --quiet | count 0
// RUN: cmp %t.mlir %t.b.mlir
// RUN: tessera plan %s --devices=8 -o - | diff - %t.mlir
// RUN: tessera compile %s --plan --devices=8 -o %t.planned.tsr --quiet
// RUN: cmp %t.tsr %t.planned.tsr

// CHECK: mlp.mlir: 8 devices, mesh
// CHECK-NEXT: a step: {{.*}} predicted, compute {{.*}}, communication {{.*}} (waited for: {{.*}}), overhead {{.*}}; {{.*}} a device at the peak
// CHECK: arguments
// CHECK-NEXT: %x {{ *}}P(
// CHECK-NEXT: %w1 {{ *}}P(
// CHECK-NEXT: %w2 {{ *}}P(
// What other choices would cost: the batch in other parts has to be brought to where it is used.
// CHECK: decisions, and what other ones would cost of the
// CHECK-DAG: {{^}}  %x  P("x", None): next best P({{.*}}), +{{[0-9.]+}}% ({{.*}} {{[mu]}}s): 1 {{.*}} more ({{.*}}); most around {{.*}}mlp.mlir:{{[0-9]+}}
// CHECK-DAG: {{^}}  %w1  P(None, None): next best P({{.*}}), +{{[0-9.]+}}% (
// CHECK-DAG: {{^}}  %w2  P(None, None): next best P({{.*}}), +{{[0-9.]+}}% (
// CHECK: others
// CHECK-NEXT: {{[0-9.]+ [mu]?s}}, {{.*}}B{{.*}}, mesh
// MODULE: sdy.mesh @mesh = <[
// MODULE: func.func @main(
// MODULE-SAME: sdy.sharding = #sdy.sharding<@mesh
// REPORT: "alternatives": [
// REPORT: "kind":
// REPORT: "peak_bytes":
// REPORT: "seconds":
// REPORT: "arguments": {
// REPORT: "in1": [
// REPORT: "decisions": [
// REPORT: "collectives": [
// REPORT: "next": "P(
// REPORT: "spec": "P(
// REPORT: "what": "%
// REPORT: "differing_values": 0
// REPORT: "gap":
// REPORT: "lower_bound":
// REPORT: "mesh": {
// REPORT: "predicted": {
// REPORT: "search_seconds":
// PROGRAM: 8 devices
func.func public @main(%x: tensor<256x512xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<1024x512xf32>) -> tensor<256x512xf32> {
  %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %a = stablehlo.tanh %h : tensor<256x1024xf32>
  %y = stablehlo.dot_general %a, %w2, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x512xf32>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}
