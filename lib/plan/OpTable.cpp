#include "lib/plan/OpTable.h"

#include "lib/cost/KernelTerms.h"
#include "lib/sharding/CrossingRows.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace tessera::plan {

using sharding::AxisRef;
using sharding::AxisRefs;
using sharding::FactorAxes;
using sharding::FactorKind;
using sharding::PropagatedOp;
using sharding::TensorSharding;

namespace {

// Of each factor its axes: every axis of the mesh, whole or as far as it divides, to one factor or
// none, in every order.
class Assignments {
public:
  Assignments(const sharding::FactorRule &rule, const sharding::Mesh &mesh, bool orders,
              size_t limit)
      : mesh(mesh), orders(orders), limit(limit), axes(rule.factors.size()),
        left(rule.factors.size()) {
    for (auto [f, factor] : llvm::enumerate(rule.factors))
      left[f] = factor.kind == FactorKind::NeedReplication ? 1 : factor.size;
  }

  std::vector<std::vector<AxisRefs>> run() {
    place(0);
    return std::move(list);
  }

private:
  void place(int32_t axis) {
    if (list.size() > limit)
      return;
    if (axis == int32_t(mesh.axes.size())) {
      list.push_back(axes);
      for (AxisRefs &each : list.back())
        each = sharding::normalized(each);
      return;
    }
    place(axis + 1);
    for (size_t f = 0; f < axes.size(); ++f) {
      int64_t share = std::gcd(left[f], mesh.axes[axis].size);
      if (share == 1)
        continue;
      left[f] /= share;
      for (size_t at = axes[f].size();; --at) {
        AxisRefs before = axes[f];
        axes[f].insert(axes[f].begin() + at, AxisRef{axis, 1, share});
        place(axis + 1);
        axes[f] = before;
        if (!orders || at == 0)
          break;
      }
      left[f] *= share;
    }
  }

  const sharding::Mesh &mesh;
  bool orders;
  size_t limit;
  std::vector<AxisRefs> axes;
  std::vector<int64_t> left;
  std::vector<std::vector<AxisRefs>> list;
};

constexpr size_t kMostChoices = 150;

std::string keyOf(const FactorAxes &axes) {
  TensorSharding all;
  for (size_t f = 0; f < axes.size(); ++f)
    all.dims.push_back({axes[int32_t(f)], true, {}});
  std::string key;
  appendKey(key, all);
  return key;
}

} // namespace

bool reduces(const sharding::FactorRule &rule) {
  return llvm::any_of(rule.factors, [](const sharding::Factor &factor) {
    return factor.kind == FactorKind::Reduction && factor.size > 1;
  });
}

// x * x
bool isRepeated(const PropagatedOp &op, const OpTable &table, size_t operand) {
  for (size_t i = 0; i < operand; ++i)
    if (op.operands[i] == op.operands[operand] &&
        table.needed[i].list == table.needed[operand].list &&
        table.needed[i].at == table.needed[operand].at)
      return true;
  return false;
}

std::string OpTables::keyOf(int32_t index) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  std::string key;
  appendKey(key, op.rule);
  appendKey(key, int64_t(op.flops));
  appendKey(key, int64_t(facts.flops));
  key += facts.elementType;
  if (weights.firstWaits)
    for (bool isFirst : facts.readsFirst)
      appendKey(key, int64_t(isFirst));
  for (const auto *side : {&op.operands, &op.results})
    for (int32_t v : *side) {
      const sharding::PropagatedValue &value = program.graph.values[v];
      appendKey(key, value.elementBytes);
      appendKey(key, int64_t(value.free) + 2 * int64_t(program.values[v].inKernel));
      if (weights.hidden < 1) {
        appendKey(key, program.values[v].secondsBeside);
        appendKey(key, program.values[v].secondsBesideRead);
      }
      appendKey(key, program.values[v].together);
      for (int64_t size : value.shape)
        appendKey(key, size);
    }
  auto addBytes = [&](llvm::ArrayRef<double> reads, llvm::ArrayRef<double> writes) {
    constexpr double kParts = 1 << 20;
    for (llvm::ArrayRef<double> side : {reads, writes})
      for (double each : side)
        appendKey(key, int64_t(each * kParts));
  };
  addBytes(facts.reads, facts.writes);
  for (const KernelPart &part : facts.parts) {
    key += kernels.keyOf(part.kernel);
    appendKey(key, int64_t(part.flops));
    addBytes(part.reads, part.writes);
  }
  return key;
}

