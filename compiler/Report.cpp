#include "compiler/Report.h"

#include "compiler/ExplainMemory.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/text/Quantity.h"
#include "passes/package/StepWork.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <charconv>

namespace tessera {

// Operations of one execution by one device: trips that data decides count once, every block of a
// branch counts. `flops`: by name, of kernels and of the functions before.
static double countFlops(mlir::Block &block, llvm::StringMap<double> &flops) {
  double sum = 0;
  for (mlir::Operation &op : block) {
    if (auto function = llvm::dyn_cast<exec::FunctionOp>(op)) {
      flops[("@" + function.getSymName()).str()] = countFlops(*function.getBlock(), flops);
      continue;
    }
    if (auto dispatch = llvm::dyn_cast<exec::DispatchOp>(op))
      sum += flops.lookup(dispatch.getKernel());
    if (auto call = llvm::dyn_cast<exec::CallOp>(op))
      sum += flops.lookup(("@" + call.getFunction()).str());
    double trips = 1;
    if (auto loop = llvm::dyn_cast<exec::LoopOp>(op))
      trips = loop.getTripCount().value_or(1);
    for (mlir::Region &region : op.getRegions())
      if (!region.empty())
        sum += trips * countFlops(region.front(), flops);
  }
  return sum;
}

static llvm::json::Object targetFigures(TargetAttr target) {
  llvm::json::Array processors;
  for (ProcessorAttr processor : target.getProcessors()) {
    llvm::json::Array features;
    for (mlir::StringAttr feature : processor.getFeatures())
      features.push_back(feature.getValue());
    processors.push_back(llvm::json::Object{{"cpu", processor.getName()},
                                            {"vector_bits", processor.getVectorBits()},
                                            {"features", std::move(features)}});
  }
  return llvm::json::Object{{"name", target.getName()}, {"processors", std::move(processors)}};
}

static llvm::json::Object predictedFigures(const ModulePrediction &predicted,
                                           llvm::json::Array atPeak) {
  const cost::StepTime &time = predicted.time;
  llvm::json::Object byKind;
  for (size_t kind = 0; kind < cost::kComputeKinds; ++kind)
    byKind[cost::nameOf(cost::ComputeKind(kind))] = time.byKind[kind];
  return llvm::json::Object{{"seconds", time.seconds},
                            {"compute", time.compute},
                            {"compute_by_kind", std::move(byKind)},
                            {"communication", time.communication},
                            {"exposed", time.exposed},
                            {"overhead", time.overhead},
                            {"peak_bytes", predicted.memory.total()},
                            {"at_peak", std::move(atPeak)}};
}

// The largest values that are in the arena when it is fullest, of the program that holds most.
static llvm::json::Array valuesAtPeak(mlir::ModuleOp module) {
  exec::ProgramOp largest;
  for (auto program : module.getOps<exec::ProgramOp>())
    if (!largest || memoryFigures(program).total() > memoryFigures(largest).total())
      largest = program;
  llvm::json::Array values;
  for (const explain::AtPeak &each : memoryOf(largest).atPeak) {
    if (values.size() == 10)
      break;
    values.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(each.name)},
                                        {"location", llvm::json::fixUTF8(each.place)},
                                        {"bytes", each.bytes}});
  }
  return values;
}

static llvm::json::Object rowOf(const CollectiveFigures &site) {
  return llvm::json::Object{
      {"kind", site.kind},
      {"trips", site.trips ? llvm::json::Value(*site.trips) : llvm::json::Value("unknown")},
      {"count", site.count},
      {"bytes", site.bytes},
      {"location", llvm::json::fixUTF8(site.location)}};
}

static llvm::json::Object memoryObject(const MemoryFigures &memory) {
  return llvm::json::Object{
      {"arguments", memory.arguments}, {"outputs", memory.outputs}, {"arena", memory.arena}};
}

// Work by kind (docs/calibration.md).
static llvm::json::Object termFigures(const cost::Terms &terms) {
  llvm::json::Object work;
  for (unsigned i = 0; i < cost::kTerms; ++i)
    if (terms.amount[i] > 0)
      work[cost::nameOf(static_cast<cost::Term>(i))] = terms.amount[i];
  return work;
}

static llvm::json::Object workFigures(const cost::Observation &step) {
  llvm::json::Object work = termFigures(step.terms);
  work["steps"] = step.steps;
  work["launches"] = step.launches;
  work["instructions"] = step.instructions;
  work["meetings"] = step.meetings;
  return work;
}

