#include "compiler/plan/Decisions.h"

#include "compiler/mends/Change.h"
#include "compiler/source/SourcePlaces.h"
#include "lib/mends/ArgumentNames.h"
#include "lib/mends/SpecText.h"
#include "lib/plan/NextBest.h"
#include "lib/plan/StepBill.h"
#include "lib/process/OutOfMemory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::planning {

using namespace mlir;

Decisions::Decisions(const Source &source, const OnMesh &onMesh, plan::Assignment folded,
                     llvm::ArrayRef<Annotation> annotations, const plan::Options &options,
                     bool lifts)
    : source(source), onMesh(onMesh), folded(std::move(folded)), annotations(annotations),
      options(options), lifts(lifts), lifted(lifts ? withoutAnnotations() : plan::Program()) {
  addArguments();
  addResults();
  addConstraints();
}

bool Decisions::areOf(const OnMesh &mesh, const plan::Assignment &values,
                      llvm::ArrayRef<Annotation> those) const {
  auto isSamePlace = [](const Annotation &a, const Annotation &b) {
    return a.kind == b.kind && a.spot == b.spot;
  };
  return &mesh == &onMesh && llvm::equal(those, annotations, isSamePlace) &&
         llvm::equal(values, folded, plan::liesAlike);
}

std::vector<explain::Decision> Decisions::priced(bool onBothCores) const {
  std::vector<const Group *> groups;
  for (const auto &[key, group] : byKey)
    groups.push_back(&group);
  llvm::stable_sort(groups, [](const Group *a, const Group *b) { return a->bytes > b->bytes; });
  // Every other one by itself, on two cores: what is found is the same.
  std::vector<std::optional<explain::Decision>> priced(groups.size());
  auto price = [&](size_t first) {
    plan::AssignmentPrices prices(program(), onMesh.getMesh(), onMesh.topology());
    plan::NextBests nextBests(prices, folded, options, groups.size());
    std::set<int32_t> seen = {-1}; // what is given back lies as what it takes the place of
    // Each takes a search: those of most bytes are priced.
    for (size_t i = 0; i < std::min(groups.size(), nextBests.affordable()); ++i) {
      bool isNew = true;
      for (int32_t value : groups[i]->values)
        isNew &= seen.insert(nextBests.vertexOf(value)).second;
      if (isNew && i % 2 == first)
        if (std::optional<plan::NextBest> next = nextBests.of(groups[i]->values))
          priced[i] = decisionOf(*groups[i], *next, prices);
    }
  };
  if (onBothCores) {
    runBoth([&] { price(0); }, [&] { price(1); });
  } else {
    price(0);
    price(1);
  }
  std::vector<explain::Decision> decisions;
  for (std::optional<explain::Decision> &each : priced)
    if (each)
      decisions.push_back(std::move(*each));
  llvm::stable_sort(decisions, [](const explain::Decision &a, const explain::Decision &b) {
    return a.seconds > b.seconds;
  });
  return decisions;
}

// But for the axes that manual computations have for themselves.
plan::Program Decisions::withoutAnnotations() const {
  plan::Program plain = source.folded.program;
  for (sharding::PropagatedValue &value : plain.graph.values) {
    value.mesh = -1;
    value.sharding = sharding::TensorSharding::replicatedOver(value.shape.size());
    for (sharding::DimSharding &dim : value.sharding.dims)
      dim.closed = false;
  }
  return plain;
}

// `whole`: a value of the program before equal layers were folded.
void Decisions::add(std::string key, int32_t whole, std::string what, std::string name) {
  int32_t value = source.folded.valueOf[whole];
  const sharding::PropagatedValue &it = program().graph.values[value];
  sharding::appendKey(key, folded[value]);
  sharding::appendKey(key, it.elementBytes);
  double bytes = double(it.elementBytes);
  for (int64_t size : it.shape) {
    sharding::appendKey(key, size);
    bytes *= double(size);
  }
  if (it.shape.empty() || bytes <= 0)
    return;
  Group &group = byKey[key];
  group.what = std::move(what);
  if (!name.empty())
    group.names.push_back(std::move(name));
  if (!llvm::is_contained(group.values, value))
    group.values.push_back(value);
  group.bytes += bytes;
}

