// The rates of a GPU: what a step and a launch take, how fast its memory is, and how fast products are.
// What isn't measured (the number of processors, links, memory spaces) is of the machine that programs
// for the architecture are priced for (lib/machines).
#include "compiler/calibrate/Calibrate.h"

#include "compiler/calibrate/Run.h"
#include "compiler/source/TopologyFile.h"
#include "lib/target/GpuArchitectures.h"

#include <algorithm>

namespace tessera {
namespace {

using calibration::Compiled;
using calibration::Program;

std::string function(const std::string &arguments, const std::string &body,
                     const std::string &type) {
  return "func.func @main(" + arguments + ") -> " + type + " {\n" + body + "  return %r : " + type +
         "\n}\n";
}

std::string doubled(int64_t elements) {
  std::string type = "tensor<" + std::to_string(elements) + "xf32>";
  return function("%x: " + type, "  %r = stablehlo.add %x, %x : " + type + "\n", type);
}

std::string product(int64_t size, const std::string &element) {
  std::string n = std::to_string(size), type = "tensor<" + n + "x" + n + "x" + element + ">";
  return function("%x: " + type + ", %w: " + type,
                  "  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" + type +
                      ", " + type + ") -> " + type + "\n",
                  type);
}

// Small kernels, each of which needs all that the one before computes.
std::string chain(int64_t links) {
  std::string type = "tensor<64x64xf32>", row = "tensor<64xf32>", body, last = "%x";
  body = "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n";
  for (int64_t link = 0; link < links; ++link) {
    std::string n = std::to_string(link), next = link + 1 == links ? "%r" : "%x" + n;
    body += "  %s" + n + " = stablehlo.reduce(" + last + " init: %zero) applies stablehlo.add " +
            "across dimensions = [0] : (" + type + ", tensor<f32>) -> " + row + "\n  %b" + n +
            " = stablehlo.broadcast_in_dim %s" + n + ", dims = [1] : (" + row + ") -> " + type +
            "\n  " + next + " = stablehlo.subtract " + last + ", %b" + n + " : " + type + "\n";
    last = next;
  }
  return function("%x: " + type, body, type);
}

class GpuCalibrator {
public:
  GpuCalibrator(const CalibrationOptions &options, std::string target)
      : options(options), target(std::move(target)) {}

  Calibration run(llvm::StringRef machine) {
    mlir::MLIRContext context;
    context.loadDialect<TesseraDialect>();
    topology = llvm::cantFail(parseTopologyFile(&context, machine)).toTopology();
    int64_t elements = options.quick ? 1 << 12 : 1 << 26, size = options.quick ? 64 : 4096;
    double flops = 2 * double(size) * double(size) * double(size);
    double launches = 1;
    double empty = measure("a small kernel", doubled(16)),
           linked = measure("a chain of them", chain(32), &launches),
           moved = measure("a copy", doubled(elements)),
           f32 = measure("a product of f32", product(size, "f32")),
           bf16 = measure("a product of bf16", product(size, "bf16"));
    if (!result.error.empty())
      return std::move(result);
    cost::DeviceRates &rates = topology.device;
    rates.launchSeconds = std::max(linked - empty, 0.0) / std::max(launches - 1, 1.0);
    rates.stepSeconds = std::max(empty - rates.launchSeconds, 0.0);
    rates.bytesPerSecond = 2.0 * 4 * double(elements) / beside(empty, moved);
    rates.flopsPerSecond = flops / beside(empty, f32);
    rates.flopsByType["bf16"] = rates.flopsByType["f16"] = flops / beside(empty, bf16);
    topology.name = "calibrated";
    topology.about =
        "steps, launches, memory, products of f32, bf16 and f16 measured; else as " + machine.str();
    result.topology = std::move(topology);
    return std::move(result);
  }

private:
  // What a kernel takes of a step, at the least a part that one can tell from nothing.
  static double beside(double empty, double seconds) {
    return std::max(seconds - empty, 0.05 * seconds);
  }

  double measure(const std::string &name, const std::string &text, double *launches = nullptr) {
    constexpr size_t programs = 5;
    if (!result.error.empty())
      return 0;
    if (options.progress)
      options.progress(result.names.size(), programs, name);
    Program program{name, text, /*devices=*/1, /*threads=*/0};
    Compiled compiled = calibration::compileFor(program, topology, target);
    if (launches)
      *launches = compiled.work.launches;
    result.names.push_back(name);
    return calibration::secondsOf(program, compiled, options, result.error,
                                  {options.quick ? 0.03 : 0.06});
  }

  const CalibrationOptions &options;
  const std::string target;
  cost::Topology topology;
  Calibration result;
};

} // namespace

Calibration calibrateGpu(const CalibrationOptions &options, const target::Choice &target) {
  const target::Processor &architecture = target.processors.front();
  return GpuCalibrator(options, target.target + ":" + architecture.name)
      .run(target::machineOf(architecture));
}

} // namespace tessera