// Of all dispatches of each in a step.
static llvm::json::Array kernelFigures(mlir::ModuleOp module, const ModulePrediction &predicted) {
  llvm::json::Array kernels;
  for (auto kernel : module.getOps<exec::KernelOp>()) {
    KernelFigures figures = predicted.kernels.lookup(kernel.getSymName());
    kernels.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(kernel.getSymName())},
                                         {"count", figures.count},
                                         {"seconds", figures.seconds},
                                         {"work", termFigures(figures.terms)}});
  }
  return kernels;
}

llvm::json::Object reportProgram(mlir::ModuleOp module, int64_t devices) {
  llvm::json::Object report{{"devices", devices}};
  if (TargetAttr target = getTarget(module))
    report["target"] = targetFigures(target);
  auto programs = llvm::to_vector(module.getOps<exec::ProgramOp>());
  if (programs.empty())
    return report;
  llvm::StringMap<double> flopsOf;
  for (auto kernel : module.getOps<exec::KernelOp>())
    if (auto figure = kernel.getFlops())
      flopsOf[kernel.getSymName()] = figure->convertToDouble();

  llvm::json::Array collectives, transfers;
  MemoryFigures mostOfHost;
  double flops = 0;
  for (exec::ProgramOp program : programs) {
    for (const CollectiveFigures &site : collectiveFigures(program)) {
      llvm::json::Object row = rowOf(site);
      row["axes"] = llvm::json::fixUTF8(site.axes);
      row["wire_bytes"] = site.wireBytes;
      if (programs.size() > 1)
        row["program"] = program.getSymName();
      collectives.push_back(std::move(row));
    }
    for (const CollectiveFigures &site : transferFigures(program)) {
      llvm::json::Object row = rowOf(site);
      if (programs.size() > 1)
        row["program"] = program.getSymName();
      transfers.push_back(std::move(row));
    }
    if (MemoryFigures host = memoryFigures(program, exec::Memory::Host);
        host.total() > mostOfHost.total())
      mostOfHost = host;
    flops = std::max(flops, countFlops(*program.getBlock(), flopsOf));
  }
  report["collectives"] = std::move(collectives);
  report["transfers"] = std::move(transfers);
  ModulePrediction predicted = predictModule(module);
  report["memory"] = memoryObject(predicted.memory);
  report["host_memory"] = memoryObject(mostOfHost);
  report["flops"] = flops;
  report["predicted"] = predictedFigures(predicted, valuesAtPeak(module));
  report["work"] = workFigures(predicted.work);
  report["kernels"] = kernelFigures(module, predicted);
  return report;
}

std::string reportText(llvm::json::Object report) {
  std::string all = llvm::formatv("{0:2}", llvm::json::Value(std::move(report))).str(), text;
  bool inString = false;
  for (size_t at = 0; at < all.size();) {
    size_t end = inString ? at : all.find_first_not_of("+-.0123456789eE", at);
    end = std::min(end, all.size());
    llvm::StringRef number = llvm::StringRef(all).slice(at, end);
    double value;
    if (number.contains('.') && !number.getAsDouble(value)) {
      char digits[32];
      text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
      at = end;
      continue;
    }
    if (all[at] == '"')
      inString = !inString;
    else if (inString && all[at] == '\\')
      text += all[at++]; // and what it stands before
    text += all[at++];
  }
  return text;
}

std::string summaryLine(const llvm::json::Object &report, bool isSharded, double seconds) {
  uint64_t count = 0, bytes = 0, peak = 0;
  bool isKnown = true;
  if (const llvm::json::Array *sites = report.getArray("collectives"))
    for (const llvm::json::Value &value : *sites) {
      const llvm::json::Object &site = *value.getAsObject();
      count += site.getInteger("count").value_or(0);
      bytes += site.getInteger("bytes").value_or(0);
      isKnown &= site.getInteger("trips").has_value();
    }
  if (const llvm::json::Object *memory = report.getObject("memory"))
    for (const auto &part : *memory)
      peak += part.second.getAsInteger().value_or(0);
  int64_t devices = report.getInteger("devices").value_or(1);
  std::string line = "compiled for " + text::counted(devices, "device");
  if (!isSharded && devices == 1)
    line += ", as no value of the module has a sharding,";
  line += " in " + text::seconds(seconds) + ": ";
  if (count)
    line += (isKnown ? "" : "at least ") + text::counted(count, "collective") + " and " +
            text::bytes(bytes) + " received a step, ";
  line += "peak " + text::bytes(peak) + " a device";
  if (const llvm::json::Object *predicted = report.getObject("predicted"))
    line += ", " + text::seconds(predicted->getNumber("seconds").value_or(0)) + " a step predicted";
  return line;
}

} // namespace tessera
