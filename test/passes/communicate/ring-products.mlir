// RUN: tessera-opt %s --split-input-file --tessera-ring-products | FileCheck %s
// Products of a gathered operand, and products whose sum is scattered, as loops of shifts; only where that pays.

// A product and the gathering of its operand take about as long.
module attributes {tessera.topology = #tessera.topology<alpha = 1.0e-6, beta = 1.0e+8, flops = 2.0e+10, memory = 1.0e+11>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @gathered_rows
// CHECK-SAME: (%[[X:.*]]: tensor<128x1024xf32>, %[[W:.*]]: tensor<1024x256xf32>)
func.func @gathered_rows(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>) -> tensor<512x256xf32> {
  // CHECK-NOT: comm.all_gather
  // CHECK-DAG: %[[RANK:.*]] = comm.axis_index
  // CHECK-DAG: %[[TILE:.*]] = stablehlo.constant dense<128>
  // CHECK-DAG: %[[ZEROS:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<512x256xf32>
  // CHECK: %[[AT:.*]] = stablehlo.multiply %[[RANK]], %[[TILE]]
  // CHECK: %[[LOOP:.*]]:4 = stablehlo.while(%{{.*}} = %{{.*}}, %[[START:.*]] = %[[AT]], %[[SHARD:.*]] = %[[X]], %[[MADE:.*]] = %[[ZEROS]])
  // CHECK-SAME: tessera.schedule = #tessera.schedule<overlap = on>, tessera.trip_count = #tessera.trip_count<3>
  // CHECK: %[[BEFORE:.*]] = stablehlo.select
  // CHECK: %[[NEXT:.*]] = comm.shift(%[[SHARD]]) by 1 wrap
  // CHECK: %[[PART:.*]] = stablehlo.dot_general %[[SHARD]], %[[W]]
  // CHECK: %[[MORE:.*]] = stablehlo.dynamic_update_slice %[[MADE]], %[[PART]], %[[START]],
  // CHECK: stablehlo.return %{{.*}}, %[[BEFORE]], %[[NEXT]], %[[MORE]]
  // CHECK: %[[LAST:.*]] = stablehlo.dot_general %[[LOOP]]#2, %[[W]]
  // CHECK: %[[ALL:.*]] = stablehlo.dynamic_update_slice %[[LOOP]]#3, %[[LAST]], %[[LOOP]]#1,
  // CHECK: return %[[ALL]]
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// Sums travel; the term is computed apart from them. Parts of so few columns would be far from the machine's rate.
// CHECK-LABEL: @scattered_rows
func.func @scattered_rows(%h: tensor<512x256xf32>, %v: tensor<256x96xf32>) -> tensor<128x96xf32> {
  // CHECK: %[[OWN:.*]] = stablehlo.dot_general
  // CHECK: stablehlo.while(%{{.*}}, %{{.*}}, %[[TERM:.*]] = %[[OWN]], %[[SUM:.*]] = %{{.*}})
  // CHECK-SAME: tessera.trip_count<3>
  // CHECK: %[[ROWS:.*]] = stablehlo.dynamic_slice %arg0
  // CHECK: %[[NEXT:.*]] = stablehlo.dot_general %[[ROWS]], %arg1
  // CHECK: %[[BOTH:.*]] = stablehlo.add %[[SUM]], %[[TERM]]
  // CHECK: %[[SENT:.*]] = comm.shift(%[[BOTH]]) by 1 wrap
  // CHECK: stablehlo.return %{{.*}}, %{{.*}}, %[[NEXT]], %[[SENT]]
  // CHECK-NOT: comm.reduce_scatter
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x96xf32>) -> tensor<512x96xf32>
  %s = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<512x96xf32>) -> tensor<128x96xf32>
  return %s : tensor<128x96xf32>
}

// More parts than there are shards wait for less of the first product and the last collective.
// CHECK-LABEL: @scattered_columns
func.func @scattered_columns(%h: tensor<512x256xf32>, %v: tensor<256x1024xf32>) -> tensor<128x1024xf32> {
  // CHECK: stablehlo.while
  // CHECK-SAME: tessera.trip_count<15>
  // CHECK-NOT: comm.shift
  // CHECK: comm.reduce_scatter sum({{.*}}) dim 0
  // CHECK-SAME: tensor<128x64xf32>
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  %s = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<512x1024xf32>) -> tensor<128x1024xf32>
  return %s : tensor<128x1024xf32>
}

