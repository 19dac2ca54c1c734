#include "compiler/calibrate/List.h"

#include "llvm/ADT/Twine.h"

namespace tessera::calibration {
namespace {

void addElementwise(Programs &to, bool quick) {
  llvm::SmallVector<int64_t> sizes{4096, 65536};
  if (quick)
    sizes = {16384};
  auto repeat = [](int times, auto f) {
    return [=](Body &body, const std::string &type) {
      std::string x = "%x0";
      for (int i = 0; i < times; ++i)
        x = f(body, x, type);
      return x;
    };
  };
  auto damped = [](Body &body, const std::string &x, const std::string &type) {
    return body.damped(x, type);
  };
  to.elementwise("arithmetic", sizes, 3e-10,
                 repeat(6, [](Body &body, const std::string &x, const std::string &type) {
                   return body.binary("maximum", body.damped(x, type),
                                      body.unary("negate", x, type), type);
                 }));
  to.elementwise("little arithmetic", {2048, 16384}, 1e-10, repeat(1, damped));
  to.elementwise("arithmetic of bf16", {sizes.front()}, 2e-9, repeat(3, damped), "bf16");
  // So many that a processor does not look as far ahead as the next vector's.
  to.elementwise("long chain", {4096}, 5e-9, repeat(32, damped));
  to.elementwise("long chain of bf16", {4096}, 2e-8, repeat(12, damped), "bf16");
  to.elementwise("division", sizes, 5e-10,
                 repeat(3, [](Body &body, const std::string &x, const std::string &type) {
                   std::string one = body.number("1.0", type);
                   return body.binary("divide", one, body.binary("add", x, one, type), type);
                 }));
  to.elementwise("root", sizes, 5e-10,
                 repeat(2, [](Body &body, const std::string &x, const std::string &type) {
                   std::string one = body.number("1.0", type);
                   return body.unary("rsqrt", body.binary("add", x, one, type), type);
                 }));
  for (const char *op : {"exponential", "tanh", "logistic"})
    to.elementwise(op, sizes, 5e-10,
                   repeat(2, [op](Body &body, const std::string &x, const std::string &type) {
                     return body.unary(op, body.unary("negate", x, type), type);
                   }));
  for (const char *op : {"sine", "log_plus_one"})
    to.elementwise(op, sizes.front(), 3e-9,
                   repeat(1, [op](Body &body, const std::string &x, const std::string &type) {
                     return body.unary(op, body.unary("abs", x, type), type);
                   }));
  // By numbers that are not known, which no vectors divide by.
  {
    std::string type = tensor({4096}, "i32");
    Body body;
    std::string rest = body.binary("remainder", "%x0", "%x1", type);
    to.add("integer remainder", 4096 * 2e-9,
           {{type, body.binary("add", "%x0", rest, type)}, {type, "%x1"}}, body);
  }
  to.elementwise("exponential of f64", {4096}, 1e-8,
                 repeat(1,
                        [](Body &body, const std::string &x, const std::string &type) {
                          return body.unary("exponential", body.unary("negate", x, type), type);
                        }),
                 "f64");
}

// As models have them: normalisation, attention's weights, activations, an optimiser's step.
void addComposites(Programs &to, bool quick) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{64, 256}, {256, 512}, {256, 64}}) {
    std::string type = tensor({rows, columns}), row = tensor({rows}), column = tensor({columns});
    double points = double(rows * columns);
    Body softmax;
    std::string top = softmax.reduce("maximum", "%x0", type, "1", row);
    std::string shifted =
        softmax.binary("subtract", "%x0", softmax.broadcast(top, row, "0", type), type);
    std::string e = softmax.unary("exponential", shifted, type);
    std::string sum = softmax.reduce("add", e, type, "1", row);
    std::string y = softmax.binary("divide", e, softmax.broadcast(sum, row, "0", type), type);
    std::string size = std::to_string(rows) + "x" + std::to_string(columns);
    to.add("softmax " + size, points * 6e-10, {{type, y}}, softmax);

    Body norm;
    std::string total =
        norm.reduce("add", norm.binary("multiply", "%x0", "%x0", type), type, "1", row);
    std::string scale =
        norm.unary("rsqrt", norm.binary("add", total, norm.number("1.0", row), row), row);
    std::string scaled =
        norm.binary("multiply", "%x0", norm.broadcast(scale, row, "0", type), type);
    to.add("normalisation " + size, points * 3e-10, {{type, scaled}}, norm);

    Body columns2;
    std::string down = columns2.reduce("add", "%x0", type, "0", column);
    std::string moved = columns2.binary(
        "add", "%x0",
        columns2.broadcast(
            columns2.binary("multiply", down, columns2.number("1.0e-3", column), column), column,
            "1", type),
        type);
    to.add("sum of columns " + size, points * 3e-10, {{type, columns2.damped(moved, type)}},
           columns2);
    if (quick)
      return;
  }
  // Adam, over more than a cache holds.
  for (int64_t size : {int64_t{3} << 20, int64_t{1} << 16}) {
    std::string type = tensor({size});
    Body adam;
    auto mixed = [&](const std::string &x, const std::string &y) {
      return adam.binary("add", adam.binary("multiply", x, adam.number("0.9", type), type),
                         adam.binary("multiply", y, adam.number("0.1", type), type), type);
    };
    std::string m = mixed("%x1", "%x3");
    std::string v = mixed("%x2", adam.binary("multiply", "%x3", "%x3", type));
    std::string root =
        adam.binary("add", adam.unary("sqrt", v, type), adam.number("1.0", type), type);
    std::string step = adam.binary("divide", m, root, type);
    std::string w = adam.binary(
        "subtract", "%x0", adam.binary("multiply", step, adam.number("1.0e-3", type), type), type);
    to.add("optimiser " + std::to_string(size), double(size) * 1.5e-9,
           {{type, w}, {type, m}, {type, v}, {type, "%x3"}}, adam);
  }
}

