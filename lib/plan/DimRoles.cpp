#include "lib/plan/DimRoles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <map>

namespace tessera::plan {
namespace {

using sharding::FactorKind;
using sharding::FactorRule;
using sharding::OpClass;
using sharding::PropagatedOp;

// What share of all work speaks against splitting data along a class: work that it does not split;
// in part, work that would leave partial results or needs values from other shards. Arguments that
// have such a dimension do, too: a program takes many weights and few inputs.
double against(const ClassFacts &facts, const ProgramFacts &program) {
  auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  return 1 - share(facts.work, program.work) + 0.25 * share(facts.reduced, program.work) +
         0.15 * share(facts.permuted, program.work) +
         0.5 * share(facts.arguments, program.arguments) + (facts.twice ? 0.02 : 0) +
         (facts.batchesWeights ? 0.2 : 0);
}

constexpr double kMostAgainst = 0.75; // for which a class still counts as one of data
constexpr double kPositions = 0.2;    // of the weights may have a second such class: embeddings of
                                      // positions
constexpr double kSmallWork = 1e-4;   // of all: what is no layer's

DataClass::Kind kindOf(const ClassFacts &facts, const ProgramFacts &program) {
  if (facts.permuted > 0.05 * program.work)
    return DataClass::Kind::Spatial;
  return facts.twice ? DataClass::Kind::Context : DataClass::Kind::Batch;
}

void addOnce(std::vector<int32_t> &list, int32_t number) {
  if (number >= 0 && !llvm::is_contained(list, number))
    list.push_back(number);
}

} // namespace

DimRoles::DimRoles(const Program &program)
    : program(program), allClasses(program.graph, Ties::All),
      storageClasses(program.graph, Ties::Storage), facts(factsOf(program, allClasses)) {
  findData();
  findMoments();
  findExpertsAndRows();
}

void DimRoles::findData() {
  std::vector<std::pair<double, int32_t>> scores;
  for (auto [c, entry] : llvm::enumerate(facts.classes))
    if (double score = against(entry, facts); entry.arguments > 0 && score < kMostAgainst)
      scores.push_back({score, static_cast<int32_t>(c)});
  llvm::sort(scores);
  if (scores.empty())
    return;
  dataClasses.push_back({scores[0].second, kindOf(facts.classes[scores[0].second], facts)});
  findState();
  double all = 0;
  std::vector<double> ofState(facts.classes.size()); // bytes of state that has the class
  std::vector<int32_t> counted;
  for (int32_t v : stateValues) {
    double bytes = bytesOf(program.graph.values[v]);
    all += bytes;
    counted.clear();
    for (size_t d = 0; d < program.graph.values[v].shape.size(); ++d)
      addOnce(counted, allClasses.of(v, d));
    for (int32_t c : counted)
      ofState[c] += bytes;
  }
  // Inputs that products take look like weights: positions have other inputs as well, or are seen
  // by each other.
  for (auto [score, c] : llvm::ArrayRef(scores).drop_front()) {
    const ClassFacts &entry = facts.classes[c];
    DataClass::Kind kind = kindOf(entry, facts);
    if (ofState[c] <= kPositions * all && entry.weights <= 1 &&
        (kind != DataClass::Kind::Batch || 2 * entry.weights <= entry.arguments)) {
      dataClasses.push_back({c, kind});
      break;
    }
  }
  findState();
}

// A batch is what data has; where there is none, what else splits the work.
void DimRoles::findState() {
  auto splits = [&](int32_t c, bool batchOnly) {
    return llvm::any_of(dataClasses, [&](const DataClass &data) {
      return data.number == c && (!batchOnly || data.kind == DataClass::Kind::Batch);
    });
  };
  bool batches = llvm::any_of(
      dataClasses, [](const DataClass &data) { return data.kind == DataClass::Kind::Batch; });
  stateValues.clear();
  for (auto [v, value] : llvm::enumerate(program.graph.values)) {
    if (program.values[v].argument < 0 || value.shape.empty())
      continue;
    bool isData = false;
    for (size_t d = 0; d < value.shape.size(); ++d)
      isData |= splits(allClasses.of(v, d), batches);
    if (!isData)
      stateValues.push_back(v);
  }
  llvm::stable_sort(stateValues, [&](int32_t a, int32_t b) {
    return bytesOf(program.graph.values[a]) > bytesOf(program.graph.values[b]);
  });
}

// A weight is used, as it is or changed by nothing but constants, by what is no update.
void DimRoles::findMoments() {
  const sharding::PropagationGraph &graph = program.graph;
  ofWeights.assign(graph.values.size(), false);
  for (int32_t argument : stateValues) {
    std::vector<int32_t> reached = {argument};
    bool used = false;
    for (size_t i = 0; i < reached.size(); ++i)
      for (int32_t number : graph.values[reached[i]].ops) {
        const PropagatedOp &op = graph.ops[number];
        if (!llvm::is_contained(op.operands, reached[i]) || op.opClass == OpClass::Return)
          continue;
        if (op.opClass == OpClass::Other || op.opClass == OpClass::Broadcast) {
          used = true;
          continue;
        }
        bool own = llvm::all_of(op.operands, [&](int32_t v) {
          return graph.values[v].free || graph.values[v].shape.empty() ||
                 llvm::is_contained(reached, v);
        });
        if (own || !op.elementwise)
          for (int32_t v : op.results)
            addOnce(reached, v);
      }
    if (!used)
      momentValues.push_back(argument);
    else
      for (int32_t v : reached)
        ofWeights[v] = true;
  }
  findWeightResults();
}

// A weight, its moments, and the results that take their places have storage in common; they come
// and go in the same order.
void DimRoles::findWeightResults() {
  const sharding::PropagationGraph &graph = program.graph;
  auto key = [&](int32_t v) {
    std::vector<int32_t> classes;
    for (size_t d = 0; d < graph.values[v].shape.size(); ++d)
      classes.push_back(storageClasses.of(v, d));
    return classes;
  };
  std::map<std::vector<int32_t>, std::pair<std::vector<int32_t>, std::vector<int32_t>>> alike;
  for (int32_t v : stateValues)
    alike[key(v)].first.push_back(v);
  for (auto [v, facts] : llvm::enumerate(program.values))
    if (facts.result >= 0)
      if (auto it = alike.find(key(v)); it != alike.end())
        it->second.second.push_back(v);
  for (auto &[classes, lists] : alike) {
    auto &[arguments, results] = lists;
    if (arguments.size() != results.size())
      continue;
    llvm::sort(arguments, [&](int32_t a, int32_t b) {
      return program.values[a].argument < program.values[b].argument;
    });
    llvm::sort(results, [&](int32_t a, int32_t b) {
      return program.values[a].result < program.values[b].result;
    });
    for (auto [argument, result] : llvm::zip_equal(arguments, results))
      ofWeights[result] = ofWeights[argument];
  }
}

void DimRoles::findExpertsAndRows() {
  const sharding::PropagationGraph &graph = program.graph;
  std::vector<int32_t> stateDims; // storage classes
  for (int32_t v : stateValues)
    for (size_t d = 0; d < graph.values[v].shape.size(); ++d)
      addOnce(stateDims, storageClasses.of(v, d));
  llvm::SmallSet<int32_t, 16> ofState(stateDims.begin(), stateDims.end());

  // The storage classes of a factor's places in an op's operands and results.
  auto storageOf = [&](const PropagatedOp &op, int32_t factor) {
    const FactorRule &rule = graph.rules[op.rule];
    std::vector<int32_t> list;
    auto side = [&](llvm::ArrayRef<int32_t> values,
                    llvm::ArrayRef<sharding::TensorFactors> tensors) {
      for (auto [v, dims] : llvm::zip_equal(values, tensors))
        for (auto [d, factors] : llvm::enumerate(dims))
          if (!factors.empty() && factors.front() == factor)
            list.push_back(storageClasses.of(v, d));
    };
    side(op.operands, rule.operands);
    size_t operands = list.size();
    side(op.results, rule.results);
    return std::pair(list, operands);
  };

  std::vector<int32_t> batched; // classes that weights and what they are multiplied with have
  for (const PropagatedOp &op : graph.ops) {
    if (op.opClass != OpClass::Other)
      continue;
    const FactorRule &rule = graph.rules[op.rule];
    bool multiplies = isProduct(op, rule);
    for (auto [f, factor] : llvm::enumerate(rule.factors)) {
      if (factor.size <= 1 || factor.kind == FactorKind::NeedReplication)
        continue;
      auto [list, operands] = storageOf(op, f);
      bool weights = llvm::any_of(llvm::ArrayRef(list).take_front(operands),
                                  [&](int32_t c) { return ofState.count(c) > 0; });
      if (!weights)
        continue;
      if (multiplies && factor.kind == FactorKind::PassThrough && operands == 2 && list.size() == 3)
        addOnce(batched, allClasses.ofFactor(op, rule, f));
      // A gather's rows: no other tensor has them, and another operand says which.
      if (factor.kind == FactorKind::Reduction && list.size() == 1 && op.operands.size() == 2 &&
          !graph.values[op.operands[1]].shape.empty())
        addOnce(rowClasses, list[0]);
    }
  }
  for (const PropagatedOp &op : graph.ops) {
    const FactorRule &rule = graph.rules[op.rule];
    if (op.opClass != OpClass::Other || batched.empty() || !isProduct(op, rule))
      continue;
    for (auto [f, factor] : llvm::enumerate(rule.factors)) {
      if (factor.kind != FactorKind::PassThrough ||
          !llvm::is_contained(batched, allClasses.ofFactor(op, rule, f)))
        continue;
      auto [list, operands] = storageOf(op, f);
      if (operands == 2)
        for (int32_t c : list)
          addOnce(expertClasses, c);
    }
  }
}

std::vector<int32_t> DimRoles::tensorClasses(int64_t shards) const {
  const sharding::PropagationGraph &graph = program.graph;
  std::vector<int32_t> candidates;
  std::vector<bool> divides(facts.classes.size(), true);
  for (int32_t v : stateValues)
    for (size_t d = 0; d < graph.values[v].shape.size(); ++d)
      if (int32_t c = allClasses.of(v, d); c >= 0 && !facts.classes[c].walked) {
        addOnce(candidates, c);
        if (allClasses.elements({v, static_cast<int32_t>(d)}) % shards)
          divides[c] = false;
      }
  llvm::erase_if(candidates, [&](int32_t c) {
    return !divides[c] || facts.classes[c].work < kSmallWork * facts.work ||
           llvm::any_of(dataClasses, [&](const DataClass &data) { return data.number == c; });
  });
  auto price = [&](int32_t c) {
    return facts.classes[c].partialBytes / std::max(facts.classes[c].work, 1.0);
  };
  llvm::stable_sort(candidates, [&](int32_t a, int32_t b) { return price(a) < price(b); });
  std::vector<int32_t> chosen;
  for (int32_t c : candidates) {
    bool taken = llvm::any_of(stateValues, [&](int32_t v) {
      bool has = false, other = false;
      for (size_t d = 0; d < graph.values[v].shape.size(); ++d) {
        int32_t at = allClasses.of(v, d);
        has |= at == c;
        other |= at != c && llvm::is_contained(chosen, at);
      }
      return has && other;
    });
    if (!taken)
      chosen.push_back(c);
  }
  return chosen;
}

} // namespace tessera::plan