// Another product hides most of the collective: the second of two parts, while the first has the second part's
// product beside it. They are no loop, which other computation could not run beside.
// CHECK-LABEL: @scattered_beside
func.func @scattered_beside(%h: tensor<512x256xf32>, %v: tensor<256x1024xf32>) -> (tensor<128x1024xf32>, tensor<256x1024xf32>) {
  // CHECK-NOT: stablehlo.while
  // CHECK: %[[FIRST:.*]] = stablehlo.dot_general %arg0, %{{.*}} -> tensor<512x512xf32>
  // CHECK: %[[SECOND:.*]] = stablehlo.dot_general %arg0, %{{.*}} -> tensor<512x512xf32>
  // CHECK: %[[A:.*]] = comm.reduce_scatter sum(%[[FIRST]]) dim 0
  // CHECK: %[[B:.*]] = comm.reduce_scatter sum(%[[SECOND]]) dim 0
  // CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 1
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  %s = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<512x1024xf32>) -> tensor<128x1024xf32>
  %a = stablehlo.transpose %h, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
  %b = stablehlo.dot_general %a, %h, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32>
  %c = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %s, %c : tensor<128x1024xf32>, tensor<256x1024xf32>
}

// A sum of bf16 would be rounded wherever it passes: parts of columns are scattered as they are, one
// while the next is computed.
// CHECK-LABEL: @scattered_bf16
func.func @scattered_bf16(%h: tensor<512x256xbf16>, %v: tensor<256x1024xbf16>) -> tensor<128x1024xbf16> {
  // CHECK: %[[FIRST:.*]] = stablehlo.dot_general %arg0, %{{.*}} -> tensor<512x64xbf16>
  // CHECK: stablehlo.while(%{{.*}}, %[[AT:.*]] = %{{.*}}, %[[TERM:.*]] = %[[FIRST]], %[[ALL:.*]] = %{{.*}})
  // CHECK-SAME: tessera.trip_count<15>
  // CHECK: %[[NEXT:.*]] = stablehlo.dot_general
  // CHECK: %[[DONE:.*]] = comm.reduce_scatter sum(%[[TERM]]) dim 0
  // CHECK-SAME: tensor<128x64xbf16>
  // CHECK: %[[MORE:.*]] = stablehlo.dynamic_update_slice %[[ALL]], %[[DONE]], %{{.*}}, %[[AT]]
  // CHECK: stablehlo.return %{{.*}}, %{{.*}}, %[[NEXT]], %[[MORE]]
  // CHECK: comm.reduce_scatter
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<512x256xbf16>, tensor<256x1024xbf16>) -> tensor<512x1024xbf16>
  %s = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<512x1024xbf16>) -> tensor<128x1024xbf16>
  return %s : tensor<128x1024xbf16>
}

// One loop for all products of a value; those that need another's result read it whole.
// CHECK-LABEL: @shared
func.func @shared(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>, %v: tensor<1024x256xf32>) -> tensor<512x512xf32> {
  // CHECK: stablehlo.while
  // CHECK: comm.shift
  // CHECK-NOT: comm.shift
  // CHECK: stablehlo.dot_general
  // CHECK: stablehlo.dynamic_update_slice
  // CHECK: stablehlo.dot_general
  // CHECK-COUNT-2: stablehlo.dynamic_update_slice
  // CHECK: stablehlo.return
  // CHECK: stablehlo.dot_general
  // CHECK: stablehlo.dynamic_update_slice
  // CHECK: stablehlo.dot_general
  // CHECK-COUNT-2: stablehlo.dynamic_update_slice
  // CHECK-NOT: stablehlo.while
  // CHECK: stablehlo.dot_general
  // CHECK: stablehlo.dot_general
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %a = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  %b = stablehlo.dot_general %g, %v, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  %t = stablehlo.tanh %a : tensor<512x256xf32>
  %c = stablehlo.dot_general %g, %t, contracting_dims = [0] x [0] : (tensor<512x1024xf32>, tensor<512x256xf32>) -> tensor<1024x256xf32>
  %d = stablehlo.dot_general %b, %c, contracting_dims = [1] x [1] : (tensor<512x256xf32>, tensor<1024x256xf32>) -> tensor<512x1024xf32>
  %e = stablehlo.slice %d [0:512, 0:512] : (tensor<512x1024xf32>) -> tensor<512x512xf32>
  return %e : tensor<512x512xf32>
}

// 510 rows on four devices: the rows that are none are no part of the sum. bf16 is added in f32.
// CHECK-LABEL: @contracted_uneven
func.func @contracted_uneven(%x: tensor<256x510xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<128x1024xbf16>) -> tensor<256x1024xbf16> {
  // CHECK: %[[ROOM:.*]] = stablehlo.pad %arg0
  // CHECK-SAME: tensor<256x512xbf16>
  // CHECK: stablehlo.while
  // CHECK: comm.shift
  // CHECK: %[[KEPT:.*]] = stablehlo.select
  // CHECK: %[[ROWS:.*]] = stablehlo.dynamic_slice %[[ROOM]]
  // CHECK: %[[PART:.*]] = stablehlo.dot_general %[[ROWS]], %[[KEPT]]
  // CHECK-SAME: tensor<256x1024xf32>
  // CHECK: stablehlo.add %{{.*}}, %[[PART]]
  %g = comm.all_gather(%w) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xbf16>) -> tensor<512x1024xbf16>
  %c = stablehlo.slice %g [0:510, 0:1024] : (tensor<512x1024xbf16>) -> tensor<510x1024xbf16>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<256x510xbf16>, tensor<510x1024xbf16>) -> tensor<256x1024xbf16>
  return %y : tensor<256x1024xbf16>
}