// Of queries as many as keys; scores and what follows of them are of f32, as in models.
void addAttention(Programs &to, int64_t heads, int64_t queries, int64_t elements,
                  const std::string &element) {
  std::string rows = tensor({heads, queries, elements}, element),
              sums = tensor({heads, queries, elements}), row = tensor({heads, queries}),
              scores = tensor({heads, queries, queries}),
              narrow = tensor({heads, queries, queries}, element);
  Body body;
  auto converted = [&](const std::string &x, const std::string &from, const std::string &type) {
    return from == type ? x : body.add("convert " + x + " : (" + from + ") -> " + type);
  };
  std::string x = body.dot("%x0", "%x1", "batching_dims = [0] x [0], contracting_dims = [2] x [2]",
                           rows, rows, scores);
  x = body.damped(x, scores);
  std::string top = body.reduce("maximum", x, scores, "2", row);
  std::string e = body.unary(
      "exponential", body.binary("subtract", x, body.broadcast(top, row, "0, 1", scores), scores),
      scores);
  std::string sum = body.reduce("add", e, scores, "2", row);
  std::string p = body.binary("divide", e, body.broadcast(sum, row, "0, 1", scores), scores);
  std::string y =
      body.dot(converted(p, scores, narrow), "%x2",
               "batching_dims = [0] x [0], contracting_dims = [2] x [1]", narrow, rows, sums);
  to.add("attention " + element + " " + std::to_string(heads) + "x" + std::to_string(queries) +
             "x" + std::to_string(elements),
         double(heads * queries * queries) * 3e-9,
         {{rows, converted(y, sums, rows)}, {rows, "%x1"}, {rows, "%x2"}}, body);
}

