#include "compiler/calibrate/Programs.h"

#include "compiler/calibrate/List.h"

namespace tessera::calibration {

std::vector<double> cacheBytes(int64_t cores) {
  std::vector<double> all;
  for (double bytes : {2e6, 5e6, 8e6, 12e6, 16e6, 24e6, 32e6, 48e6, 64e6})
    all.push_back(ofMachine(bytes, cores));
  return all;
}

std::vector<Program> cachePrograms(int64_t cores) {
  Programs programs(cores);
  for (double bytes : cacheBytes(cores))
    programs.product({32, kSideOfCachePart, kSideOfCachePart}, 1, "f32", false, false, bytes);
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
  std::vector<Program> all;
  for (int64_t devices : {cores, int64_t(1)}) {
    Programs programs(devices);
    programs.product({512, 512, 512}, 1, "f32", false, false);
    programs.product({64, 512, 512}, 1, "f32", false, false);
    Body body;
    std::string type = tensor({1 << 16}), x = "%x0";
    for (int i = 0; i < 4; ++i)
      x = body.unary("logistic", x, type);
    programs.add("shared logistic", 3e-5, {{type, x}}, body);
    for (Program &program : programs.all) {
      program.threads = cores;
      all.push_back(std::move(program));
    }
  }
  return all;
}

std::vector<Program> shortPrograms(int64_t cores) {
  auto program = [](const std::string &name, int64_t elements, int operations, int64_t threads) {
    std::string type = tensor({elements}), x = "%x0";
    Body body;
    for (int i = 0; i < operations; ++i)
      x = body.unary("logistic", x, type);
    std::string text = "module {\n  func.func public @main(%x0: " + type + ") -> " + type + " {\n" +
                       body.text + "    return " + x + " : " + type + "\n  }\n}\n";
    return Program{name, text, 1, threads};
  };
  return {program("short step", 512, 1, cores), program("short step of one", 1 << 16, 2, 1),
          program("short step that is shared", 1 << 16, 2, cores)};
}

} // namespace tessera::calibration
