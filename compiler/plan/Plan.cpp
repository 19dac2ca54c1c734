// plan: the program is imported once; on each mesh assignments of shardings are found on plain data;
// the best are written into copies of the author's program, which go the road.
#include "compiler/plan/Plan.h"

#include "compiler/DeepStack.h"
#include "compiler/plan/Choice.h"
#include "compiler/plan/Decisions.h"
#include "compiler/plan/NoneFits.h"
#include "compiler/plan/Reading.h"
#include "compiler/plan/Search.h"
#include "compiler/plan/Trials.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Beside.h"
#include "lib/plan/HiddenSearch.h"
#include "lib/plan/Layouts.h"
#include "lib/plan/LeastHeld.h"
#include "lib/plan/LeastTrials.h"
#include "lib/plan/Search.h"
#include "lib/process/OutOfMemory.h"

#include <chrono>
#include <deque>

namespace tessera {

using namespace mlir;

namespace planning {
namespace {

class Planning {
public:
  Planning(llvm::StringRef text, const CompileOptions &options, const PlanRequest &request,
           const CompileListener &listener, PlanWishes wishes)
      : text(text), options(options), request(request), listener(listener), wishes(wishes),
        road(options, listener) {}

  PlanResult run() {
    PlanResult result;
    const std::string &name = options.inputName;
    if (result.error = readSource(road, text, name, source, separate); !result.error.empty())
      return result;
    bound = scheduleOf(*source.imported).memory;
    std::vector<sharding::Mesh> meshes;
    if (result.error = chooseMeshes(source, request, name, meshes); !result.error.empty())
      return result;
    listener.began("plan");
    int64_t devices = meshes.front().numDevices();
    given = leastGiven(source, devices);
    // Only a short program is compiled to say how much more it needs at least.
    if (std::string wrong = givenTooMuch(given, bound.value_or(0), devices);
        !wrong.empty() && sparesTrials(source)) {
      result.error = errorOf(name, wrong);
      return result;
    }
    if (compilesSeveral())
      source.findWhatIsBeside(devices);
    source.folded = plan::foldedProgram(source.plain());
    search(meshes);
    const OnMesh *refined = nullptr; // a longer search was made on it
    if (compilesSeveral())
      trials.run(bestToTry(source, candidates, request.effort, given > 0 ? bound.value_or(0) : 0),
                 {});
    else
      refined = compileOne();
    findLeastCounted();
    tryLeastCounted();
    tryLeast();
    if (std::string wrong = chooseBest(); !wrong.empty()) {
      result.error = errorOf(name, wrong);
      return result;
    }
    if (planned.best->onMesh != refined)
      refine();
    if (compilesSeveral())
      proveHiding();
    annotateLess();
    findLeastOverhead();
    if (wishes.decisions)
      planned.decisions = findDecisions();
    planned.name = name;
    result.report = planJson(planned, *source.read);
    result.text = planText(planned, *source.read, wishes.all);
    result.decisions = std::move(planned.decisions);
    OwningOpRef<ModuleOp> annotated =
        std::move(candidates[planned.best - candidates.data()].tried.annotated);
    joinAlike(*annotated, separate);
    // What nobody needs any more takes a while to take apart, too.
    runBoth([&] { result.program = printedAsRead(*annotated); },
            [&] {
              early.reset();
              candidates.clear();
              onMeshes.clear();
              source = {};
            });
    return result;
  }

private:
  std::string chooseBest() { return choose(candidates, bound, given, planned); }

  plan::Options searchOptions() const {
    plan::Options asked;
    asked.memory = bound.value_or(0);
    asked.effort = request.effort;
    return asked;
  }