// By regions of several operations, over rows and over windows; and what the runtime's own functions
// compute.
void addFoldings(Programs &to) {
  std::string type = tensor({256, 64}), row = tensor({64});
  Body rows;
  rows.text = "      %none = stablehlo.constant dense<0.0> : tensor<f32>\n"
              "      %all = stablehlo.reduce(%x0 init: %none) across dimensions = [0] : (" +
              type + ", tensor<f32>) -> " + row +
              "\n       reducer(%l: tensor<f32>, %r: tensor<f32>) {\n"
              "        %sum = stablehlo.add %l, %r : tensor<f32>\n"
              "        %product = stablehlo.multiply %l, %r : tensor<f32>\n"
              "        %both = stablehlo.add %sum, %product : tensor<f32>\n"
              "        stablehlo.return %both : tensor<f32>\n      }\n";
  to.add(
      "folding of columns", 256 * 64 * 1e-9,
      {{type, rows.damped(rows.binary("add", "%x0", rows.broadcast("%all", row, "1", type), type),
                          type)}},
      rows);
  std::string image = tensor({8, 32, 16, 16}), small = tensor({8, 32, 8, 8});
  Body pooled;
  pooled.text =
      "      %none = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "      %all = \"stablehlo.select_and_scatter\"(%x0, %x1, %none) <{padding = dense<"
      "[[0, 0], [0, 0], [1, 0], [1, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: "
      "1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({\n"
      "      ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
      "        %more = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> "
      "tensor<i1>\n        stablehlo.return %more : tensor<i1>\n      }, {\n"
      "      ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
      "        %sum = stablehlo.add %l, %r : tensor<f32>\n"
      "        stablehlo.return %sum : tensor<f32>\n      }) : (" +
      image + ", " + small + ", tensor<f32>) -> " + image + "\n";
  to.add("places of the largest", 8 * 32 * 64 * 3e-8,
         {{image, pooled.damped("%all", image)}, {small, "%x1"}}, pooled);
  std::string waves = tensor({64, 256}, "complex<f32>");
  Body transform;
  std::string y =
      transform.add("fft %x0, type = FFT, length = [256] : (" + waves + ") -> " + waves);
  to.add("transform", 64 * 256 * 2e-9, {{waves, y}}, transform);
}

void addStreams(Programs &to, double sharedBytes, bool quick) {
  for (int64_t size : {int64_t{1} << 23, int64_t{1} << 21, int64_t{1} << 15}) {
    std::string type = tensor({size});
    Body sum;
    std::string y = sum.binary("add", "%x0",
                               sum.binary("multiply", "%x1", sum.number("0.5", type), type), type);
    to.add("stream " + std::to_string(size), double(size) * 8e-10, {{type, "%x1"}, {type, y}}, sum);
  }
  // What no core's cache holds when it comes again, but that of all cores.
  double beyond = sharedBytes > 0 ? 0.3 * sharedBytes : 4e6;
  for (double bytes : {32768.0, 262144.0}) {
    to.streams(bytes, beyond);
    if (quick)
      break;
  }
}

