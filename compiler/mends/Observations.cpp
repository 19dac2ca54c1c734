#include "compiler/mends/Observations.h"

#include "compiler/source/SourcePlaces.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/tessera/Marks.h"
#include "lib/sharding/FactorAxes.h"
#include "passes/reshard/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace tessera::mends {

using namespace mlir;
using sharding::TensorSharding;

namespace {

class Observer {
public:
  Observer(ModuleOp module, const sharding::Mesh &here, const sharding::Mesh &read)
      : here(here), read(read), shardings(here, module.getContext()), topology(topologyOf(module)),
        planner(here, topology) {}

  Observations take(func::FuncOp main) {
    for (BlockArgument argument : main.getArguments())
      seen.arguments.push_back(translated(shardings.of(argument)));
    main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
        addMove(reshard);
      else
        addOp(op);
    });
    llvm::stable_sort(seen.moved,
                      [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
    for (auto &[axes, products] : repeated)
      seen.repeated.push_back(products.first);
    llvm::stable_sort(seen.repeated,
                      [](const auto &a, const auto &b) { return a.flops > b.flops; });
    return std::move(seen);
  }

private:
  // Axes by name; those that the program as read has only as a part are left out.
  TensorSharding translated(const TensorSharding &lies) const {
    TensorSharding to = TensorSharding::replicatedOver(lies.dims.size());
    for (auto [from, dim] : llvm::zip_equal(lies.dims, to.dims))
      for (const sharding::AxisRef &axis : from.axes) {
        int32_t index = read.axisIndex(here.axes[axis.axis].name);
        if (index >= 0 && axis.size == read.axes[index].size)
          dim.axes.push_back(sharding::wholeAxis(read, index));
      }
    return to;
  }

  static int32_t numberOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? placeOf(op->getLoc()).read : -1;
  }

  void addMove(sdy::ReshardOp op) {
    const sharding::ReshardPlan &plan = planOf(op, shardings, planner);
    if (plan.wireBytes == 0)
      return;
    MovedValue moved;
    moved.seconds = plan.seconds * double(tripsAround(op));
    TensorSharding from = shardings.of(op.getInput());
    moved.partial = !from.unreduced.empty();
    moved.from = translated(from);
    moved.to = translated(shardings.of(op.getResult()));
    moved.op = numberOf(op.getInput());
    if (auto result = dyn_cast<OpResult>(op.getInput()))
      moved.result = result.getResultNumber();
    if (!op->use_empty())
      moved.user = placeOf((*op->user_begin())->getLoc()).read;
    seen.moved.push_back(std::move(moved));
  }

  void addOp(Operation *op) {
    if (op->getNumResults() == 0 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return;
    SourcePlace place = placeOf(op->getLoc());
    if (place.read >= 0)
      seen.lies.try_emplace(place.read, translated(shardings.of(op->getResult(0))));
    if (fusionKindOf(op) == fusion::NodeKind::Contraction)
      addProduct(op, place.number);
  }

  void addProduct(Operation *op, int32_t number) {
    std::optional<sharding::FactorRule> rule = sdy::getRule(op);
    if (!rule)
      return;
    sharding::RuledOp ruled;
    ruled.rule = *rule;
    for (Value operand : op->getOperands())
      ruled.operands.emplace_back(shapeOf(operand));
    for (Value result : op->getResults())
      ruled.results.emplace_back(shapeOf(result));
    sharding::FactorAxes axes(ruled);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      axes.claimOperand(i, shardings.of(operand));
    std::vector<std::string> idle;
    for (auto [i, axis] : llvm::enumerate(here.axes)) {
      bool used = axis.size == 1;
      for (size_t f = 0; f < axes.size(); ++f)
        used |=
            overlap(axes[int32_t(f)], sharding::AxisRefs{sharding::wholeAxis(here, int32_t(i))});
      if (!used)
        idle.push_back(axis.name);
    }
    int64_t copies = here.numDevices() / std::max<int64_t>(1, axes.shards());
    if (idle.empty() || copies < 2)
      return;
    double whole = flopsOf(op) * double(tripsAround(op));
    double more = whole / double(axes.shards()) - whole / double(here.numDevices());
    auto &[products, most] = repeated[idle];
    products.axes = idle;
    products.copies = copies;
    products.ops += tripsAround(op);
    products.flops += more;
    if (more > most)
      most = more, products.dearest = number;
  }

  const sharding::Mesh &here, &read;
  ValueShardings shardings;
  cost::Topology topology;
  sharding::ReshardPlanner planner;
  Observations seen;
  std::map<std::vector<std::string>, std::pair<RepeatedProducts, double>> repeated;
};

} // namespace

Observations observe(ModuleOp module, const sharding::Mesh &mesh) {
  sdy::MeshTable meshes(module);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!meshes.main() || !main)
    return Observations();
  return Observer(module, *meshes.main(), mesh).take(main);
}

} // namespace tessera::mends