sharding::PlacedOp OpTables::place(int32_t index) const {
  const PropagatedOp &op = program.graph.ops[index];
  sharding::PlacedOp placed;
  placed.op.rule = program.graph.rules[op.rule];
  placed.flops = op.flops;
  auto add = [&](int32_t v, std::vector<sharding::Shape> &shapes,
                 std::vector<sharding::PlacedTensor> &tensors) {
    const sharding::PropagatedValue &value = program.graph.values[v];
    shapes.push_back(value.shape);
    sharding::PlacedTensor &tensor = tensors.emplace_back();
    tensor.sharding = TensorSharding::replicatedOver(value.shape.size());
    tensor.elementBytes = value.elementBytes;
    tensor.free = value.free;
  };
  for (int32_t v : op.operands)
    add(v, placed.op.operands, placed.operands);
  for (int32_t v : op.results)
    add(v, placed.op.results, placed.results);
  return placed;
}

namespace {

// Of what is read and written, on the busiest device.
double localBytes(llvm::ArrayRef<double> reads, llvm::ArrayRef<double> writes,
                  const sharding::PlacedOp &placed, const FactorAxes &axes) {
  double bytes = 0;
  for (size_t i = 0; i < placed.operands.size(); ++i)
    if (reads[i] > 0 && !placed.operands[i].free)
      bytes +=
          reads[i] * sharding::localBytes(placed.op.operands[i], placed.operands[i].elementBytes,
                                          axes.operandSharding(i));
  for (size_t i = 0; i < placed.results.size(); ++i)
    if (writes[i] > 0)
      bytes +=
          writes[i] * sharding::localBytes(placed.op.results[i], placed.results[i].elementBytes,
                                           axes.resultSharding(i));
  return bytes;
}

bool hasFactor(const sharding::TensorFactors &tensor, int32_t factor) {
  return llvm::any_of(
      tensor, [&](const sharding::DimFactors &dim) { return llvm::is_contained(dim, factor); });
}

// By which of its two operands and its result have a factor. Where sizes don't say which of the kernel's
// dimensions that is, shards of the batch.
ProductShards productShards(const sharding::FactorRule &rule, const FactorAxes &axes,
                            const cost::KernelWork &work) {
  ProductShards shards;
  if (rule.operands.size() != 2 || rule.results.size() != 1 || work.products.size() != 1)
    return shards;
  const cost::Product &product = work.products.front();
  double m = 1, n = 1, k = 1, batch = 1;
  for (auto [f, factor] : llvm::enumerate(rule.factors)) {
    auto at = int32_t(f);
    double parts = 1;
    for (const AxisRef &axis : axes[at])
      parts *= double(axis.size);
    bool left = hasFactor(rule.operands[0], at), right = hasFactor(rule.operands[1], at),
         made = hasFactor(rule.results[0], at);
    double &size = !made ? k : left && right ? batch : left ? m : n;
    (!made ? shards.k : left && right ? shards.batch : left ? shards.m : shards.n) *= parts;
    size *= double(factor.size);
  }
  if (product.m == n && product.n == m)
    std::swap(shards.m, shards.n);
  else if (product.m != m || product.n != n)
    return {};
  // Of a convolution, terms that fall on padding are left out.
  return product.k <= k && product.batch == batch ? shards : ProductShards();
}

} // namespace

