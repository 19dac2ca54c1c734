// compile: the road through the phases, timed, then the program's bytes.
#include "compiler/Compile.h"

#include "compiler/DeepStack.h"
#include "compiler/Entry.h"
#include "compiler/PredictedTrace.h"
#include "compiler/Report.h"
#include "compiler/Road.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/target/Target.h"
#include "lib/text/Quantity.h"
#include "passes/package/Figures.h"
#include "passes/package/Package.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <limits>

namespace tessera {

const CompileListener &silentListener() {
  static auto line = [](const std::string &) {};
  static auto text = [](llvm::StringRef) {};
  static const CompileListener silent{line, text, text};
  return silent;
}

namespace {

class Stopwatch {
public:
  // Seconds since the last lap.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

std::string phaseNames() {
  std::string names;
  for (const Phase &phase : phases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

// What is wrong with the options, empty when nothing is.
std::string checkOptions(const CompileOptions &options) {
  for (auto [flag, name] :
       {std::pair("--stop-after", options.stopAfter), {"--print-after", options.printAfter}})
    if (!name.empty() && !findPhase(name))
      return std::string("error: ") + flag + "=" + name +
             ": no such phase; phases: " + phaseNames();
  const Phase *last = findPhase(options.stopAfter), *printed = findPhase(options.printAfter);
  if (last && printed && printed > last)
    return "error: --print-after=" + options.printAfter +
           ": comes after --stop-after=" + options.stopAfter;
  return "";
}

// Of programs whose code is there, what a device holds at most.
int64_t heldMemory(mlir::ModuleOp module) {
  int64_t most = 0;
  for (auto program : module.getOps<exec::ProgramOp>())
    most = std::max(most, memoryFigures(program).total());
  return most;
}

CompileResult compileHere(llvm::StringRef text, const CompileOptions &options,
                          const CompileListener &listener) {
  CompileResult result;
  if (result.error = checkOptions(options); !result.error.empty())
    return result;
  llvm::Expected<target::Choice> target = target::choose(options.target, options.targetCpu);
  if (!target) {
    result.error = "error: " + llvm::toString(target.takeError());
    return result;
  }

  Stopwatch watch, all;
  llvm::json::Array seconds;
  auto timed = [&](llvm::StringRef phase) {
    seconds.push_back(
        llvm::json::Object{{"name", phase}, {"seconds", std::round(watch.lap() * 1e6) / 1e6}});
  };

  Road road(options, listener);
  if (result.error = road.read(text); !result.error.empty())
    return result;
  mlir::ModuleOp module = road.module();
  setTarget(module, TargetAttr::of(module.getContext(), *target));
  timed("parse");

  // The whole road ends by writing the program, which checks what the last phase's verifier does.
  bool whole = options.stopAfter.empty(), isSharded = true;
  std::optional<int64_t> memory = scheduleOf(module).memory; // a phase may make do with less
  const Phase &last = phases().back();
  result.error = road.run(whole ? last.name : "", [&](const Phase &phase) {
    timed(phase.name);
    if (phase.name == "import") // what has a sharding is on a mesh
      isSharded = !module.getOps<sdy::MeshOp>().empty();
    if (phase.name == options.printAfter)
      listener.print(printed(module));
    return phase.name != options.stopAfter;
  });
  if (!result.error.empty())
    return result;
  if (!whole)
    result.program = printed(module);
  if (whole) {
    int64_t held = heldMemory(module);
    if (memory && held > *memory) {
      result.error = "error: " + options.inputName +
                     ": the program does not fit into the memory of each device. Allow --memory=" +
                     std::to_string(held);
      return result;
    }
  }

  if (options.predictsTrace)
    result.trace = predictedTrace(module);
  llvm::json::Object report = reportProgram(module, countDevices(module));
  if (whole) {
    listener.began(last.name);
    // The program carries its figures, but no times: the same input gives the same bytes.
    mlir::FailureOr<Package> package =
        packageProgram(module, reportText(llvm::json::Object(report)));
    if (failed(package)) {
      result.error = road.error("the program cannot be written");
      return result;
    }
    if (last.name == options.printAfter)
      listener.print(printed(module));
    result.program = writeContainer(*package);
    result.sha256 =
        llvm::toHex(llvm::SHA256::hash({reinterpret_cast<const uint8_t *>(result.program.data()),
                                        result.program.size()}),
                    /*LowerCase=*/true);
    report["sha256"] = result.sha256;
    timed(last.name);
    result.summary = summaryLine(report, isSharded, all.lap());
  }
  report["phases"] = std::move(seconds);
  result.report = reportText(std::move(report)) + "\n";
  return result;
}

} // namespace

std::string readSchedule(llvm::StringRef overlap, llvm::StringRef memory,
                         cost::ScheduleOptions &into) {
  if (!overlap.empty()) {
    std::optional<cost::Overlap> chosen = cost::overlapNamed(overlap);
    if (!chosen)
      return ("overlap=" + overlap + ": must be auto, on or off").str();
    into.overlap = *chosen;
  }
  if (!memory.empty()) {
    into.memory = text::bytesIn(memory);
    if (!into.memory)
      return ("memory=" + memory + ": must be a size, such as 80GB, 1.5GiB or 4096").str();
  }
  return "";
}

CompileResult compile(llvm::StringRef text, const CompileOptions &options,
                      const CompileListener &listener) {
  return resultOnDeepStack([&] { return compileHere(text, options, listener); });
}

} // namespace tessera