  void search(llvm::ArrayRef<sharding::Mesh> meshes) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<const OnMesh *> those;
    for (const sharding::Mesh &mesh : meshes)
      those.push_back(&onMeshes.emplace_back(source, mesh));
    Searched searched = searchedOn(source, those, searchOptions(), compilesSeveral());
    candidates = std::move(searched.candidates);
    lastPrices = std::move(searched.prices);
    orderCandidates(candidates, !compilesSeveral(), bound);
    planned.searchSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // The plan that was chosen, with no more annotations than it needs: where that is the same.
  void annotateLess() {
    Candidate &best = candidates[planned.best - candidates.data()];
    if (best.tried.isFewest)
      return;
    Tried less = tryFewest(source, *best.onMesh, best.folded, best.tried);
    bool isSame = less.error.empty() && less.others <= best.tried.others &&
                  less.time.seconds <= best.tried.time.seconds &&
                  less.peakBytes <= best.tried.peakBytes;
    if (isSame)
      best.tried = std::move(less);
  }

  void findLeastOverhead() {
    Candidate &best = candidates[planned.best - candidates.data()];
    best.leastOverhead = best.tried.time.overhead;
    for (const Candidate &each : candidates)
      if (each.isTried && each.tried.error.empty())
        best.leastOverhead = std::min(best.leastOverhead, each.tried.time.overhead);
  }

  // Of large programs one plan is compiled: only on its mesh are ties broken, and longer searches made.
  bool compilesSeveral() const { return mostTrials(source, request.effort) > 1; }

  // Of a large program the best that the search found, or what a longer search finds on its mesh. Returns that
  // mesh.
  const OnMesh *compileOne() {
    size_t found = 0; // the number of the first that the search found
    while (!candidates[found].isFound)
      ++found;
    const OnMesh *refined = candidates[found].onMesh;
    Candidate *one = &candidates[found];
    if (std::optional<Candidate> better = betterThan(*one)) {
      candidates.insert(candidates.begin(), std::move(*better));
      one = &candidates[0];
      ++found;
    }
    lastPrices.reset(); // what is compiled next is large
    tryOne(*one, {.fewest = true, .beside = findingDecisionsOf(*one)});
    tryUntilOneFits(candidates[found]);
    return refined;
  }

  // What is searched in any case while a core is free.
  std::function<std::function<void()>(llvm::ArrayRef<Annotation>)>
  findingDecisionsOf(const Candidate &candidate) {
    if (!wishes.decisions)
      return nullptr;
    return [&](llvm::ArrayRef<Annotation> annotations) {
      early = std::make_unique<Decisions>(source, *candidate.onMesh, candidate.folded, annotations,
                                          searchOptions(), wishes.lifts);
      return [this] { earlyPriced = early->priced(/*onBothCores=*/false); };
    };
  }

  std::vector<explain::Decision> findDecisions() {
    const Candidate &best = *planned.best;
    if (early && early->areOf(*best.onMesh, best.folded, best.tried.annotations))
      return std::move(earlyPriced);
    return Decisions(source, *best.onMesh, best.folded, best.tried.annotations, searchOptions(),
                     wishes.lifts)
        .priced(/*onBothCores=*/true);
  }

  // Of a large program one plan is compiled; where that does not fit, the one that it is better than, `also`,
  // and a few that the search counts as fitting.
  void tryUntilOneFits(const Candidate &also) {
    constexpr size_t kMost = 2; // each takes as long as all of the search
    size_t tried = 0;
    for (Candidate &each : candidates) {
      if (tried == kMost || isAnyPossible())
        return;
      if (each.isTried || !each.isFound || !(&each == &also || fitsAsCounted(each, bound)))
        continue;
      ++tried;
      tryOne(each, {.fewest = true});
    }
  }

  bool isAnyPossible() const {
    return llvm::any_of(
        candidates, [&](const Candidate &each) { return each.isTried && isPossible(each, bound); });
  }

