#include "compiler/Report.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/package/Figures.h"

#include "llvm/ADT/StringMap.h"

namespace tessera {

// Operations of one execution by one device: trips that data decides count once, every block of a
// branch counts.
static double countFlops(mlir::Block &block, const llvm::StringMap<double> &kernels) {
  double flops = 0;
  for (mlir::Operation &op : block) {
    if (auto dispatch = llvm::dyn_cast<exec::DispatchOp>(op))
      flops += kernels.lookup(dispatch.getKernel());
    double trips = 1;
    if (auto loop = llvm::dyn_cast<exec::LoopOp>(op))
      trips = loop.getTripCount().value_or(1);
    for (mlir::Region &region : op.getRegions())
      if (!region.empty())
        flops += trips * countFlops(region.front(), kernels);
  }
  return flops;
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

llvm::json::Object reportProgram(mlir::ModuleOp module, int64_t devices) {
  llvm::json::Object report{{"devices", devices}};
  if (TargetAttr target = getTarget(module))
    report["target"] = targetFigures(target);
  auto programs = module.getOps<exec::ProgramOp>();
  if (programs.empty())
    return report;
  exec::ProgramOp program = *programs.begin();

  llvm::json::Array collectives;
  for (const CollectiveFigures &site : collectiveFigures(program))
    collectives.push_back(llvm::json::Object{
        {"kind", site.kind},
        {"axes", llvm::json::fixUTF8(site.axes)},
        {"trips", site.trips ? llvm::json::Value(*site.trips) : llvm::json::Value("unknown")},
        {"count", site.count},
        {"bytes", site.bytes},
        {"wire_bytes", site.wireBytes},
        {"location", llvm::json::fixUTF8(site.location)}});
  report["collectives"] = std::move(collectives);

  MemoryFigures memory = memoryFigures(program);
  report["memory"] = llvm::json::Object{
      {"arguments", memory.arguments}, {"outputs", memory.outputs}, {"arena", memory.arena}};

  llvm::StringMap<double> flops;
  for (auto kernel : module.getOps<exec::KernelOp>())
    if (auto figure = kernel.getFlops())
      flops[kernel.getSymName()] = figure->convertToDouble();
  report["flops"] = countFlops(*program.getBlock(), flops);
  return report;
}

} // namespace tessera