// Those of one name, but for numbers, are alike; those that have their names from the text only
// where they are used alike, too.
void Decisions::addArguments() {
  auto main = source.read.get().lookupSymbol<func::FuncOp>("main");
  for (auto [value, facts] : llvm::enumerate(source.plain().values)) {
    if (facts.argument < 0)
      continue;
    std::string name =
        argumentName(placeOf(main.getArgument(facts.argument).getLoc()), facts.argument);
    mends::ArgumentName read = mends::readName(name);
    bool isNamed = !StringRef(name).starts_with("%");
    std::string key = "argument " + (isNamed ? read.tree : "");
    for (const std::string &part : read.path)
      key += " " + part;
    if (!isNamed)
      key += usesOf(int32_t(value));
    add(std::move(key), int32_t(value), "", name);
  }
}

std::string Decisions::usesOf(int32_t value) const {
  std::string uses;
  const sharding::PropagationGraph &graph = source.plain().graph;
  for (int32_t index : graph.values[value].ops) {
    const sharding::PropagatedOp &op = graph.ops[index];
    sharding::appendKey(uses, op.rule);
    sharding::appendKey(uses, int64_t(op.flops));
    sharding::appendKey(uses, llvm::find(op.operands, value) - op.operands.begin());
  }
  return uses;
}

void Decisions::addResults() {
  for (auto [value, facts] : llvm::enumerate(source.plain().values))
    if (facts.result >= 0)
      add("result " + std::to_string(facts.result), int32_t(value),
          facts.name.empty() ? "result " + std::to_string(facts.result) : facts.name, "");
}

// Those of one line of the source: what the plan adds, and what is lifted.
void Decisions::addConstraints() {
  std::vector<Operation *> ops = mends::numberedOps(source.read.get());
  std::map<std::pair<int32_t, unsigned>, size_t> placeAt;
  for (auto [number, spot] : llvm::enumerate(source.places.spots))
    if (source.places.places[number].kind == plan::AnnotationPlace::Inside)
      placeAt[{spot.at, spot.result}] = number;
  for (const Annotation &each : annotations) {
    if (each.kind != plan::AnnotationPlace::Inside)
      continue;
    std::string what = constraintText(ops[each.spot.at]);
    for (int32_t value : source.places.places[placeAt[{each.spot.at, each.spot.result}]].values)
      add("constraint " + what, value, what, "");
  }
  if (!lifts)
    return;
  for (auto [v, facts] : llvm::enumerate(source.plain().values)) {
    Value value = source.program->valueAt(int32_t(v));
    bool isInside = facts.argument < 0 && facts.result < 0;
    if (isInside && source.plain().graph.values[v].mesh >= 0 && value && value.getDefiningOp()) {
      std::string what = constraintText(value.getDefiningOp());
      add("constraint " + what, int32_t(v), what, "");
    }
  }
}

explain::Decision Decisions::decisionOf(const Group &group, const plan::NextBest &next,
                                        plan::AssignmentPrices &prices) const {
  auto spec = [&](const sharding::TensorSharding &sharding) {
    return mends::specText(onMesh.getMesh(), sharding);
  };
  explain::Decision decision;
  int32_t first = group.values.front();
  decision.what = group.names.empty() ? group.what : mends::namesText(group.names);
  decision.spec = spec(folded[first]);
  for (const sharding::TensorSharding &each : next.asLong)
    decision.asLong.push_back(spec(each));
  decision.isBest = next.isBest;
  if (next.values.empty())
    return decision;
  decision.next = spec(next.values[first]);
  plan::StepBill bill = billOf(prices, next.with);
  double bytes = prices.peakBytes(next.with);
  plan::BillDifference by = differenceOf(bill, billOf(prices, next.values));
  decision.seconds = by.seconds;
  decision.fraction = bill.seconds > 0 ? by.seconds / bill.seconds : 0;
  decision.bytes = prices.peakBytes(next.values) - bytes;
  decision.computing = by.computing;
  for (const plan::CollectiveBill &each : by.collectives)
    decision.parts.push_back({each.kind, each.count, each.seconds});
  decision.place = by.op >= 0 ? program().ops[by.op].location : "";
  return decision;
}

} // namespace tessera::planning
