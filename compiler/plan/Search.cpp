#include "compiler/plan/Search.h"

#include "lib/plan/Memory.h"
#include "lib/plan/Search.h"
#include "lib/process/OutOfMemory.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

namespace tessera::planning {

using namespace mlir;

namespace {

// But for what is computed from constants alone.
bool isSamePlan(const plan::Program &program, const plan::Assignment &a,
                const plan::Assignment &b) {
  for (auto [value, one, other] : llvm::zip(program.graph.values, a, b))
    if (!value.free && !plan::liesAlike(one, other))
      return false;
  return true;
}

} // namespace

std::string nameOf(llvm::ArrayRef<Candidate> candidates, const OnMesh &onMesh,
                   const plan::Assignment &folded) {
  const Candidate *same = llvm::find_if(candidates, [&](const Candidate &each) {
    return each.onMesh == &onMesh && isSamePlan(onMesh.folded(), each.folded, folded);
  });
  return same == candidates.end() ? kSearch : same->kind;
}

void count(Candidate &candidate, plan::AssignmentPrices &prices, const plan::Options &options) {
  plan::StepParts parts;
  candidate.seconds = prices.seconds(candidate.folded, &parts);
  candidate.computing = parts.computing;
  plan::HiddenTime time = plan::hiddenTimeOf(prices, parts);
  candidate.likely = time.seconds();
  candidate.cautious = time.cautiousSeconds();
  candidate.wary = time.warySeconds();
  double capacity = options.memory ? double(options.memory) : plan::kImpossible;
  plan::AssignmentPrices::Fitted fitted = prices.fitted(candidate.folded, capacity);
  candidate.bytes = fitted.bytes;
  candidate.given = plan::givenBytes(prices.getProgram(), candidate.folded);
  candidate.again = fitted.bytes <= capacity ? fitted.seconds : 0;
  candidate.seconds += candidate.again;
  candidate.likely += candidate.again;
  candidate.cautious += candidate.again;
  candidate.wary += candidate.again;
}

// `known`: of the folded program.
static std::vector<Candidate> candidatesOn(const OnMesh &onMesh, const plan::KnownPlans &known,
                                           const plan::Options &options, bool breaksTies,
                                           plan::AssignmentPrices &prices) {
  const plan::Program &program = onMesh.folded();
  std::vector<Candidate> candidates;
  auto add = [&](std::string kind, plan::Assignment values) {
    for (Candidate &known : candidates)
      if (isSamePlan(program, known.folded, values)) { // what the search finds may have a name
        known.kind = known.kind == kSearch ? kind : known.kind;
        return;
      }
    Candidate candidate;
    candidate.kind = std::move(kind);
    candidate.onMesh = &onMesh;
    candidate.folded = std::move(values);
    candidates.push_back(std::move(candidate));
  };
  plan::PlansOnMesh found = plan::plansOnMesh(known, prices, options, breaksTies);
  add(kSearch, std::move(found.best.values));
  std::stable_partition(found.known.begin(), found.known.end(),
                        [](const plan::KnownPlan &each) { return llvm::all_equal(each.roles); });
  for (plan::KnownPlan &each : found.known)
    add(each.roles.empty() ? "replicated" : known.name(each.roles), std::move(each.values));
  // The bounds hold for all plans of the mesh.
  double leastComputing = prices.leastComputing();
  for (Candidate &each : candidates) {
    each.lowerBound = found.best.lowerBound;
    each.leastComputing = leastComputing;
    count(each, prices, options);
  }
  candidates.front().isFound = true;
  return candidates;
}

namespace {

// Prices of the best mesh so far; which that is does not depend on which was searched first.
class LeastPrices {
public:
  void offer(const Candidate &best, size_t mesh, const plan::Options &options,
             std::unique_ptr<plan::AssignmentPrices> prices) {
    bool isAbove = options.memory && best.bytes > double(options.memory);
    auto rank = std::tuple(isAbove, best.seconds, mesh);
    std::lock_guard<std::mutex> guard(lock);
    if (kept && least <= rank)
      return;
    least = rank;
    kept.swap(prices);
  }
  std::unique_ptr<plan::AssignmentPrices> take() { return std::move(kept); }

private:
  std::mutex lock;
  std::tuple<bool, double, size_t> least;
  std::unique_ptr<plan::AssignmentPrices> kept;
};

} // namespace

Searched searchedOn(const Source &source, llvm::ArrayRef<const OnMesh *> onMeshes,
                    const plan::Options &options, bool breaksTies) {
  plan::KnownPlans known(source.folded.program);
  // Each mesh by itself, on whichever of two cores is free: what is found is the same. Those of most axes take
  // longest and are begun first.
  std::vector<size_t> order(onMeshes.size());
  std::iota(order.begin(), order.end(), 0);
  auto axes = [&](size_t mesh) { return onMeshes[mesh]->getMesh().axes.size(); };
  llvm::stable_sort(order, [&](size_t a, size_t b) { return axes(a) > axes(b); });
  std::vector<std::vector<Candidate>> found(onMeshes.size());
  LeastPrices least;
  runEach(order.size(), [&](size_t i) {
    const OnMesh &onMesh = *onMeshes[order[i]];
    auto prices = std::make_unique<plan::AssignmentPrices>(onMesh.folded(), onMesh.getMesh(),
                                                           onMesh.topology());
    found[order[i]] = candidatesOn(onMesh, known, options, breaksTies, *prices);
    if (!breaksTies)
      least.offer(found[order[i]].front(), order[i], options, std::move(prices));
  });
  Searched searched;
  for (std::vector<Candidate> &each : found)
    std::move(each.begin(), each.end(), std::back_inserter(searched.candidates));
  searched.prices = least.take();
  return searched;
}

namespace {

// "fsdp x data" and "data x fsdp" are one kind.
std::string kindOf(const Candidate &candidate) {
  SmallVector<StringRef> parts;
  StringRef(candidate.kind).split(parts, " x ");
  llvm::sort(parts);
  return llvm::join(parts, " x ");
}

bool isPure(const Candidate &candidate) {
  return candidate.kind != kSearch && !StringRef(candidate.kind).contains(" x ");
}

} // namespace

size_t mostTrials(const Source &source, int effort) {
  size_t ops = source.plain().graph.ops.size() + 1;
  return std::clamp<size_t>(size_t(effort) * 6000 / ops, 1, size_t(effort) * 4);
}

bool sparesTrials(const Source &source) {
  constexpr size_t kShort = 400; // ops
  return source.plain().graph.ops.size() > kShort;
}

void tryCandidate(const Source &source, ModuleOp read, Candidate &candidate,
                  const TrialWishes &wishes) {
  candidate.tried = tryPlan(source, read, *candidate.onMesh, candidate.folded, wishes);
  if (wishes.fewest && candidate.tried.others > 0 && candidate.tried.hasPlaces) {
    Tried more = tryPlan(source, read, *candidate.onMesh, candidate.folded,
                         {.triesLeast = wishes.triesLeast, .triesAll = wishes.triesAll});
    if (more.others < candidate.tried.others)
      candidate.tried = std::move(more);
  }
  candidate.isTried = true;
}

std::vector<Candidate *> bestToTry(const Source &source, std::vector<Candidate> &candidates,
                                   int effort, int64_t bound) {
  size_t most = mostTrials(source, effort);
  constexpr size_t kMostAbove = 3; // that are counted above what there is: these take many programs
  bool spares = bound && sparesTrials(source);
  size_t above = 0;
  std::set<std::string> kinds;
  std::vector<Candidate *> chosen;
  auto chooseThose = [&](size_t upTo, llvm::function_ref<bool(const Candidate &)> isMeant) {
    for (Candidate &candidate : candidates) {
      if (chosen.size() >= upTo)
        break;
      if (llvm::is_contained(chosen, &candidate) || !isMeant(candidate) ||
          (!candidate.isFound && kinds.contains(kindOf(candidate))))
        continue;
      if (spares && candidate.bytes > double(bound)) {
        if (candidate.given > double(bound) || above == kMostAbove)
          continue;
        ++above;
      }
      kinds.insert(kindOf(candidate));
      chosen.push_back(&candidate);
    }
  };
  auto isFound = [](const Candidate &candidate) { return candidate.isFound; };
  chooseThose((most + 2) / 3, isFound);
  chooseThose((2 * most + 2) / 3, isPure);
  chooseThose(most, [](const Candidate &) { return true; });
  if (chosen.empty()) // for the error, which says what one needs
    chosen.push_back(&*llvm::min_element(
        candidates, [](const Candidate &a, const Candidate &b) { return a.bytes < b.bytes; }));
  return chosen;
}

std::vector<Candidate> betterHidden(llvm::ArrayRef<Candidate> candidates, const Candidate &chosen,
                                    llvm::ArrayRef<plan::Assignment> plans,
                                    plan::AssignmentPrices &prices, const plan::Options &options) {
  std::vector<Candidate> found;
  for (const plan::Assignment &each : plans) {
    bool isTried = llvm::any_of(candidates, [&](const Candidate &known) {
      return known.isTried && known.onMesh == chosen.onMesh &&
             isSamePlan(chosen.onMesh->folded(), known.folded, each);
    });
    if (isTried)
      continue;
    Candidate &candidate = found.emplace_back();
    candidate.folded = each;
    count(candidate, prices, options);
    candidate.kind = nameOf(candidates, *chosen.onMesh, each);
    candidate.onMesh = chosen.onMesh;
    candidate.lowerBound = chosen.lowerBound;
    candidate.leastComputing = chosen.leastComputing;
    candidate.isFound = true;
  }
  llvm::SmallSetVector<size_t, 2> least;
  for (auto [by, less] :
       {std::pair(&Candidate::likely, kBetter), std::pair(&Candidate::wary, kBetter / 20)}) {
    std::optional<size_t> best;
    for (auto [number, each] : llvm::enumerate(found))
      if (each.*by < (best ? found[*best].*by : chosen.*by * (1 - less)))
        best = number;
    if (best)
      least.insert(*best);
  }
  std::vector<Candidate> better;
  for (size_t number : least)
    better.push_back(std::move(found[number]));
  return better;
}

} // namespace tessera::planning
