// Kernels whose lines begin within sectors, lie across each other, or are read by several blocks (counted.py): a rotary table, what it is
// applied to, and a padding; pieces and sums that lie across the results; vectors, a table and a mask that lines share; windows that slide
// over lines; a part of each line; halves that read the same; windows whose first lines are pieces of their own;
// a mask of positions, and one that a batch shares; a padding of many channels; windows of an image; a vector of groups;
// pieces of which the second has two loops where the first has one.
func.func @main(%angles: tensor<1x1024x1x8xf32>, %x: tensor<1x1024x8x16xbf16>, %image: tensor<8x32x16x16xf32>,
    %places: tensor<16x128x4x4xf32>, %channels: tensor<128xf32>, %token: tensor<1x1x128xf32>, %queries: tensor<8x256x16xf32>, %keys: tensor<8x16x256xf32>,
    %groups: tensor<4x8x24x96xf32>, %lines: tensor<16x512xf32>, %mean: tensor<512xf32>, %scale: tensor<512xf32>, %bias: tensor<512xf32>,
    %heads: tensor<8x512x16xf32>, %table: tensor<512x16xf32>, %scores: tensor<2x8x256x32xbf16>, %mask: tensor<2x256x32xi1>,
    %steps: tensor<18x512xf32>, %filter: tensor<3x512xf32>, %wide: tensor<128x24xbf16>,
    %halves_of: tensor<2x64x256xf32>, %slope: tensor<1x64x256xf32>, %series: tensor<64x128xf32>, %taps: tensor<4x128xf32>,
    %positions: tensor<4x128xi32>, %earlier: tensor<128x128xi1>, %wide_image: tensor<1x64x32x32xf32>, %pooled: tensor<2x16x16x64xf32>,
    %places_of: tensor<2x64x96xf32>, %means_of: tensor<2x32xf32>, %slopes: tensor<2x96xf32>, %shifts: tensor<96xf32>,
    %parts: tensor<160x6x40xf32>, %rows: tensor<6x32xf32>)
    -> (tensor<1x1024x1x16xbf16>, tensor<1x1024x8x16xbf16>, tensor<8x32x18x18xf32>, tensor<16x17x128xf32>, tensor<256x256xf32>,
        tensor<4x96x4x24xf32>, tensor<16x512xf32>, tensor<8x512x16xf32>, tensor<2x8x256xbf16>, tensor<16x512xf32>, tensor<128x16xbf16>,
        tensor<2x64x256xf32>, tensor<64x128xf32>, tensor<4x128x128xi1>, tensor<1x64x34x34xf32>, tensor<2x8x8x64xf32>, tensor<2x64x96xf32>,
        tensor<2x160x6x32xf32>) {
  %sines = stablehlo.sine %angles : tensor<1x1024x1x8xf32>
  %narrow = stablehlo.convert %sines : (tensor<1x1024x1x8xf32>) -> tensor<1x1024x1x8xbf16>
  %rotary = stablehlo.concatenate %narrow, %narrow, dim = 3 : (tensor<1x1024x1x8xbf16>, tensor<1x1024x1x8xbf16>) -> tensor<1x1024x1x16xbf16>
  %of_heads = stablehlo.broadcast_in_dim %rotary, dims = [0, 1, 2, 3] : (tensor<1x1024x1x16xbf16>) -> tensor<1x1024x8x16xbf16>
  %first = stablehlo.slice %x [0:1, 0:1024, 0:8, 0:8] : (tensor<1x1024x8x16xbf16>) -> tensor<1x1024x8x8xbf16>
  %second = stablehlo.slice %x [0:1, 0:1024, 0:8, 8:16] : (tensor<1x1024x8x16xbf16>) -> tensor<1x1024x8x8xbf16>
  %negative = stablehlo.negate %second : tensor<1x1024x8x8xbf16>
  %turned = stablehlo.concatenate %negative, %first, dim = 3 : (tensor<1x1024x8x8xbf16>, tensor<1x1024x8x8xbf16>) -> tensor<1x1024x8x16xbf16>
  %product = stablehlo.multiply %turned, %of_heads : tensor<1x1024x8x16xbf16>
  %sum = stablehlo.add %x, %product : tensor<1x1024x8x16xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %padded = stablehlo.pad %image, %zero, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<8x32x16x16xf32>, tensor<f32>) -> tensor<8x32x18x18xf32>

  // Places of an image behind a token: a reshape and a transpose within a piece that divides nothing.
  %of_channels = stablehlo.broadcast_in_dim %channels, dims = [1] : (tensor<128xf32>) -> tensor<16x128x4x4xf32>
  %patches = stablehlo.add %places, %of_channels : tensor<16x128x4x4xf32>
  %flat = stablehlo.reshape %patches : (tensor<16x128x4x4xf32>) -> tensor<16x128x16xf32>
  %behind = stablehlo.transpose %flat, dims = [0, 2, 1] : (tensor<16x128x16xf32>) -> tensor<16x16x128xf32>
  %tokens = stablehlo.broadcast_in_dim %token, dims = [0, 1, 2] : (tensor<1x1x128xf32>) -> tensor<16x1x128xf32>
  %embedded = stablehlo.concatenate %tokens, %behind, dim = 1 : (tensor<16x1x128xf32>, tensor<16x16x128xf32>) -> tensor<16x17x128xf32>

  // Gradients of queries and keys side by side, heads within them.
  %q = stablehlo.transpose %queries, dims = [1, 0, 2] : (tensor<8x256x16xf32>) -> tensor<256x8x16xf32>
  %k = stablehlo.transpose %keys, dims = [2, 0, 1] : (tensor<8x16x256xf32>) -> tensor<256x8x16xf32>
  %q_lines = stablehlo.reshape %q : (tensor<256x8x16xf32>) -> tensor<256x128xf32>
  %k_lines = stablehlo.reshape %k : (tensor<256x8x16xf32>) -> tensor<256x128xf32>
  %gradients = stablehlo.concatenate %q_lines, %k_lines, dim = 1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x256xf32>

  // Sums over the heads of a group, across the results.
  %across = stablehlo.transpose %groups, dims = [0, 3, 1, 2] : (tensor<4x8x24x96xf32>) -> tensor<4x96x8x24xf32>
  %in_groups = stablehlo.reshape %across : (tensor<4x96x8x24xf32>) -> tensor<4x96x4x2x24xf32>
  %group_sums = stablehlo.reduce(%in_groups init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<4x96x4x2x24xf32>, tensor<f32>) -> tensor<4x96x4x24xf32>

  // Vectors that all lines read.
  %means = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<512xf32>) -> tensor<16x512xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<512xf32>) -> tensor<16x512xf32>
  %biases = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<512xf32>) -> tensor<16x512xf32>
  %centred = stablehlo.subtract %lines, %means : tensor<16x512xf32>
  %scaled = stablehlo.multiply %centred, %scales : tensor<16x512xf32>
  %normed = stablehlo.add %scaled, %biases : tensor<16x512xf32>

  // A table that all heads read, of rows of two pieces.
  %tables = stablehlo.broadcast_in_dim %table, dims = [1, 2] : (tensor<512x16xf32>) -> tensor<8x512x16xf32>
  %low = stablehlo.slice %heads [0:8, 0:512, 0:8] : (tensor<8x512x16xf32>) -> tensor<8x512x8xf32>
  %high = stablehlo.slice %heads [0:8, 0:512, 8:16] : (tensor<8x512x16xf32>) -> tensor<8x512x8xf32>
  %minus = stablehlo.negate %high : tensor<8x512x8xf32>
  %halves = stablehlo.concatenate %minus, %low, dim = 2 : (tensor<8x512x8xf32>, tensor<8x512x8xf32>) -> tensor<8x512x16xf32>
  %angled = stablehlo.multiply %halves, %tables : tensor<8x512x16xf32>
  %rotated = stablehlo.add %heads, %angled : tensor<8x512x16xf32>

  // A mask that all heads read.
  %masks = stablehlo.broadcast_in_dim %mask, dims = [0, 2, 3] : (tensor<2x256x32xi1>) -> tensor<2x8x256x32xi1>
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %hidden = stablehlo.broadcast_in_dim %least, dims = [] : (tensor<bf16>) -> tensor<2x8x256x32xbf16>
  %seen = stablehlo.select %masks, %scores, %hidden : tensor<2x8x256x32xi1>, tensor<2x8x256x32xbf16>
  %highest = stablehlo.reduce(%seen init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x256x32xbf16>, tensor<bf16>) -> tensor<2x8x256xbf16>

  // A convolution along the steps.
  %0 = stablehlo.slice %steps [0:16, 0:512] : (tensor<18x512xf32>) -> tensor<16x512xf32>
  %1 = stablehlo.slice %steps [1:17, 0:512] : (tensor<18x512xf32>) -> tensor<16x512xf32>
  %2 = stablehlo.slice %steps [2:18, 0:512] : (tensor<18x512xf32>) -> tensor<16x512xf32>
  %f0 = stablehlo.slice %filter [0:1, 0:512] : (tensor<3x512xf32>) -> tensor<1x512xf32>
  %f1 = stablehlo.slice %filter [1:2, 0:512] : (tensor<3x512xf32>) -> tensor<1x512xf32>
  %f2 = stablehlo.slice %filter [2:3, 0:512] : (tensor<3x512xf32>) -> tensor<1x512xf32>
  %w0 = stablehlo.broadcast_in_dim %f0, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<16x512xf32>
  %w1 = stablehlo.broadcast_in_dim %f1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<16x512xf32>
  %w2 = stablehlo.broadcast_in_dim %f2, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<16x512xf32>
  %p0 = stablehlo.multiply %0, %w0 : tensor<16x512xf32>
  %p1 = stablehlo.multiply %1, %w1 : tensor<16x512xf32>
  %p2 = stablehlo.multiply %2, %w2 : tensor<16x512xf32>
  %p01 = stablehlo.add %p0, %p1 : tensor<16x512xf32>
  %convolved = stablehlo.add %p01, %p2 : tensor<16x512xf32>

  // 16 of 24 elements, which end within sectors.
  %part = stablehlo.slice %wide [0:128, 0:16] : (tensor<128x24xbf16>) -> tensor<128x16xbf16>
  %doubled = stablehlo.add %part, %part : tensor<128x16xbf16>

  // Gradients of the two factors of a gate, one behind the other: both read the factors.
  %gate = stablehlo.slice %halves_of [0:1, 0:64, 0:256] : (tensor<2x64x256xf32>) -> tensor<1x64x256xf32>
  %value = stablehlo.slice %halves_of [1:2, 0:64, 0:256] : (tensor<2x64x256xf32>) -> tensor<1x64x256xf32>
  %curve = stablehlo.tanh %gate : tensor<1x64x256xf32>
  %of_value = stablehlo.multiply %slope, %curve : tensor<1x64x256xf32>
  %of_curve = stablehlo.multiply %slope, %value : tensor<1x64x256xf32>
  %square = stablehlo.multiply %curve, %of_curve : tensor<1x64x256xf32>
  %of_gate = stablehlo.subtract %of_curve, %square : tensor<1x64x256xf32>
  %gated = stablehlo.concatenate %of_gate, %of_value, dim = 0 : (tensor<1x64x256xf32>, tensor<1x64x256xf32>) -> tensor<2x64x256xf32>

  // A convolution along the steps that sees those before: of the first three steps some terms are zero.
  %one = stablehlo.slice %series [0:63, 0:128] : (tensor<64x128xf32>) -> tensor<63x128xf32>
  %two = stablehlo.slice %series [0:62, 0:128] : (tensor<64x128xf32>) -> tensor<62x128xf32>
  %three = stablehlo.slice %series [0:61, 0:128] : (tensor<64x128xf32>) -> tensor<61x128xf32>
  %s1 = stablehlo.pad %one, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<63x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %s2 = stablehlo.pad %two, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<62x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %s3 = stablehlo.pad %three, %zero, low = [3, 0], high = [0, 0], interior = [0, 0] : (tensor<61x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %t0 = stablehlo.slice %taps [3:4, 0:128] : (tensor<4x128xf32>) -> tensor<1x128xf32>
  %t1 = stablehlo.slice %taps [2:3, 0:128] : (tensor<4x128xf32>) -> tensor<1x128xf32>
  %t2 = stablehlo.slice %taps [1:2, 0:128] : (tensor<4x128xf32>) -> tensor<1x128xf32>
  %t3 = stablehlo.slice %taps [0:1, 0:128] : (tensor<4x128xf32>) -> tensor<1x128xf32>
  %b0 = stablehlo.broadcast_in_dim %t0, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %b1 = stablehlo.broadcast_in_dim %t1, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %b2 = stablehlo.broadcast_in_dim %t2, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %b3 = stablehlo.broadcast_in_dim %t3, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %m0 = stablehlo.multiply %series, %b0 : tensor<64x128xf32>
  %m1 = stablehlo.multiply %s1, %b1 : tensor<64x128xf32>
  %m2 = stablehlo.multiply %s2, %b2 : tensor<64x128xf32>
  %m3 = stablehlo.multiply %s3, %b3 : tensor<64x128xf32>
  %m01 = stablehlo.add %m0, %m1 : tensor<64x128xf32>
  %m012 = stablehlo.add %m01, %m2 : tensor<64x128xf32>
  %causal = stablehlo.add %m012, %m3 : tensor<64x128xf32>

  // Who sees whom: bytes that are computed from numbers of both, and of a mask.
  %down = stablehlo.broadcast_in_dim %positions, dims = [0, 1] : (tensor<4x128xi32>) -> tensor<4x128x128xi32>
  %along = stablehlo.broadcast_in_dim %positions, dims = [0, 2] : (tensor<4x128xi32>) -> tensor<4x128x128xi32>
  %equal = stablehlo.compare EQ, %down, %along, SIGNED : (tensor<4x128x128xi32>, tensor<4x128x128xi32>) -> tensor<4x128x128xi1>
  %before = stablehlo.broadcast_in_dim %earlier, dims = [1, 2] : (tensor<128x128xi1>) -> tensor<4x128x128xi1>
  %visible = stablehlo.and %equal, %before : tensor<4x128x128xi1>

  // 34 elements a line, fewer channels than processors.
  %framed = stablehlo.pad %wide_image, %zero, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<1x64x32x32xf32>, tensor<f32>) -> tensor<1x64x34x34xf32>

  // Windows that overlap down and along.
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %pool = "stablehlo.reduce_window"(%pooled, %lowest) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %larger = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %larger : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>} : (tensor<2x16x16x64xf32>, tensor<f32>) -> tensor<2x8x8x64xf32>

  // Numbers that three channels have together.
  %thrice = stablehlo.broadcast_in_dim %means_of, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x3xf32>
  %each = stablehlo.reshape %thrice : (tensor<2x32x3xf32>) -> tensor<2x96xf32>
  %in_places = stablehlo.broadcast_in_dim %each, dims = [0, 2] : (tensor<2x96xf32>) -> tensor<2x64x96xf32>
  %slopes_in_places = stablehlo.broadcast_in_dim %slopes, dims = [0, 2] : (tensor<2x96xf32>) -> tensor<2x64x96xf32>
  %shifts_in_places = stablehlo.broadcast_in_dim %shifts, dims = [2] : (tensor<96xf32>) -> tensor<2x64x96xf32>
  %from_mean = stablehlo.subtract %places_of, %in_places : tensor<2x64x96xf32>
  %by_slope = stablehlo.multiply %from_mean, %slopes_in_places : tensor<2x64x96xf32>
  %of_groups = stablehlo.add %by_slope, %shifts_in_places : tensor<2x64x96xf32>
  // Two results of the same numbers, one behind the other: lines of the first are one loop, of the second two.
  %some = stablehlo.slice %parts [0:160, 0:6, 0:32] : (tensor<160x6x40xf32>) -> tensor<160x6x32xf32>
  %bent = stablehlo.tanh %some : tensor<160x6x32xf32>
  %all_rows = stablehlo.broadcast_in_dim %rows, dims = [1, 2] : (tensor<6x32xf32>) -> tensor<160x6x32xf32>
  %times_rows = stablehlo.multiply %some, %all_rows : tensor<160x6x32xf32>
  %bent_first = stablehlo.reshape %bent : (tensor<160x6x32xf32>) -> tensor<1x160x6x32xf32>
  %times_second = stablehlo.reshape %times_rows : (tensor<160x6x32xf32>) -> tensor<1x160x6x32xf32>
  %both_results = stablehlo.concatenate %bent_first, %times_second, dim = 0 : (tensor<1x160x6x32xf32>, tensor<1x160x6x32xf32>) -> tensor<2x160x6x32xf32>

  return %rotary, %sum, %padded, %embedded, %gradients, %group_sums, %normed, %rotated, %highest, %convolved, %doubled, %gated, %causal,
    %visible, %framed, %pool, %of_groups, %both_results
    : tensor<1x1024x1x16xbf16>, tensor<1x1024x8x16xbf16>, tensor<8x32x18x18xf32>, tensor<16x17x128xf32>, tensor<256x256xf32>,
      tensor<4x96x4x24xf32>, tensor<16x512xf32>, tensor<8x512x16xf32>, tensor<2x8x256xbf16>, tensor<16x512xf32>, tensor<128x16xbf16>, tensor<2x64x256xf32>, tensor<64x128xf32>,
      tensor<4x128x128xi1>, tensor<1x64x34x34xf32>, tensor<2x8x8x64xf32>, tensor<2x64x96xf32>, tensor<2x160x6x32xf32>
}