void addMemory(Programs &to, bool quick) {
  for (int64_t size : {int64_t{64}, int64_t{256}, int64_t{2048}}) {
    std::string type = tensor({size, size});
    Body body;
    std::string y = body.damped(body.transpose("%x0", "1, 0", type, type), type);
    to.add("transpose " + std::to_string(size), double(size * size) * 1e-9, {{type, y}}, body);
    if (quick)
      break;
  }
  // Loops of few elements: the halves of rows change places, as when positions are turned in.
  {
    std::string type = tensor({512, 16}), half = tensor({512, 8}), row = tensor({512});
    Body body;
    std::string low = body.add("slice %x0 [0:512, 0:8] : (" + type + ") -> " + half);
    std::string high = body.add("slice %x0 [0:512, 8:16] : (" + type + ") -> " + half);
    std::string turned = body.add("concatenate " + body.unary("negate", high, half) + ", " + low +
                                  ", dim = 1 : (" + half + ", " + half + ") -> " + type);
    std::string y = body.binary("multiply", body.damped(turned, type),
                                body.broadcast("%x1", row, "0", type), type);
    to.add("short rows", 512 * 4e-9, {{type, y}, {row, "%x1"}}, body);
  }
  // Four columns of many: few enough rows that lines stay at hand until the next column is read, and
  // more.
  for (int64_t rows : {int64_t{512}, int64_t{4096}}) {
    std::string all = tensor({rows, 64}), some = tensor({rows, 4}), wide = tensor({4, rows});
    Body body;
    std::string part =
        body.add("slice %x0 [0:" + std::to_string(rows) + ", 0:4] : (" + all + ") -> " + some);
    std::string y = body.transpose(part, "1, 0", some, wide);
    to.add("four columns of " + std::to_string(rows), double(4 * rows) * 1e-9,
           {{all, "%x0"}, {wide, body.binary("add", body.damped("%x1", wide), y, wide)}}, body);
  }
  {
    std::string from = tensor({64, 12, 32}), to3 = tensor({32, 12, 64});
    Body body;
    std::string y = body.transpose("%x0", "2, 1, 0", from, to3);
    std::string back = body.damped(body.transpose(y, "2, 1, 0", to3, from), from);
    std::string reversed = body.add("reverse " + back + ", dims = [2] : " + from);
    to.add("reversed", 64 * 12 * 32 * 1e-9, {{from, reversed}}, body);
  }
  std::string table = tensor({512, 128}), indices = tensor({1024}, "i32"),
              wide = tensor({1024, 128});
  for (bool isRow : {true, false}) {
    Body body;
    std::string slice = isRow ? "1, 128" : "1, 1";
    std::string column = body.add("reshape %x1 : (" + indices + ") -> " + tensor({1024, 1}, "i32"));
    std::string index = column;
    std::string result = isRow ? wide : tensor({1024});
    if (!isRow)
      index = body.add("concatenate " + column + ", " + column + ", dim = 1 : (" +
                       tensor({1024, 1}, "i32") + ", " + tensor({1024, 1}, "i32") + ") -> " +
                       tensor({1024, 2}, "i32"));
    std::string numbers =
        isRow ? "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0]"
              : "collapsed_slice_dims = [0, 1], start_index_map = [0, 1]";
    std::string y = body.raw(
        "\"stablehlo.gather\"(%x0, " + index + ") <{dimension_numbers = #stablehlo.gather<" +
        numbers + ", index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: " +
        slice + ">}> : (" + table + ", " + tensor({1024, isRow ? 1 : 2}, "i32") + ") -> " + result);
    std::string sum = body.binary(
        "add", body.binary("multiply", "%x2", body.number("0.5", result), result), y, result);
    to.add(isRow ? "lookup of rows" : "lookup of elements", 1024 * (isRow ? 4e-8 : 3e-9),
           {{table, "%x0"}, {indices, "%x1"}, {result, sum}}, body);
  }
  std::string rows = tensor({16, 256});
  Body sort;
  sort.text = "      %s = \"stablehlo.sort\"(%x0) <{dimension = 1 : i64, is_stable = true}> ({\n"
              "      ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
              "        %less = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<f32>, "
              "tensor<f32>) -> tensor<i1>\n"
              "        stablehlo.return %less : tensor<i1>\n      }) : (" +
              rows + ") -> " + rows + "\n";
  to.add("sort", 16 * 256 * 3e-8, {{rows, sort.unary("negate", "%s", rows)}}, sort);
  addFoldings(to);
  Body scatter;
  std::string updates = tensor({1024, 128});
  scatter.text = "      %at = stablehlo.reshape %x1 : (" + indices + ") -> " +
                 tensor({1024, 1}, "i32") +
                 "\n      %s = \"stablehlo.scatter\"(%x0, %at, %x2) <{scatter_dimension_numbers = "
                 "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                 "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
                 "      ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
                 "        %sum = stablehlo.add %l, %r : tensor<f32>\n"
                 "        stablehlo.return %sum : tensor<f32>\n      }) : (" +
                 table + ", " + tensor({1024, 1}, "i32") + ", " + updates + ") -> " + table + "\n";
  to.add("scatter of rows", 1024 * 6e-8,
         {{table, scatter.damped("%s", table)}, {indices, "%x1"}, {updates, "%x2"}}, scatter);
}

