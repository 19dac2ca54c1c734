#include "compiler/calibrate/Programs.h"
#include "compiler/calibrate/Text.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::calibration {
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

// The same without a collective.
std::string aloneText(int64_t rows) {
  std::string type = tensor({rows, 16});
  return "        %y0 = stablehlo.optimization_barrier %x0 : " + type +
         "\n        %half = stablehlo.constant dense<5.000000e-01> : " + type +
         "\n        %y = stablehlo.multiply %y0, %half : " + type + "\n";
}

// What is computed between exchanges: all of %x1, once %y is there, and the next %x0 of that. Little of
// each element: what exchanges take is the difference of two such steps. And so few that a core holds
// those of all its devices: these take turns only where they exchange, and what they then fetch again
// is counted where they do.
constexpr int64_t kBeside = 1 << 13; // elements
std::string besideText(int64_t rows) {
  std::string type = tensor({rows, 16}), wide = tensor({kBeside});
  return "        %corner = stablehlo.slice %y [0:1, 0:1] : (" + type +
         ") -> tensor<1x1xf32>\n        %one_of = stablehlo.reshape %corner : (tensor<1x1xf32>) -> "
         "tensor<f32>\n        %all = stablehlo.broadcast_in_dim %one_of, dims = [] : "
         "(tensor<f32>) -> " +
         wide + "\n        %sum = stablehlo.add %x1, %all : " + wide +
         "\n        %less = stablehlo.constant dense<5.000000e-01> : " + wide +
         "\n        %made = stablehlo.multiply %sum, %less : " + wide +
         "\n        %kept = stablehlo.optimization_barrier %made : " + wide +
         "\n        %first = stablehlo.slice %kept [0:1] : (" + wide +
         ") -> tensor<1xf32>\n        %scale = stablehlo.reshape %first : (tensor<1xf32>) -> "
         "tensor<f32>\n        %scales = stablehlo.broadcast_in_dim %scale, dims = [] : "
         "(tensor<f32>) -> " +
         type + "\n        %next = stablehlo.multiply %y, %scales : " + type + "\n";
}

// A loop of every device's own.
std::string manualText(int64_t devices, int64_t trips, llvm::ArrayRef<Carried> carried,
                       const std::string &lines) {
  std::string inner = looped(1, trips, carried, lines);
  inner = inner.substr(inner.find("    %zero"));
  inner = inner.substr(0, inner.find("    return "));
  std::string given, names, types, replicated, arguments, results;
  for (auto [i, each] : llvm::enumerate(carried)) {
    std::string number = std::to_string(i), comma = i ? ", " : "";
    given += comma + "%g" + number + ": " + each.type;
    names += comma + "%g" + number;
    types += comma + each.type;
    std::string dims = each.type.find('x') == each.type.rfind('x') ? "{}" : "{}, {}";
    replicated += comma + "<@mesh, [" + dims + "]>";
    arguments += comma + "%a" + number + ": " + each.type;
    results += comma + "%loop#" + std::to_string(i + 1);
  }
  return "module attributes {mhlo.num_partitions = " + std::to_string(devices) + " : i32} {\n" +
         meshText(devices) + "  func.func public @main(" + given + ") -> (" + types +
         ") {\n    %out:" + std::to_string(carried.size()) + " = sdy.manual_computation(" + names +
         ") in_shardings=[" + replicated + "] out_shardings=[" + replicated +
         "] manual_axes={\"d\"} (" + arguments + ") {\n" + inner + "    sdy.return " + results +
         " : " + types + "\n    } : (" + types + ") -> (" + types + ")\n    return " +
         (carried.size() == 1 ? "%out#0" : "%out#0, %out#1") + " : " + types + "\n  }\n}\n";
}

constexpr std::pair<const char *, links::Pattern> kKinds[] = {
    {"all_reduce", links::Pattern::AllReduce},
    {"all_to_all", links::Pattern::AllToAll},
    {"all_gather", links::Pattern::AllGather}};

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

std::vector<CollectiveProgram> collectivePrograms(int64_t devices, int64_t group,
                                                  llvm::ArrayRef<int64_t> sizes,
                                                  int64_t mostTrips) {
  std::vector<CollectiveProgram> all;
  std::string groups = groupsText(devices, group);
  for (int64_t size : sizes)
    for (auto [name, kind] : kKinds) {
      int64_t rows = std::max(size / 16 / group, int64_t{1}) * group;
      std::string type = tensor({rows, 16});
      bool computes = size == kLeastElements;
      double guess = 2e-6 * double(group) + double(size * group) * 1e-9 + (computes ? 1e-5 : 0);
      int64_t trips = std::min(static_cast<int64_t>(2e-3 / guess), mostTrips) + 1;
      std::string text = manualText(devices, trips, {{type, computes ? "%next" : "%y"}},
                                    collectiveText(kind, groups, group, rows) +
                                        (computes ? computingText(rows) : ""));
      std::string full =
          std::string(name) + " " + std::to_string(group) + "x" + std::to_string(size);
      all.push_back({{full, text, devices, 0}, kind, group, double(rows) * 64});
    }
  return all;
}

std::vector<ExchangeProgram> exchangePrograms(int64_t devices, bool quick) {
  std::vector<ExchangeProgram> all;
  std::string groups = groupsText(devices, devices);
  llvm::SmallVector<int64_t> sizes{1 << 14, kLeastElements};
  if (!quick)
    sizes.append({1 << 12, 1 << 16});
  for (int64_t size : sizes) {
    int64_t rows = std::max(size / 16 / devices, int64_t{1}) * devices;
    std::vector<Carried> carried{{tensor({rows, 16}), "%next"}, {tensor({kBeside}), "%kept"}};
    size_t without = all.size();
    auto add = [&](const std::string &name, const std::string &lines) {
      std::string full = name + " " + std::to_string(devices) + "x" + std::to_string(size);
      all.push_back({{full, manualText(devices, 24, carried, lines + besideText(rows)), devices, 0},
                     without});
    };
    add("no collective", aloneText(rows));
    for (auto [name, kind] : kKinds)
      add(std::string(name) + " in a step", collectiveText(kind, groups, devices, rows));
  }
  return all;
}

} // namespace tessera::calibration