// Of what its kernel takes, as large a part as it has of what the kernel waits for.
double OpTables::secondsOf(const OpFacts &facts, const KernelPart &part,
                           const sharding::PlacedOp &placed, const FactorAxes &axes) {
  const Kernel &kernel = program.kernels[part.kernel];
  auto shards = double(axes.shards());
  double least = kernels.least(part.kernel) / shards;
  if (least <= 0)
    return 0;
  double computes = part.flops / shards / kernels.flopsPerSecond(kernel.elementType);
  bool decides = facts.isProduct && part.flops > 0;
  if (!decides && !kernels.isMemoryBound(part.kernel))
    return computes > 0 ? kernels.seconds(part.kernel, shards) * computes / least : 0;
  double bytes = localBytes(part.reads, part.writes, placed, axes),
         moves = bytes / kernels.bytesPerSecond();
  if (!decides)
    return moves > 0 ? kernels.seconds(part.kernel, shards) * moves / least : 0;
  if (!kernel.isCounted || !cost::goesByKinds(planner.getTopology().device))
    return kernels.seconds(part.kernel, shards) * std::max(computes, moves) / least;
  // Its arrays may be in fewer parts than what it computes.
  double whole = localBytes(part.reads, part.writes, placed, FactorAxes(placed.op));
  ProductShards parts = productShards(placed.op.rule, axes, kernel.work);
  parts.all = shards;
  parts.arrays = bytes > 0 ? whole / bytes : shards;
  if (double rest = kernel.bytes - whole; kernel.work.products.size() == 1 && rest > 0)
    parts.arrays = kernel.bytes / (bytes + rest / shards);
  return kernels.seconds(part.kernel, parts) *
         std::max(computes, whole / shards / kernels.bytesPerSecond()) / least;
}

// A kernel takes the longer of what it computes and what it moves. Its product's shards may change
// which that is; of other ops the sum of what is longer unsharded.
OpWork OpTables::work(int32_t index, const sharding::PlacedOp &placed, const FactorAxes &axes) {
  const OpFacts &facts = program.ops[index];
  double seconds = 0;
  for (const KernelPart &part : facts.parts)
    seconds += secondsOf(facts, part, placed, axes);
  if (facts.parts.empty()) {
    seconds = facts.flops / double(axes.shards()) / kernels.flopsPerSecond(facts.elementType);
    if (facts.isProduct)
      seconds = std::max(seconds, localBytes(facts.reads, facts.writes, placed, axes) /
                                      kernels.bytesPerSecond());
  }
  return {cost::turnsOf(planner.getTopology(), planner.getMesh()) * seconds,
          crossingSeconds(placed, axes, planner)};
}

void OpTables::enumerate(OpTable &table) {
  const sharding::FactorRule &rule = table.placed.op.rule;
  std::vector<std::vector<AxisRefs>> all;
  for (bool orders : {true, false}) {
    all = Assignments(rule, planner.getMesh(), orders, kMostChoices).run();
    if (all.size() <= kMostChoices)
      break;
  }
  if (all.size() > kMostChoices)
    all.assign(1, std::vector<AxisRefs>(rule.factors.size()));
  for (const auto &wanted : all) {
    FactorAxes axes(table.placed.op);
    if (axes.assign(wanted))
      table.choices.push_back(axes);
  }
}

// What each tensor's shardings imply of themselves: parts of axes, and their orders.
void OpTables::claimAll(OpTable &table, int32_t index, llvm::ArrayRef<int32_t> valueLists) {
  const PropagatedOp &op = program.graph.ops[index];
  for (auto [i, v] : llvm::enumerate(op.results))
    for (const TensorSharding &sharding : lists[valueLists[v]]) {
      FactorAxes axes(table.placed.op);
      axes.claimResult(i, sharding);
      table.choices.push_back(axes);
    }
  for (auto [i, v] : llvm::enumerate(op.operands))
    if (!table.placed.operands[i].free)
      for (const TensorSharding &sharding : lists[valueLists[v]]) {
        FactorAxes axes(table.placed.op);
        axes.claimOperand(i, sharding);
        table.choices.push_back(axes);
      }
}

