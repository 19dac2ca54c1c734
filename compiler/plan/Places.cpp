#include "compiler/plan/Places.h"

#include "compiler/mends/Change.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::planning {

using namespace mlir;

KnownValues knownValues(const sharding::PropagationGraph &graph,
                        llvm::function_ref<Value(int32_t)> valueAt) {
  KnownValues known;
  std::map<KnownValue, unsigned> seen;
  for (size_t value = 0; value < graph.values.size(); ++value) {
    auto result = dyn_cast_if_present<OpResult>(valueAt(int32_t(value)));
    if (!result || graph.values[value].free)
      continue;
    Operation *op = result.getOwner();
    KnownValue key{op->getName().getStringRef(), placeOf(op->getLoc()).read,
                   result.getResultNumber(), 0};
    if (key.number < 0)
      continue;
    unsigned occurrence = seen[key]++;
    key.occurrence = occurrence;
    known[key] = int32_t(value);
  }
  return known;
}

// Whether the result of an op as it was read is what the imported program makes of it.
static bool isSame(OpResult imported, Operation *read) {
  return imported.getOwner()->getName() == read->getName() &&
         llvm::equal(imported.getOwner()->getResultTypes(), read->getResultTypes());
}

Places placesOf(const PlanProgram &imported, const KnownValues &knownValues,
                ArrayRef<Operation *> read) {
  const plan::Program &program = imported.program;
  Places found;
  auto add = [&](plan::AnnotationPlace::Kind kind, Spot spot, int32_t value) {
    found.places.push_back({kind, {value}});
    found.spots.push_back(spot);
  };
  for (auto [value, facts] : llvm::enumerate(program.values))
    if (facts.argument >= 0)
      add(plan::AnnotationPlace::Argument, {facts.argument}, int32_t(value));
    else if (facts.result >= 0)
      add(plan::AnnotationPlace::Result, {facts.result}, int32_t(value));
  std::map<std::pair<int32_t, unsigned>, size_t> inside;
  for (const auto &[known, value] : knownValues) {
    auto result = cast<OpResult>(imported.valueAt(value));
    if (size_t(known.number) >= read.size() || program.graph.values[value].shape.empty() ||
        isa<sdy::SdyDialect>(result.getOwner()->getDialect()) ||
        !isSame(result, read[known.number]))
      continue;
    auto [it, isNew] = inside.try_emplace({known.number, known.result}, found.places.size());
    if (isNew)
      add(plan::AnnotationPlace::Inside, {known.number, known.result}, value);
    else
      found.places[it->second].values.push_back(value);
  }
  return found;
}

void annotate(ModuleOp module, const sharding::Mesh &mesh, ArrayRef<Annotation> annotations) {
  std::vector<Operation *> ops = mends::numberedOps(module);
  sdy::MeshTable meshes(module);
  const sharding::Mesh *there = meshes.main();
  if (!there || there->axes != mesh.axes)
    addMesh(module, mesh);
  sharding::Mesh used = there && there->axes == mesh.axes ? *there : mesh;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  sdy::SignatureAttributes signature(main);
  for (const Annotation &each : annotations) {
    sdy::TensorShardingAttr attr = sdy::toAttr(module.getContext(), used, each.sharding);
    switch (each.kind) {
    case plan::AnnotationPlace::Argument:
      signature.setArgument(each.spot.at, sdy::kShardingAttr, attr);
      break;
    case plan::AnnotationPlace::Result:
      signature.setResult(each.spot.at, sdy::kShardingAttr, attr);
      break;
    case plan::AnnotationPlace::Inside:
      annotateValue(ops[each.spot.at]->getResult(each.spot.result), attr);
      break;
    }
  }
}

} // namespace tessera::planning
