#include "compiler/plan/Reading.h"

#include "compiler/Entry.h"
#include "compiler/mends/Change.h"
#include "compiler/source/InputCheck.h"
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Memory.h"
#include "lib/plan/Meshes.h"
#include "lib/text/Quantity.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::planning {

using namespace mlir;

static bool isAnnotated(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  bool found = false;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    found |= main.getArgAttr(i, sdy::kShardingAttr) != nullptr;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    found |= main.getResultAttr(i, sdy::kShardingAttr) != nullptr;
  main.walk([&](Operation *op) {
    found |= op->hasAttr(sdy::kShardingAttr) || isa<sdy::SdyDialect>(op->getDialect());
  });
  return found;
}

static bool hasSameSignature(ModuleOp a, ModuleOp b) {
  auto one = a.lookupSymbol<func::FuncOp>("main"), other = b.lookupSymbol<func::FuncOp>("main");
  return one && other && one.getFunctionType() == other.getFunctionType();
}

std::string errorOf(llvm::StringRef name, const llvm::Twine &what) {
  return ("error: " + name + ": " + what).str();
}

std::string readSource(Road &road, llvm::StringRef text, llvm::StringRef name, Source &source,
                       SeparateCalls &separate) {
  if (std::string error = road.read(text, /*keepNames=*/true); !error.empty())
    return error;
  ModuleOp module = road.module();
  if (holdsDevicePrograms(module))
    return errorOf(name, "holds device programs, which are sharded already");
  separate = separateCalls(module);
  mends::numberOps(module);
  source.read = module.clone();
  if (std::string error = road.run("propagate", [](const Phase &) { return true; }); !error.empty())
    return error;
  bool madeMesh = !sdy::MeshTable(*source.read).main() && sdy::MeshTable(module).main();
  source.isImported = madeMesh || !hasSameSignature(*source.read, module);
  if (source.isImported) {
    mends::numberOps(module);
    source.read = module.clone();
  }
  source.isAnnotated = isAnnotated(module);
  source.imported = road.take();
  source.topology = topologyOf(*source.imported);
  source.program = std::make_unique<PlanProgram>(source.imported.get());
  if (!source.program->isValid())
    return road.error("the program's annotations cannot hold");
  if (source.program->countMeshes() > 1)
    return errorOf(name, "it has values on several meshes; plans are for programs on one");
  if (const sharding::Mesh *mesh = source.program->annotatedMesh(); mesh && mesh->axes.empty())
    return errorOf(name, "its annotations are on mesh @" + mesh->name +
                             ", which has no axes to plan for; take them out");
  source.known = knownValues(source.plain().graph,
                             [&](int32_t value) { return source.program->valueAt(value); });
  source.places = placesOf(*source.program, source.known, mends::numberedOps(*source.read));
  return "";
}

OwningOpRef<ModuleOp> readAgain(Road &road, llvm::StringRef text, const Source &source) {
  if (!road.read(text, /*keepNames=*/true).empty())
    return {};
  ModuleOp module = road.module();
  module->getContext()
      ->loadDialect<sdy::SdyDialect>(); // import's: annotations are of its attributes
  separateCalls(module);
  mends::numberOps(module);
  if (source.isImported) {
    if (!road.run("propagate", [](const Phase &) { return true; }).empty())
      return {};
    mends::numberOps(road.module());
  }
  return road.take();
}

static std::string mismatch(const sharding::Mesh &own, const sharding::Mesh &asked,
                            const PlanRequest &request) {
  for (const sharding::MeshAxis &axis : asked.axes)
    if (own.axisIndex(axis.name) < 0)
      return "its annotations are on the mesh " + plan::meshText(own) + ", which has no axis '" +
             axis.name + "' of --mesh=" + request.mesh;
  return "its annotations are on the mesh " + plan::meshText(own) +
         ", not on --mesh=" + request.mesh;
}

std::string chooseMeshes(const Source &source, const PlanRequest &request, llvm::StringRef name,
                         std::vector<sharding::Mesh> &meshes) {
  sdy::MeshTable table(*source.imported);
  const sharding::Mesh *own = source.program->annotatedMesh();
  if (!own)
    own = table.main();
  std::optional<sharding::Mesh> asked;
  std::string wrong;
  if (!request.mesh.empty()) {
    asked = plan::readMesh(request.mesh, wrong);
    if (!asked)
      return "error: --mesh=" + request.mesh + ": " + wrong;
    if (request.devices && asked->numDevices() != request.devices)
      return "error: --mesh=" + request.mesh + " has " +
             text::counted(uint64_t(asked->numDevices()), "device") +
             ", --devices=" + std::to_string(request.devices) + " asks for others";
  }
  if (own && source.isAnnotated) {
    if (asked && asked->axes != own->axes)
      return errorOf(name, mismatch(*own, *asked, request));
    if (request.devices && request.devices != own->numDevices())
      return errorOf(name, "its annotations are on a mesh of " +
                               text::counted(uint64_t(own->numDevices()), "device") + " (" +
                               plan::meshText(*own) + "), --devices=" +
                               std::to_string(request.devices) + " asks for others");
    meshes = {*own};
    return "";
  }
  if (asked)
    meshes = {*asked};
  else if (request.devices)
    meshes = plan::meshesOf(request.devices, source.topology.network);
  else if (own)
    meshes = {*own};
  else if (auto count = source.imported.get()->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
           count && count.getInt() > 1 && count.getInt() <= plan::kMostDevices)
    meshes = plan::meshesOf(count.getInt(), source.topology.network);
  else
    return errorOf(name, "it does not say how many devices there are: give --devices=8, or "
                         "--mesh=data=2,model=4");
  return "";
}

double leastGiven(const Source &source, int64_t devices) {
  auto main = source.imported.get().lookupSymbol<func::FuncOp>("main");
  auto isOnHost = [](DictionaryAttr attributes) {
    return getMemory(attributes) == comm::Space::Host;
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (isOnHost(main.getArgAttrDict(i)))
      return 0;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (isOnHost(main.getResultAttrDict(i)))
      return 0;
  return plan::leastGivenBytes(source.plain(), devices);
}

} // namespace tessera::planning