  // Of a large program one plan or a few are compiled, the quickest, and how little they can do with says
  // nothing about others. So where none fits, a plan is searched for that holds least as counted.
  void findLeastCounted() {
    if (!bound || !sparesTrials(source) || isAnyPossible())
      return;
    const Candidate &least = leastCounted(candidates);
    plan::AssignmentPrices &prices = pricesOn(*least.onMesh);
    prices.setWeights({});
    plan::LeastHeld held = plan::leastHeld(prices, least.folded, given);
    Candidate counted;
    counted.kind = nameOf(candidates, *least.onMesh, held.values);
    counted.onMesh = least.onMesh;
    counted.folded = std::move(held.values);
    counted.lowerBound = least.lowerBound;
    counted.leastComputing = least.leastComputing;
    count(counted, prices, searchOptions());
    lastPrices.reset(); // what is compiled next is large
    candidates.push_back(std::move(counted));
  }

  // Of all that are counted, the one that holds least, where it fits as counted: it is the plan, or what it
  // needs when it is compiled is what is said.
  void tryLeastCounted() {
    if (!bound || isAnyPossible())
      return;
    Candidate &least = candidates[&leastCounted(candidates) - candidates.data()];
    if (!least.isTried && fitsAsCounted(least, bound))
      tryOne(least, {.fewest = !compilesSeveral()});
  }

  // Where no plan fits: what they need at least, and whether that does. Of a program that is not short of one,
  // for which all is tried; of a large one of none where what is counted is out of reach.
  void tryLeast() {
    if (!bound || isAnyPossible())
      return;
    if (!compilesSeveral() && !plan::isInReach(leastCounted(candidates).bytes, *bound))
      return;
    std::vector<Candidate *> tooLarge;
    for (Candidate &each : candidates)
      if (each.isTried && each.tried.isTooLarge)
        tooLarge.push_back(&each);
    std::vector<plan::TooLarge> plans;
    for (const Candidate *each : tooLarge)
      plans.push_back({each->tried.peakBytes, each->tried.givenBytes});
    plan::LeastTrials least(plans, *bound, source.plain().graph.ops.size());
    while (std::optional<size_t> number = least.next()) {
      Candidate &each = *tooLarge[*number];
      tryOne(each,
             {.fewest = !compilesSeveral(), .triesLeast = true, .triesAll = compilesSeveral()});
      least.needs(needed(each));
      if (sparesTrials(source))
        return;
    }
  }

  // A longer search on the mesh that was chosen: for a better plan, which is compiled and compared, and a
  // better bound.
  void refine() {
    std::optional<Candidate> better = betterThan(*planned.best);
    if (!better)
      return;
    tryOne(*better, {.fewest = !compilesSeveral()});
    candidates.push_back(std::move(*better));
    chooseBest(); // there is one at least
  }

  // What no plan on the mesh that was chosen is below where communication hides behind computing.
  void proveHiding() {
    const OnMesh *mesh = planned.best->onMesh;
    plan::AssignmentPrices &prices = pricesOn(*mesh);
    plan::HiddenFound hidden = plan::searchHidden(prices, knownOn(*mesh), searchOptions());
    prices.setWeights({});
    compileHidden(prices, hidden.plans);
    // What first readers wait for is nearer to what is compiled, and its bound is the higher. What is compiled
    // first is found by the other count: it knows more plans whose waiting order finds something for.
    std::vector<const plan::Assignment *> known = knownOn(*mesh);
    for (const plan::Assignment &each : hidden.plans)
      known.push_back(&each);
    plan::HiddenFound waiting =
        plan::searchHidden(prices, known, searchOptions(), /*firstWaits=*/true, hidden.lowerBound);
    prices.setWeights({.firstWaits = true});
    count(candidates[planned.best - candidates.data()], prices, searchOptions());
    compileHidden(prices, waiting.plans);
    Candidate &best = candidates[planned.best - candidates.data()];
    best.waiting = hidingOf(best, prices, waiting);
    prices.setWeights({});
    best.hiding = hidingOf(best, prices, hidden);
    lastPrices.reset();
  }

  std::vector<const plan::Assignment *> knownOn(const OnMesh &mesh) const {
    std::vector<const plan::Assignment *> known;
    for (const Candidate &each : candidates)
      if (each.onMesh == &mesh && (each.isTried || each.isFound))
        known.push_back(&each.folded);
    return known;
  }