std::unique_ptr<OpTable> OpTables::make(int32_t index, llvm::ArrayRef<int32_t> valueLists) {
  const PropagatedOp &op = program.graph.ops[index];
  auto table = std::make_unique<OpTable>();
  table->placed = place(index);
  const sharding::RuledOp &ruled = table->placed.op;
  // By its result alone?
  bool alone = op.results.size() == 1 && !reduces(ruled.rule);
  if (alone)
    for (const TensorSharding &sharding : lists[valueLists[op.results[0]]]) {
      FactorAxes axes(ruled);
      axes.claimResult(0, sharding);
      if (!sameAxes(axes.resultSharding(0), sharding)) {
        alone = false;
        table->byResult.clear();
        table->choices.clear();
        break;
      }
      table->byResult.push_back(int32_t(table->choices.size()));
      table->choices.push_back(axes);
    }
  if (!alone) {
    enumerate(*table);
    claimAll(*table, index, valueLists);
    std::unordered_set<std::string> seen;
    llvm::erase_if(table->choices,
                   [&](const FactorAxes &axes) { return !seen.insert(plan::keyOf(axes)).second; });
  }
  for (const FactorAxes &axes : table->choices) {
    OpWork seconds = work(index, table->placed, axes);
    table->work.push_back(weighted(weights, seconds));
    table->computing.push_back(seconds.computing);
  }
  collectTensors(*table, index, valueLists);
  return table;
}

// What the first reader of an operand waits for beyond what any does.
Matrix OpTables::soonerThan(const OpTable &table, int32_t index, size_t operand, int32_t list) {
  int32_t v = program.graph.ops[index].operands[operand];
  const ValueFacts &facts = program.values[v];
  const Matrix *any = table.in[operand];
  if (!any || weights.hidden >= 1 || !weights.firstWaits ||
      legTo(program, index, operand) != Leg::BroughtFirst ||
      facts.secondsBeside >= facts.secondsBesideRead)
    return {};
  const sharding::PropagatedValue &value = program.graph.values[v];
  Matrix more = prices.between(list, table.needed[operand].list, value.shape, value.elementBytes,
                               movingOf(program, v, Leg::BroughtFirst));
  for (auto [seconds, less] : llvm::zip_equal(more.at, any->at))
    seconds = less == kImpossible ? 0 : std::max(0.0, seconds - less);
  return more;
}

// The distinct shardings of each tensor, and what it takes to move its value from and to them.
void OpTables::collectTensors(OpTable &table, int32_t index, llvm::ArrayRef<int32_t> valueLists) {
  const PropagatedOp &op = program.graph.ops[index];
  auto collect = [&](auto shardingOf) {
    TensorChoices tensor;
    std::vector<TensorSharding> distinct;
    std::unordered_map<std::string, int32_t> numbers;
    std::string key;
    for (const FactorAxes &axes : table.choices) {
      TensorSharding sharding = shardingOf(axes);
      key.clear();
      appendKey(key, sharding);
      auto [it, isNew] = numbers.try_emplace(key, int32_t(distinct.size()));
      if (isNew)
        distinct.push_back(std::move(sharding));
      tensor.at.push_back(it->second);
    }
    tensor.list = lists.intern(std::move(distinct));
    return tensor;
  };
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    const sharding::PropagatedValue &value = program.graph.values[v];
    table.needed.push_back(
        collect([&](const FactorAxes &axes) { return axes.operandSharding(i); }));
    table.in.push_back(value.free || value.shape.empty()
                           ? nullptr
                           : &prices.between(valueLists[v], table.needed[i].list, value.shape,
                                             value.elementBytes,
                                             movingOf(program, v, Leg::Brought)));
    table.sooner.push_back(soonerThan(table, index, i, valueLists[v]));
  }
  for (auto [i, v] : llvm::enumerate(op.results)) {
    const sharding::PropagatedValue &value = program.graph.values[v];
    table.made.push_back(collect([&](const FactorAxes &axes) { return axes.resultSharding(i); }));
    table.out.push_back(value.free ? nullptr
                                   : &prices.between(table.made[i].list, valueLists[v], value.shape,
                                                     value.elementBytes,
                                                     movingOf(program, v, Leg::HandedOn)));
  }
}

const OpTable &OpTables::of(int32_t index, llvm::ArrayRef<int32_t> valueLists) {
  const PropagatedOp &op = program.graph.ops[index];
  std::string key = keyOf(index);
  for (const auto *side : {&op.operands, &op.results})
    for (int32_t v : *side)
      appendKey(key, valueLists[v]);
  auto [it, isNew] = tables.try_emplace(std::move(key));
  if (isNew)
    it->second = make(index, valueLists);
  return *it->second;
}

} // namespace tessera::plan
