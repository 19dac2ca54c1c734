#include "lib/plan/DimClasses.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <set>

namespace tessera::plan {
namespace {

using sharding::DimFactors;
using sharding::FactorKind;
using sharding::FactorRule;
using sharding::OpClass;
using sharding::PropagatedOp;
using sharding::TensorFactors;

// The factor by which a dimension is split first; -1: none that is larger than one element.
int32_t majorOf(const DimFactors &dim, const FactorRule &rule) {
  for (int32_t f : dim)
    if (rule.factors[f].size > 1)
      return f;
  return -1;
}

bool isStorage(const PropagatedOp &op) {
  return op.opClass == OpClass::PassThrough || op.opClass == OpClass::Slice ||
         op.opClass == OpClass::Fixed || op.opClass == OpClass::Return;
}

// Calls visit(value, dim, factor) for every dimension of an op's tensors that has a major factor.
template <typename Visit>
void forEachPlace(const PropagatedOp &op, const FactorRule &rule, Visit visit) {
  auto side = [&](llvm::ArrayRef<int32_t> values, const std::vector<TensorFactors> &tensors) {
    for (auto [value, dims] : llvm::zip_equal(values, tensors))
      for (auto [d, factors] : llvm::enumerate(dims))
        if (int32_t f = majorOf(factors, rule); f >= 0)
          visit(value, static_cast<int32_t>(d), f);
  };
  side(op.operands, rule.operands);
  side(op.results, rule.results);
}

class UnionFind {
public:
  explicit UnionFind(size_t size) : parent(size) { std::iota(parent.begin(), parent.end(), 0); }
  int32_t find(int32_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  void join(int32_t a, int32_t b) {
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<int32_t> parent;
};

} // namespace

bool isProduct(const PropagatedOp &op, const FactorRule &rule) {
  auto has = [](const TensorFactors &tensor, int32_t factor) {
    return llvm::any_of(tensor,
                        [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
  };
  if (op.operands.size() != 2 || op.results.size() != 1)
    return false;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (factor.kind == FactorKind::Reduction && has(rule.operands[0], f) &&
        has(rule.operands[1], f))
      return true;
  return false;
}

double bytesOf(const sharding::PropagatedValue &value) {
  double bytes = static_cast<double>(value.elementBytes);
  for (int64_t size : value.shape)
    bytes *= static_cast<double>(size);
  return bytes;
}

DimClasses::DimClasses(const sharding::PropagationGraph &graph, Ties ties) {
  for (const sharding::PropagatedValue &value : graph.values) {
    first.push_back(limits.size());
    limits.insert(limits.end(), value.shape.begin(), value.shape.end());
  }
  UnionFind sets(limits.size());
  std::vector<int32_t> place; // of each factor of an op, the first that was seen
  for (const PropagatedOp &op : graph.ops) {
    if (ties == Ties::Storage && !isStorage(op))
      continue;
    const FactorRule &rule = graph.rules[op.rule];
    place.assign(rule.factors.size(), -1);
    forEachPlace(op, rule, [&](int32_t value, int32_t dim, int32_t f) {
      const sharding::Factor &factor = rule.factors[f];
      if (factor.kind == FactorKind::NeedReplication)
        return;
      int32_t at = first[value] + dim;
      if (factor.size < graph.values[value].shape[dim] && factor.kind != FactorKind::Permutation)
        limits[at] = std::gcd(limits[at], factor.size);
      if (place[f] < 0)
        place[f] = at;
      else
        sets.join(place[f], at);
    });
  }
  classes.assign(limits.size(), -1);
  std::vector<int32_t> numbers(limits.size(), -1); // of the first of each class
  for (auto [v, value] : llvm::enumerate(graph.values))
    for (auto [d, size] : llvm::enumerate(value.shape)) {
      if (size <= 1)
        continue;
      int32_t &number = numbers[sets.find(first[v] + d)];
      if (number < 0) {
        number = members.size();
        members.emplace_back();
      }
      classes[first[v] + d] = number;
      members[number].push_back({static_cast<int32_t>(v), static_cast<int32_t>(d)});
    }
  orderRepeated(graph);
}

void DimClasses::orderRepeated(const sharding::PropagationGraph &graph) {
  std::vector<bool> isRepeated(limits.size());
  for (auto &places : members)
    for (size_t i = 1; i < places.size(); ++i)
      if (places[i].value == places[i - 1].value)
        isRepeated[first[places[i].value] + places[i].dim] =
            isRepeated[first[places[i].value] + places[i - 1].dim] = true;
  if (!llvm::is_contained(isRepeated, true))
    return;
  // Repeated dimensions that ops tie lie alike; how many others are tied to them.
  UnionFind sets(limits.size());
  std::vector<int32_t> others(limits.size()), place;
  for (const PropagatedOp &op : graph.ops) {
    const FactorRule &rule = graph.rules[op.rule];
    place.assign(rule.factors.size(), -1);
    auto forEachOf = [&](bool repeated, auto visit) {
      forEachPlace(op, rule, [&](int32_t value, int32_t dim, int32_t f) {
        if (rule.factors[f].kind != FactorKind::NeedReplication &&
            isRepeated[first[value] + dim] == repeated)
          visit(first[value] + dim, f);
      });
    };
    forEachOf(true, [&](int32_t at, int32_t f) {
      if (place[f] < 0)
        place[f] = at;
      else
        sets.join(place[f], at);
    });
    forEachOf(false, [&](int32_t, int32_t f) {
      if (place[f] >= 0)
        ++others[place[f]];
    });
  }
  std::vector<int32_t> tied(limits.size());
  for (size_t at = 0; at < limits.size(); ++at)
    tied[sets.find(int32_t(at))] += others[at];
  auto tiesOf = [&](const ValueDim &at) { return tied[sets.find(first[at.value] + at.dim)]; };
  for (auto &places : members)
    llvm::stable_sort(places, [&](const ValueDim &a, const ValueDim &b) {
      return a.value != b.value ? a.value < b.value : tiesOf(a) > tiesOf(b);
    });
}

int32_t DimClasses::ofFactor(const PropagatedOp &op, const FactorRule &rule, int32_t factor) const {
  int32_t found = -1;
  forEachPlace(op, rule, [&](int32_t value, int32_t dim, int32_t f) {
    if (f == factor && found < 0)
      found = of(value, dim);
  });
  return found;
}

namespace {

// Adds up the facts op by op; vectors are kept between ops.
class FactCounter {
public:
  FactCounter(const Program &program, const DimClasses &classes)
      : program(program), classes(classes) {
    facts.classes.resize(classes.size());
    anyOther = llvm::any_of(program.graph.ops,
                            [](const PropagatedOp &op) { return op.opClass == OpClass::Other; });
  }

  ProgramFacts run() {
    findOrigins();
    for (auto [i, op] : llvm::enumerate(program.graph.ops))
      add(op, i < program.ops.size() ? program.ops[i].times : 1);
    for (auto [v, value] : llvm::enumerate(program.graph.values))
      if (program.values[v].argument >= 0 && !value.shape.empty())
        addArgument(v);
    return std::move(facts);
  }

private:
  void add(const PropagatedOp &op, double times) {
    const FactorRule &rule = program.graph.rules[op.rule];
    classOf.assign(rule.factors.size(), -1);
    forEachPlace(op, rule, [&](int32_t value, int32_t dim, int32_t f) {
      if (classOf[f] < 0)
        classOf[f] = classes.of(value, dim);
    });
    double results = 0;
    for (int32_t v : op.results)
      results += bytesOf(program.graph.values[v]);
    // What is done in place is fused with what makes it, or it is an update, which follows storage.
    bool counts = op.opClass == OpClass::Other || !anyOther;
    double work = counts ? times * op.flops : 0;
    facts.work += work;
    if (isProduct(op, rule))
      noteProduct(op, rule);
    counted.clear();
    for (auto [f, factor] : llvm::enumerate(rule.factors)) {
      if (classOf[f] < 0 || factor.kind == FactorKind::NeedReplication)
        continue;
      ClassFacts &entry = facts.classes[classOf[f]];
      if (llvm::is_contained(counted, classOf[f]))
        continue;
      counted.push_back(classOf[f]);
      entry.work += work;
      if (op.opClass == OpClass::Slice) {
        entry.walked |= isWalked(op, rule, f);
      } else if (factor.kind == FactorKind::Reduction) {
        entry.reduced += work;
        entry.partialBytes += times * results;
      } else if (factor.kind == FactorKind::Permutation) {
        entry.permuted += work;
      }
    }
  }

  // Values that are an argument, or made from it alone without computing: slices, transposes, casts.
  void findOrigins() {
    origin.assign(program.graph.values.size(), -1);
    for (auto [v, facts] : llvm::enumerate(program.values))
      if (facts.argument >= 0)
        origin[v] = v;
    for (const PropagatedOp &op : program.graph.ops) {
      if (!isStorage(op) || op.opClass == OpClass::Return)
        continue;
      int32_t from = -1;
      bool alone = true;
      for (int32_t v : op.operands)
        if (!program.graph.values[v].free && !program.graph.values[v].shape.empty()) {
          alone &= !op.elementwise || from < 0 || origin[v] == from;
          from = from < 0 ? origin[v] : from;
        }
      for (int32_t v : op.results)
        if (alone && origin[v] < 0)
          origin[v] = from;
    }
    isWeight.assign(origin.size(), false);
  }

  void noteProduct(const PropagatedOp &op, const FactorRule &rule) {
    const TensorFactors &result = rule.results[0];
    for (size_t d = 0; d < result.size(); ++d)
      for (size_t e = 0; e < d; ++e)
        if (int32_t c = classes.of(op.results[0], d); c >= 0 && c == classes.of(op.results[0], e))
          facts.classes[c].twice = true;
    for (int32_t v : op.operands)
      if (origin[v] >= 0)
        isWeight[origin[v]] = true;
    if (origin[op.operands[0]] < 0 && origin[op.operands[1]] < 0)
      return;
    for (auto [d, factors] : llvm::enumerate(rule.operands[0]))
      for (const DimFactors &other : rule.operands[1])
        if (int32_t f = majorOf(factors, rule);
            f >= 0 && rule.factors[f].kind == FactorKind::PassThrough && majorOf(other, rule) == f)
          if (int32_t c = classes.of(op.operands[0], d); c >= 0)
            for (int32_t v : op.operands)
              facts.classes[c].batchesWeights |= origin[v] >= 0 && comesBack(origin[v]);
  }

  // Whether the program gives back something as an argument is: new weights, or their gradients.
  bool comesBack(int32_t argument) {
    auto dims = [&](int32_t v) {
      std::vector<int32_t> list;
      for (size_t d = 0; d < program.graph.values[v].shape.size(); ++d)
        list.push_back(classes.of(v, d));
      return list;
    };
    if (results.empty())
      for (auto [v, facts] : llvm::enumerate(program.values))
        if (facts.result >= 0)
          results.insert(dims(v));
    return results.count(dims(argument)) > 0;
  }

  // A slice's other tensors lack the factor along which it is taken.
  static bool isWalked(const PropagatedOp &op, const FactorRule &rule, int32_t factor) {
    size_t rank = rule.operands[0].size();
    auto lacks = [&](const TensorFactors &tensor) {
      return tensor.size() == rank && llvm::none_of(tensor, [&](const DimFactors &dim) {
               return llvm::is_contained(dim, factor);
             });
    };
    return llvm::any_of(rule.operands, lacks) || llvm::any_of(rule.results, lacks);
  }

  void addArgument(int32_t v) {
    ++facts.arguments;
    counted.clear();
    for (size_t d = 0; d < program.graph.values[v].shape.size(); ++d)
      if (int32_t c = classes.of(v, d); c >= 0 && !llvm::is_contained(counted, c)) {
        counted.push_back(c);
        ++facts.classes[c].arguments;
        facts.classes[c].weights += isWeight[v];
      }
  }

  const Program &program;
  const DimClasses &classes;
  ProgramFacts facts;
  bool anyOther = false;       // than ops that pass on or change elements in place
  std::vector<int32_t> origin; // of each value, an argument or -1
  std::vector<bool> isWeight;
  std::set<std::vector<int32_t>> results; // the classes of their dimensions
  std::vector<int32_t> classOf, counted;
};

} // namespace

ProgramFacts factsOf(const Program &program, const DimClasses &classes) {
  return FactCounter(program, classes).run();
}

} // namespace tessera::plan