// Weights of f32 that are read across, and are of bf16 where they are multiplied: nothing but computing
// them one by one makes a panel.
void addComputedProduct(Programs &to, int64_t m, int64_t n, int64_t k) {
  std::string a = tensor({m, k}, "bf16"), weights = tensor({n, k}), b = tensor({n, k}, "bf16"),
              c = tensor({m, n});
  Body body;
  std::string narrow = body.add("convert %x1 : (" + weights + ") -> " + b);
  std::string y = body.dot("%x0", narrow, "contracting_dims = [1] x [1]", a, b, c);
  to.add("product of weights read across", 2.0 * double(m * n * k) / 2e11 + double(n * k) * 5e-10,
         {{a, "%x0"}, {weights, "%x1"}, {c, body.binary("add", "%x2", y, c)}}, body);
}

void addProducts(Programs &to, double sharedBytes, bool quick) {
  for (const char *element : {"f32", "bf16"}) {
    to.product({256, 256, 256}, 1, element, false, false);
    to.product({32, 512, 512}, 1, element, false, false);
    if (quick)
      continue;
    to.product({512, 512, 512}, 1, element, false, true);
    to.product({256, 384, 128}, 1, element, true, false);
    to.product({64, 64, 64}, 16, element, false, true);
    to.product({128, 32, 128}, 8, element, false, false);
    to.product({4, 512, 512}, 1, element, false, false);
    to.product({128, 512, 16}, 1, element, false, false);
  }
  if (quick)
    return;
  addComputedProduct(to, 64, 256, 256);
  // In no core's cache when they come again; in no cache at all.
  double most = ofMachine(64e6, to.devices);
  for (double bytes : {sharedBytes > 0 ? 0.4 * sharedBytes : most / 4, most}) {
    to.product({32, 768, 384}, 1, "f32", false, false, bytes);
    // Rows of no power of two, which lie in all of a cache's sets.
    to.product({16, 480, 512}, 1, "f32", false, false, bytes);
    to.product({32, 512, 512}, 1, "f32", false, false, bytes);
    to.product({128, 512, 512}, 1, "f32", false, false, bytes);
    to.results(768, 384, 32, bytes);
    to.results(512, 768, 128, bytes);
  }
  to.product({128, 128, 128}, 1, "f64", false, false);
  addConvolutions(to);
}

// Nearly nothing in each kernel. Arrays of different sizes are not computed together, and of less than a
// kilobyte the loop would be a kernel itself. And few trips of one kernel, for what a step takes: it has
// a loop, and is no short one (lib/steps/ShortStep.h). So short that the least step counts (Run.cpp): what an
// interruption adds is several times what launches take.
void addLaunches(Programs &to) {
  constexpr double seconds = 5e-5;
  for (int kernels : {8, 24}) {
    Body body;
    std::vector<Carried> carried;
    for (int i = 0; i < kernels; ++i) {
      std::string type = tensor({512 + 16 * i});
      carried.push_back({type, body.damped("%x" + std::to_string(i), type)});
    }
    to.add("launches " + std::to_string(kernels), 1e-7 * kernels + 1e-7, carried, body, seconds);
  }
  std::string type = tensor({512});
  for (int trips : {8, 24}) {
    Body body;
    to.add("step of " + std::to_string(trips), 1, {{type, body.damped("%x0", type)}}, body, trips);
  }
}

} // namespace

std::vector<Program> kernelPrograms(int64_t cores, double sharedBytes, bool quick) {
  Programs programs(cores);
  addElementwise(programs, quick);
  addComposites(programs, quick);
  // Few keys, so that what each row takes is seen, and more of them.
  addAttention(programs, 16, 64, 16, "f32");
  if (!quick) {
    addAttention(programs, 4, 256, 32, "f32");
    addAttention(programs, 8, 128, 32, "bf16");
  }
  addStreams(programs, sharedBytes, quick);
  addMemory(programs, quick);
  addProducts(programs, sharedBytes, quick);
  addLaunches(programs);
  return std::move(programs.all);
}

} // namespace tessera::calibration