  static Hiding hidingOf(const Candidate &candidate, plan::AssignmentPrices &prices,
                         const plan::HiddenFound &found) {
    Hiding hiding{plan::hiddenTimeOf(prices, candidate.folded), found.lowerBound};
    hiding.time.exposed += candidate.again;
    return hiding;
  }

  // Longer searches are mostly on one mesh after another: what the first found out about its reshards is
  // kept, and about no other mesh, as that takes memory.
  plan::AssignmentPrices &pricesOn(const OnMesh &mesh) {
    if (!lastPrices || &lastPrices->getPlanner().getMesh() != &mesh.getMesh())
      lastPrices = std::make_unique<plan::AssignmentPrices>(source.folded.program, mesh.getMesh(),
                                                            mesh.topology());
    return *lastPrices;
  }

  void compileHidden(plan::AssignmentPrices &prices, llvm::ArrayRef<plan::Assignment> plans) {
    std::vector<Candidate> better =
        betterHidden(candidates, *planned.best, plans, prices, searchOptions());
    if (better.empty())
      return;
    std::vector<Candidate *> those;
    for (Candidate &each : better)
      those.push_back(&each);
    trials.run(those, {});
    std::move(better.begin(), better.end(), std::back_inserter(candidates));
    chooseBest(); // there is one at least
  }

  // What a longer search finds on the mesh of a plan, unless its best is proven; if it is worth compiling, or
  // is simpler where no ties were broken. The bound of all plans on this mesh is raised.
  std::optional<Candidate> betterThan(const Candidate &known) {
    const OnMesh *mesh = known.onMesh;
    const Candidate *least = &known;
    for (const Candidate &each : candidates)
      if (each.onMesh == mesh && each.seconds < least->seconds)
        least = &each;
    bool hasTies = !compilesSeveral();
    if (!hasTies && plan::isProven(source.folded.program, least->seconds, least->lowerBound))
      return std::nullopt;
    plan::AssignmentPrices &prices = pricesOn(*mesh);
    plan::BestFound found =
        plan::refined(prices, least->folded, least->lowerBound, searchOptions());
    for (Candidate &each : candidates)
      if (each.onMesh == mesh)
        each.lowerBound = std::max(each.lowerBound, found.lowerBound);
    if (!found.fits || llvm::equal(found.values, least->folded, plan::liesAlike) ||
        (!hasTies && found.seconds >= least->seconds * (1 - kBetter)))
      return std::nullopt;
    Candidate better;
    better.kind = nameOf(candidates, *mesh, found.values);
    better.onMesh = mesh;
    better.folded = std::move(found.values);
    better.lowerBound = std::max(least->lowerBound, found.lowerBound);
    count(better, prices, searchOptions());
    better.leastComputing = least->leastComputing;
    better.isFound = true;
    return better;
  }

  void tryOne(Candidate &candidate, const TrialWishes &wishes) {
    tryCandidate(source, source.read.get(), candidate, wishes);
  }

  llvm::StringRef text;
  const CompileOptions &options;
  const PlanRequest &request;
  const CompileListener &listener;
  const PlanWishes wishes;
  Road road;
  Source source;
  Trials trials{source, text, options};
  SeparateCalls separate;
  MemoryBound bound;
  double given = 0; // bytes that no plan is below; 0: not known
  std::deque<OnMesh> onMeshes;
  std::unique_ptr<plan::AssignmentPrices> lastPrices;
  std::vector<Candidate> candidates;
  Planned planned;
  // Found while a plan was compiled, which is mostly the one that is chosen.
  std::unique_ptr<Decisions> early;
  std::vector<explain::Decision> earlyPriced;
};

} // namespace
} // namespace planning

PlanResult planProgram(llvm::StringRef module, const CompileOptions &options,
                       const PlanRequest &request, const CompileListener &listener,
                       PlanWishes wishes) {
  return resultOnDeepStack(
      [&] { return planning::Planning(module, options, request, listener, wishes).run(); });
}

} // namespace tessera
