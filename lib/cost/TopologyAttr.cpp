#include "lib/cost/TopologyAttr.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace tessera::cost {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

// A time or rate of at least `least`; costs are ratios of these, and have to stay finite.
static mlir::LogicalResult read(mlir::Attribute attr, llvm::StringRef name, double least,
                                double &into, ErrorFn error) {
  if (!attr)
    return mlir::success();
  auto number = llvm::dyn_cast<mlir::FloatAttr>(attr);
  double value = number ? number.getValueAsDouble() : -1;
  if (!(value >= least && value <= 1e30))
    return error() << "topology: '" << name << "' must be a number from " << (least > 0 ? "1" : "0")
                   << " to 1e30, such as " << (least > 0 ? "1e9" : "1e-6") << ", found " << attr;
  into = value;
  return mlir::success();
}

static mlir::LogicalResult readLink(mlir::DictionaryAttr dict, Link &link, ErrorFn error) {
  return mlir::success(mlir::succeeded(read(dict.get("alpha"), "alpha", 0, link.alpha, error)) &&
                       mlir::succeeded(read(dict.get("beta"), "beta", 1, link.beta, error)));
}

mlir::FailureOr<Topology> topologyFromAttr(mlir::DictionaryAttr attr, ErrorFn error) {
  Topology topology = defaultTopology();
  if (auto name = attr.getAs<mlir::StringAttr>("name"))
    topology.name = name.str();
  if (mlir::failed(readLink(attr, topology.link, error)) ||
      mlir::failed(read(attr.get("flops"), "flops", 1, topology.flopsPerSecond, error)) ||
      mlir::failed(read(attr.get("memory"), "memory", 1, topology.bytesPerSecond, error)))
    return mlir::failure();
  if (auto axes = attr.getAs<mlir::DictionaryAttr>("axes"))
    for (mlir::NamedAttribute axis : axes) {
      auto dict = llvm::dyn_cast<mlir::DictionaryAttr>(axis.getValue());
      if (!dict)
        return error() << "topology: axis " << axis.getName()
                       << " must be a dictionary {alpha = .., beta = ..}";
      Link link = topology.link;
      if (mlir::failed(readLink(dict, link, error)))
        return mlir::failure();
      topology.axes[axis.getName().str()] = link;
    }
  return topology;
}

Topology topologyOf(mlir::ModuleOp module) {
  auto attr = module->getAttrOfType<mlir::DictionaryAttr>("tessera.topology");
  if (!attr)
    return defaultTopology();
  auto read = topologyFromAttr(attr, [&] { return module.emitWarning(); });
  return mlir::succeeded(read) ? *read : defaultTopology();
}

} // namespace tessera::cost