// All devices have the same sum: each would add it up in an order of its own.
// CHECK-LABEL: @contracted_on_all
func.func @contracted_on_all(%x: tensor<256x512xf32>, %w: tensor<128x1024xf32>) -> tensor<256x1024xf32> {
  // CHECK: comm.all_gather
  %g = comm.all_gather(%w) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}

// A weight can be gathered beside what comes before: nothing is gained.
// CHECK-LABEL: @hidden
func.func @hidden(%a: tensor<512x1024xf32>, %b: tensor<1024x1024xf32>, %w: tensor<1024x64xf32>) -> tensor<512x256xf32> {
  // CHECK: comm.all_gather
  %h = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %g = comm.all_gather(%w) dim 1 over <@mesh, ["x"=4]> : (tensor<1024x64xf32>) -> tensor<1024x256xf32>
  %y = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}
}

// -----

// Nothing runs beside anything.
module attributes {tessera.schedule = #tessera.schedule<overlap = off>, tessera.topology = #tessera.topology<alpha = 1.0e-6, beta = 1.0e+8, flops = 2.0e+10, memory = 1.0e+11>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @off
func.func @off(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>) -> tensor<512x256xf32> {
  // CHECK: comm.all_gather
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}
}

// -----

// Launches of eight small kernels take longer than what they hide.
module attributes {tessera.topology = #tessera.topology<alpha = 1.0e-6, beta = 1.0e+8, flops = 2.0e+10, memory = 1.0e+11, launch = 1.0e-2>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @launches
func.func @launches(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>) -> tensor<512x256xf32> {
  // CHECK: comm.all_gather
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}
}

// -----

// A ring that carries both ways: half of each shard goes each way.
module attributes {tessera.topology = #tessera.topology<alpha = 1.0e-6, beta = 2.0e+7, directions = 2.0, flops = 2.0e+10, memory = 1.0e+11>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @both_ways
func.func @both_ways(%x: tensor<127x1024xf32>, %w: tensor<1024x256xf32>) -> tensor<508x256xf32> {
  // CHECK: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:64, 0:1024]
  // CHECK: %[[SECOND:.*]] = stablehlo.slice %arg0 [64:127, 0:1024]
  // CHECK: stablehlo.while({{.*}}, %[[A:.*]] = %[[FIRST]], %[[B:.*]] = %[[SECOND]], %{{.*}})
  // CHECK: comm.shift(%[[A]]) by 1 wrap
  // CHECK: comm.shift(%[[B]]) by -1 wrap
  // CHECK: stablehlo.dot_general %[[A]]
  // CHECK: stablehlo.dot_general %[[B]]
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<127x1024xf32>) -> tensor<508x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<508x1024xf32>, tensor<1024x256xf32>) -> tensor<508x256xf32>
  return %y : tensor<508x256xf32>
}

// CHECK-LABEL: @scattered_both_ways
func.func @scattered_both_ways(%h: tensor<512x256xf32>, %v: tensor<256x96xf32>) -> tensor<128x96xf32> {
  // CHECK: stablehlo.while
  // CHECK-DAG: comm.shift({{.*}}) by 1 wrap
  // CHECK-DAG: comm.shift({{.*}}) by -1 wrap
  // CHECK: stablehlo.concatenate {{.*}} -> tensor<128x96xf32>
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x96xf32>) -> tensor<512x96xf32>
  %s = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<512x96xf32>) -> tensor<128x96xf32>
  return %s : tensor<128x96xf32>
}
}

// -----

// Another reads what was gathered, so that the loop puts it together and takes more memory: too much where nothing
// else is there, and none where the block needs more elsewhere.
module attributes {tessera.topology = #tessera.topology<alpha = 1.0e-6, beta = 6.0e+8, flops = 2.0e+10, memory = 1.0e+11>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @fullest_here
// CHECK: comm.all_gather
// CHECK-NOT: comm.shift
func.func @fullest_here(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>) -> (tensor<512x256xf32>, tensor<512x1024xf32>) {
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %y, %g : tensor<512x256xf32>, tensor<512x1024xf32>
}
// CHECK-LABEL: @fuller_later
// CHECK: comm.shift
// CHECK-NOT: comm.all_gather
func.func @fuller_later(%x: tensor<128x1024xf32>, %w: tensor<1024x256xf32>, %v: tensor<256x4096xf32>) -> (tensor<512x4096xf32>, tensor<512x1024xf32>) {
  %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<128x1024xf32>) -> tensor<512x1024xf32>
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x4096xf32>) -> tensor<512x4096xf32>
  return %z, %g : tensor<512x4096xf32>, tensor<512x1024xf32>
}
}
