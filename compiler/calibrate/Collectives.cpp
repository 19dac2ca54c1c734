#include "compiler/calibrate/Programs.h"
#include "compiler/calibrate/Text.h"

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
