#include "compiler/CalibrationPrograms.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

namespace tessera::calibration {
namespace {

// Sizes of arrays that follow each other, for machines of up to sixteen cores.
double ofMachine(double bytes, int64_t cores) {
  return bytes * std::clamp(16 / double(cores), 0.25, 1.0);
}

// What a loop carries: its type, and what the next trip gets.
struct Carried {
  std::string type, next;
};

std::string meshText(int64_t devices) {
  return devices == 1 ? "" : "  sdy.mesh @mesh = <[\"d\"=" + std::to_string(devices) + "]>\n";
}

// A function that runs `body` so many times. In it %0, %1, .. are called %x0, %x1, .. Results are
// what changes.
std::string looped(int64_t devices, int64_t trips, llvm::ArrayRef<Carried> carried,
                   const std::string &body) {
  std::string arguments, types, initial, loopTypes, results, next, comma;
  for (size_t i = 0; i < carried.size(); ++i) {
    std::string n = std::to_string(i);
    arguments += (i ? ", %a" : "%a") + n + ": " + carried[i].type;
    initial += ", %x" + n + " = %a" + n;
    loopTypes += ", " + carried[i].type;
    next += ", " + carried[i].next;
    if (carried[i].next == "%x" + n)
      continue;
    results += comma + "%loop#" + std::to_string(i + 1);
    types += comma + carried[i].type;
    comma = ", ";
  }
  return "module {\n" + meshText(devices) + "  func.func public @main(" + arguments + ") -> (" +
         types + ") {\n    %zero = stablehlo.constant dense<0> : tensor<i32>\n    %loop:" +
         std::to_string(carried.size() + 1) + " = stablehlo.while(%i = %zero" + initial +
         ") : tensor<i32>" + loopTypes + "\n    cond {\n      %trips = stablehlo.constant dense<" +
         std::to_string(trips) +
         "> : tensor<i32>\n      %more = stablehlo.compare LT, %i, %trips : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n      stablehlo.return %more : tensor<i1>\n    } do {\n" +
         body +
         "      %one = stablehlo.constant dense<1> : tensor<i32>\n      %after = stablehlo.add %i, "
         "%one : tensor<i32>\n      stablehlo.return %after" +
         next + " : tensor<i32>" + loopTypes + "\n    }\n    return " + results + " : " + types +
         "\n  }\n}\n";
}

std::string tensor(llvm::ArrayRef<int64_t> shape, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

// Lines of a loop's body.
class Body {
public:
  std::string text;

  std::string add(const std::string &line) { return raw("stablehlo." + line); }
  std::string raw(const std::string &line) {
    std::string name = "%v" + std::to_string(count++);
    text += "      " + name + " = " + line + "\n";
    return name;
  }
  std::string unary(const std::string &op, const std::string &x, const std::string &type) {
    return add(op + " " + x + " : " + type);
  }
  std::string binary(const std::string &op, const std::string &x, const std::string &y,
                     const std::string &type) {
    return add(op + " " + x + ", " + y + " : " + type);
  }
  std::string number(const std::string &value, const std::string &type) {
    return add("constant dense<" + value + "> : " + type);
  }
  std::string broadcast(const std::string &x, const std::string &from, const std::string &dims,
                        const std::string &to) {
    return add("broadcast_in_dim " + x + ", dims = [" + dims + "] : (" + from + ") -> " + to);
  }
  std::string transpose(const std::string &x, const std::string &order, const std::string &from,
                        const std::string &to) {
    return add("transpose " + x + ", dims = [" + order + "] : (" + from + ") -> " + to);
  }
  std::string reduce(const std::string &how, const std::string &x, const std::string &from,
                     const std::string &dim, const std::string &to) {
    std::string start = number(how == "maximum" ? "0xFF800000" : "0.0", "tensor<f32>");
    return add("reduce(" + x + " init: " + start + ") applies stablehlo." + how +
               " across dimensions = [" + dim + "] : (" + from + ", tensor<f32>) -> " + to);
  }
  std::string dot(const std::string &a, const std::string &b, const std::string &numbers,
                  const std::string &aType, const std::string &bType, const std::string &to) {
    return add("dot_general " + a + ", " + b + ", " + numbers + " : (" + aType + ", " + bType +
               ") -> " + to);
  }
  // Keeps values near one.
  std::string damped(const std::string &x, const std::string &type) {
    return binary("add", binary("multiply", x, number("5.000000e-01", type), type),
                  number("2.500000e-01", type), type);
  }

private:
  int count = 0;
};

class Programs {
public:
  explicit Programs(int64_t devices) : devices(devices) {}
  std::vector<Program> all;
  int64_t devices;

  // About two milliseconds, at a guess of how long a trip takes.
  void add(const std::string &name, double secondsOfTrip, llvm::ArrayRef<Carried> carried,
           const Body &body, double seconds = 2e-3) {
    auto trips = static_cast<int64_t>(seconds / secondsOfTrip) + 1;
    all.push_back({name, looped(devices, trips, carried, body.text), devices, devices});
  }

  // f(x) on arrays of several sizes; `f` repeats its operation.
  template <class F>
  void elementwise(const std::string &name, llvm::ArrayRef<int64_t> sizes, double secondsOfElement,
                   F f, const std::string &element = "f32") {
    for (int64_t size : sizes) {
      std::string type = tensor({size}, element);
      Body body;
      std::string y = f(body, type);
      add(name + " " + std::to_string(size), secondsOfElement * double(size), {{type, y}}, body);
    }
  }

  void product(llvm::ArrayRef<int64_t> mnk, int64_t batch, const std::string &element,
               bool turnsLeft, bool turnsRight, double bytesOfWeights = 0) {
    int64_t m = mnk[0], n = mnk[1], k = mnk[2];
    auto shaped = [&](int64_t rows, int64_t columns, bool isTurned) {
      llvm::SmallVector<int64_t> shape;
      if (batch > 1)
        shape.push_back(batch);
      shape.push_back(isTurned ? columns : rows);
      shape.push_back(isTurned ? rows : columns);
      return tensor(shape, element);
    };
    std::string a = shaped(m, k, turnsLeft), b = shaped(k, n, turnsRight), c = shaped(m, n, false);
    int64_t first = batch > 1;
    std::string numbers = batch > 1 ? "batching_dims = [0] x [0], " : "";
    numbers += "contracting_dims = [" + std::to_string(first + (turnsLeft ? 0 : 1)) + "] x [" +
               std::to_string(first + (turnsRight ? 1 : 0)) + "]";
    Body body;
    // Weights that follow each other do not stay in a cache.
    int weights = 1 + static_cast<int>(bytesOfWeights / double(k * n * 4));
    std::vector<Carried> carried{{a, "%x0"}, {c, ""}};
    std::string sum = "%x1";
    for (int i = 0; i < weights; ++i) {
      std::string w = "%x" + std::to_string(i + 2);
      carried.push_back({b, w});
      std::string y = body.dot("%x0", w, numbers, a, b, c);
      sum = body.binary("add", sum, y, c);
    }
    carried[1].next = sum;
    double flops = 2.0 * double(batch * m * n * k) * weights;
    add("product " + element + " " + std::to_string(batch) + "x" + std::to_string(m) + "x" +
            std::to_string(n) + "x" + std::to_string(k) + (turnsLeft ? " left turned" : "") +
            (turnsRight ? " right turned" : "") +
            (weights > 1 ? " " + std::to_string(int(bytesOfWeights / 1e6)) + " MB" : ""),
        flops / 5e10 + 1e-5, carried, body);
  }

  // Products whose results follow each other, and do not stay in a cache.
  void results(int64_t m, int64_t n, int64_t k, double bytes) {
    std::string a = tensor({m, k}), b = tensor({k, n}), c = tensor({m, n});
    Body body;
    std::string x = body.damped("%x0", a);
    std::vector<Carried> carried{{a, x}};
    int count = 1 + static_cast<int>(bytes / double(m * n * 4));
    for (int i = 0; i < count; ++i) {
      std::string y = "%x" + std::to_string(2 * i + 1);
      carried.push_back({b, y});
      carried.push_back({c, body.dot(x, y, "contracting_dims = [1] x [0]", a, b, c)});
    }
    add("results " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " +
            std::to_string(int(bytes / 1e6)) + " MB",
        2.0 * double(m * n * k) * count / 5e10 + 1e-5, carried, body);
  }
};

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
  to.elementwise("arithmetic", sizes, 3e-10,
                 repeat(6, [](Body &body, const std::string &x, const std::string &type) {
                   return body.binary("maximum", body.damped(x, type),
                                      body.unary("negate", x, type), type);
                 }));
  to.elementwise("little arithmetic", {2048, 16384}, 1e-10,
                 repeat(1, [](Body &body, const std::string &x, const std::string &type) {
                   return body.damped(x, type);
                 }));
  to.elementwise("arithmetic of bf16", {sizes.front()}, 2e-9,
                 repeat(3, [](Body &body, const std::string &x,
                              const std::string &type) { return body.damped(x, type); }),
                 "bf16");
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
  to.elementwise("integer remainder", {4096}, 4e-9,
                 repeat(1,
                        [](Body &body, const std::string &x, const std::string &type) {
                          std::string seven = body.number("7", type);
                          return body.binary("add", x, body.binary("remainder", x, seven, type),
                                             type);
                        }),
                 "i32");
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

void addMemory(Programs &to, bool quick) {
  for (int64_t size : {int64_t{1} << 23, int64_t{1} << 21, int64_t{1} << 15}) {
    std::string type = tensor({size});
    Body sum;
    std::string y = sum.binary("add", "%x0",
                               sum.binary("multiply", "%x1", sum.number("0.5", type), type), type);
    to.add("stream " + std::to_string(size), double(size) * 8e-10, {{type, "%x1"}, {type, y}}, sum);
  }
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

// Of 64 channels with 64, in so many groups.
void addConvolution(Programs &to, const std::string &name, int64_t channels, int64_t groups,
                    double secondsOfTrip) {
  std::string image = tensor({2, 16, 16, 64}), kernel = tensor({3, 3, channels, 64});
  Body body;
  std::string y = body.add(
      "convolution(%x0, %x1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
      "{stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count "
      "= " +
      std::to_string(groups) + " : i64} : (" + image + ", " + kernel + ") -> " + image);
  to.add(name, secondsOfTrip, {{image, body.damped(y, image)}, {kernel, "%x1"}}, body);
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
  // In no core's cache when they come again; in no cache at all.
  double most = ofMachine(64e6, to.devices);
  for (double bytes : {sharedBytes > 0 ? 0.4 * sharedBytes : most / 4, most}) {
    to.product({32, 768, 384}, 1, "f32", false, false, bytes);
    to.product({16, 512, 512}, 1, "f32", false, false, bytes);
    to.product({32, 512, 512}, 1, "f32", false, false, bytes);
    to.product({128, 512, 512}, 1, "f32", false, false, bytes);
    to.results(768, 384, 32, bytes);
    to.results(512, 768, 128, bytes);
  }
  to.product({128, 128, 128}, 1, "f64", false, false);
  addConvolution(to, "convolution", 64, 1, 6e-4);
  addConvolution(to, "depthwise convolution", 1, 64, 2e-4);
}

// Nearly nothing in each kernel; few of them and more, for what a step takes.
void addLaunches(Programs &to) {
  for (int kernels : {8, 24}) {
    std::string type = tensor({16});
    Body body;
    std::string x = "%x0";
    for (int i = 0; i < kernels; ++i) {
      std::string y = body.damped(x, type);
      x = body.add("optimization_barrier " + y + " : " + type);
    }
    double trip = 1e-7 * kernels + 1e-7;
    to.add("launches " + std::to_string(kernels), trip, {{type, x}}, body);
    to.add("step of " + std::to_string(kernels), trip, {{type, x}}, body, trip);
  }
}

} // namespace

std::vector<Program> kernelPrograms(int64_t cores, double sharedBytes, bool quick) {
  Programs programs(cores);
  addElementwise(programs, quick);
  addComposites(programs, quick);
  addMemory(programs, quick);
  addProducts(programs, sharedBytes, quick);
  addLaunches(programs);
  return std::move(programs.all);
}

std::vector<double> cacheBytes(int64_t cores) {
  std::vector<double> all;
  for (double bytes : {8e6, 16e6, 32e6, 64e6})
    all.push_back(ofMachine(bytes, cores));
  return all;
}

std::vector<Program> cachePrograms(int64_t cores) {
  Programs programs(cores);
  for (double bytes : cacheBytes(cores))
    programs.product({32, 512, 512}, 1, "f32", false, false, bytes);
  return std::move(programs.all);
}

std::vector<Program> tilePrograms(int64_t cores) {
  Programs programs(cores);
  std::string array = tensor({1 << 16}), matrix = tensor({256, 256}, "bf16");
  for (auto [computes, multiplies] : {std::pair{true, false}, {false, true}, {true, true}}) {
    Body body;
    std::vector<Carried> carried;
    if (computes)
      carried.push_back({array, body.unary("logistic", "%x0", array)});
    if (multiplies) {
      std::string first = "%x" + std::to_string(carried.size()),
                  second = "%x" + std::to_string(carried.size() + 1);
      carried.push_back({matrix, body.dot(first, second, "contracting_dims = [1] x [0]", matrix,
                                          matrix, matrix)});
      carried.push_back({matrix, second});
    }
    programs.add(computes && multiplies ? "logistic beside tiles"
                 : computes             ? "logistic alone"
                                        : "tiles",
                 4e-5, carried, body, 4e-3);
  }
  return std::move(programs.all);
}

std::vector<Program> sharedPrograms(int64_t cores) {
  Programs programs(1);
  programs.product({512, 512, 512}, 1, "f32", false, false);
  programs.product({64, 512, 512}, 1, "f32", false, false);
  Body body;
  std::string type = tensor({1 << 16}), x = "%x0";
  for (int i = 0; i < 4; ++i)
    x = body.unary("logistic", x, type);
  programs.add("shared logistic", 3e-5, {{type, x}}, body);
  std::vector<Program> all = programs.all; // alone
  for (Program &program : programs.all) {
    program.threads = cores;
    all.push_back(std::move(program));
  }
  return all;
}

namespace {

// [[0, 1], [2, 3]] of four devices and groups of two.
std::string groupsText(int64_t devices, int64_t group) {
  std::string all;
  for (int64_t first = 0; first < devices; first += group) {
    std::string members;
    for (int64_t i = 0; i < group; ++i)
      members += (i ? ", " : "") + std::to_string(first + i);
    all += (first ? ", [" : "[") + members + "]";
  }
  return "replica_groups = dense<[" + all + "]> : tensor<" + std::to_string(devices / group) + "x" +
         std::to_string(group) +
         "xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
}

// A collective of %x0, and half of its result, which differs from it: it would be moved out of the
// loop otherwise.
std::string collectiveText(links::Pattern kind, const std::string &groups, int64_t group,
                           int64_t rows) {
  std::string type = tensor({rows, 16}), small = tensor({rows / group, 16}), op;
  if (kind == links::Pattern::AllReduce)
    op = "        %y0 = \"stablehlo.all_reduce\"(%x0) <{" + groups +
         ", use_global_device_ids}> ({\n        ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
         "          %m = stablehlo.maximum %l, %r : tensor<f32>\n"
         "          stablehlo.return %m : tensor<f32>\n        }) : (" +
         type + ") -> " + type + "\n";
  else if (kind == links::Pattern::AllToAll)
    op = "        %y0 = \"stablehlo.all_to_all\"(%x0) <{concat_dimension = 0 : i64, "
         "split_dimension = 0 : i64, split_count = " +
         std::to_string(group) + " : i64, " + groups + "}> : (" + type + ") -> " + type + "\n";
  else
    op = "        %part = stablehlo.slice %x0 [0:" + std::to_string(rows / group) + ", 0:16] : (" +
         type + ") -> " + small +
         "\n        %y0 = \"stablehlo.all_gather\"(%part) <{all_gather_dim = 0 : i64, " + groups +
         ", use_global_device_ids}> : (" + small + ") -> " + type + "\n";
  return op + "        %half = stablehlo.constant dense<5.000000e-01> : " + type +
         "\n        %y = stablehlo.multiply %y0, %half : " + type + "\n";
}

// What is computed between small collectives, some microseconds: devices that take turns come at
// different times then, and cores wait for the last, as in a step.
std::string computingText(int64_t rows) {
  constexpr int64_t times = 64;
  std::string type = tensor({rows, 16}), wide = tensor({times, rows, 16}),
              one = tensor({1, rows, 16});
  std::string row = std::to_string(rows);
  return "        %wide = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (" + type + ") -> " +
         wide + "\n        %made = stablehlo.logistic %wide : " + wide +
         "\n        %kept = stablehlo.optimization_barrier %made : " + wide +
         "\n        %first = stablehlo.slice %kept [0:1, 0:" + row + ", 0:16] : (" + wide +
         ") -> " + one + "\n        %next = stablehlo.reshape %first : (" + one + ") -> " + type +
         "\n";
}

} // namespace

std::vector<CollectiveProgram> collectivePrograms(int64_t devices, int64_t group, bool quick,
                                                  int64_t mostTrips) {
  std::vector<CollectiveProgram> all;
  std::string groups = groupsText(devices, group);
  llvm::SmallVector<int64_t> sizes{256, 1 << 14, 1 << 18};
  if (!quick)
    sizes.push_back(1 << 20);
  const std::pair<const char *, links::Pattern> kinds[] = {
      {"all_reduce", links::Pattern::AllReduce},
      {"all_to_all", links::Pattern::AllToAll},
      {"all_gather", links::Pattern::AllGather}};
  for (int64_t size : sizes)
    for (auto [name, kind] : kinds) {
      int64_t rows = std::max(size / 16 / group, int64_t{1}) * group;
      std::string type = tensor({rows, 16});
      bool computes = size == sizes.front();
      double guess = 2e-6 * double(group) + double(size * group) * 1e-9 + (computes ? 1e-5 : 0);
      int64_t trips = std::min(static_cast<int64_t>(2e-3 / guess), mostTrips) + 1;
      std::string body =
          looped(1, trips, {{type, computes ? "%next" : "%y"}},
                 collectiveText(kind, groups, group, rows) + (computes ? computingText(rows) : ""));
      // The loop inside a manual computation over the mesh.
      std::string inner = body.substr(body.find("    %zero"));
      inner = inner.substr(0, inner.find("    return "));
      std::string text =
          "module attributes {mhlo.num_partitions = " + std::to_string(devices) + " : i32} {\n" +
          meshText(devices) + "  func.func public @main(%g: " + type + ") -> " + type +
          " {\n    %out = sdy.manual_computation(%g) in_shardings=[<@mesh, [{}, {}]>] "
          "out_shardings=[<@mesh, [{}, {}]>] manual_axes={\"d\"} (%a0: " +
          type + ") {\n" + inner + "    sdy.return %loop#1 : " + type + "\n    } : (" + type +
          ") -> " + type + "\n    return %out : " + type + "\n  }\n}\n";
      std::string full =
          std::string(name) + " " + std::to_string(group) + "x" + std::to_string(size);
      all.push_back({{full, text, devices, 0}, kind, group, double(rows) * 64});
    }
  return all;
}

} // namespace tessera::calibration
