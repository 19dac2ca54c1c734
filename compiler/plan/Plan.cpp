// plan: the program is imported once; on each mesh assignments of shardings are found on plain data;
// the best are written into copies of the author's program, which go the road.
#include "compiler/plan/Plan.h"

#include "compiler/DeepStack.h"
#include "compiler/Entry.h"
#include "compiler/Road.h"
#include "compiler/mends/Change.h"
#include "compiler/plan/Calls.h"
#include "compiler/plan/Decisions.h"
#include "compiler/plan/Search.h"
#include "compiler/source/InputCheck.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Beside.h"
#include "lib/plan/HiddenSearch.h"
#include "lib/plan/Layouts.h"
#include "lib/plan/LeastTrials.h"
#include "lib/plan/Memory.h"
#include "lib/plan/Meshes.h"
#include "lib/plan/Ranking.h"
#include "lib/plan/Search.h"
#include "lib/process/OutOfMemory.h"
#include "lib/text/Quantity.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <numeric>

namespace tessera {

using namespace mlir;

namespace planning {
namespace {

bool isAnnotated(ModuleOp module) {
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

bool hasSameSignature(ModuleOp a, ModuleOp b) {
  auto one = a.lookupSymbol<func::FuncOp>("main"), other = b.lookupSymbol<func::FuncOp>("main");
  return one && other && one.getFunctionType() == other.getFunctionType();
}

class Planning {
public:
  Planning(const CompileOptions &options, const PlanRequest &request,
           const CompileListener &listener)
      : options(options), request(request), listener(listener), road(options, listener) {}

  PlanResult run(llvm::StringRef text, PlanWishes wishes) {
    PlanResult result;
    if (result.error = readSource(text); !result.error.empty())
      return result;
    std::vector<sharding::Mesh> meshes;
    if (result.error = chooseMeshes(meshes); !result.error.empty())
      return result;
    listener.began("plan");
    if (result.error = fitsInNoWay(meshes.front().numDevices()); !result.error.empty())
      return result;
    if (compilesSeveral())
      source.findWhatIsBeside(meshes.front().numDevices());
    source.folded = plan::foldedProgram(source.plain());
    search(meshes);
    const OnMesh *refined = compileFound();
    tryLeast();
    if (result.error = choose(); !result.error.empty())
      return result;
    if (planned.best->onMesh != refined)
      refine();
    if (compilesSeveral())
      proveHiding();
    annotateLess();
    findLeastOverhead();
    if (wishes.decisions)
      planned.decisions = decisionsOf(source, *planned.best, searchOptions(), wishes.lifts);
    planned.name = options.inputName;
    result.report = planJson(planned, *source.read);
    result.text = planText(planned, *source.read, wishes.all);
    result.decisions = std::move(planned.decisions);
    joinAlike(planned.best->tried.annotated.get(), separate);
    result.program = printedAsRead(planned.best->tried.annotated.get());
    return result;
  }

private:
  std::string fail(const llvm::Twine &what) const {
    return ("error: " + llvm::Twine(options.inputName) + ": " + what).str();
  }

  std::string readSource(llvm::StringRef text) {
    if (std::string error = road.read(text, /*keepNames=*/true); !error.empty())
      return error;
    ModuleOp module = road.module();
    if (holdsDevicePrograms(module))
      return fail("holds device programs, which are sharded already");
    separate = separateCalls(module);
    mends::numberOps(module);
    source.read = module.clone();
    if (std::string error = road.run("propagate", [](const Phase &) { return true; });
        !error.empty())
      return error;
    bool madeMesh = !sdy::MeshTable(*source.read).main() && sdy::MeshTable(module).main();
    source.isImported = madeMesh || !hasSameSignature(*source.read, module);
    if (source.isImported) {
      mends::numberOps(module);
      source.read = module.clone();
    }
    source.isAnnotated = isAnnotated(module);
    source.imported = module.clone();
    source.topology = topologyOf(*source.imported);
    source.program = std::make_unique<PlanProgram>(source.imported.get());
    if (!source.program->isValid())
      return road.error("the program's annotations cannot hold");
    if (source.program->countMeshes() > 1)
      return fail("it has values on several meshes; plans are for programs on one");
    source.known = knownValues(source.plain().graph,
                               [&](int32_t value) { return source.program->valueAt(value); });
    source.places = placesOf(*source.program, mends::numberedOps(*source.read));
    return "";
  }

  // Of a program with annotations the mesh that they are on; else what is asked for.
  std::string chooseMeshes(std::vector<sharding::Mesh> &meshes) {
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
        return fail(mismatch(*own, *asked));
      if (request.devices && request.devices != own->numDevices())
        return fail("its annotations are on a mesh of " +
                    text::counted(uint64_t(own->numDevices()), "device") + " (" +
                    plan::meshText(*own) + "), --devices=" + std::to_string(request.devices) +
                    " asks for others");
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
      return fail("it does not say how many devices there are: give --devices=8, or "
                  "--mesh=data=2,model=4");
    return "";
  }

  // Of a large program that is given more than there is, on any mesh: it is not compiled to say how much more
  // it needs at least.
  std::string fitsInNoWay(int64_t devices) const {
    auto main = source.imported.get().lookupSymbol<func::FuncOp>("main");
    auto isOnHost = [](DictionaryAttr attributes) {
      return getMemory(attributes) == comm::Space::Host;
    };
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (isOnHost(main.getArgAttrDict(i)))
        return "";
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (isOnHost(main.getResultAttrDict(i)))
        return "";
    int64_t bound = scheduleOf(*source.imported).memory.value_or(0);
    double given = plan::leastGivenBytes(source.plain(), devices);
    if (!bound || given <= double(bound) || compilesSeveral())
      return "";
    return fail("no plan fits into the " + text::bytes(uint64_t(bound)) +
                " of each device: what the program is given and gives back takes " +
                text::bytes(uint64_t(given)) + " of each of " +
                text::counted(uint64_t(devices), "device") + ", in as many parts as there are");
  }

  std::string mismatch(const sharding::Mesh &own, const sharding::Mesh &asked) const {
    for (const sharding::MeshAxis &axis : asked.axes)
      if (own.axisIndex(axis.name) < 0)
        return "its annotations are on the mesh " + plan::meshText(own) + ", which has no axis '" +
               axis.name + "' of --mesh=" + request.mesh;
    return "its annotations are on the mesh " + plan::meshText(own) +
           ", not on --mesh=" + request.mesh;
  }

  plan::Options searchOptions() {
    plan::Options asked;
    asked.memory = scheduleOf(*source.imported).memory.value_or(0);
    asked.effort = request.effort;
    return asked;
  }

  void search(llvm::ArrayRef<sharding::Mesh> meshes) {
    auto begin = std::chrono::steady_clock::now();
    plan::Options asked = searchOptions();
    plan::KnownPlans known(source.folded.program);
    for (const sharding::Mesh &mesh : meshes)
      onMeshes.emplace_back(source, mesh);
    // Each mesh by itself, on whichever of two cores is free: what is found is the same. Those of most
    // axes take longest and are begun first.
    std::vector<size_t> order(meshes.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(
        order, [&](size_t a, size_t b) { return meshes[a].axes.size() > meshes[b].axes.size(); });
    std::vector<std::vector<Candidate>> found(meshes.size());
    std::atomic<size_t> next{0};
    auto searchMeshes = [&] {
      for (size_t i; (i = next++) < order.size();)
        found[order[i]] = candidatesOn(onMeshes[order[i]], known, asked, compilesSeveral());
    };
    runBoth(searchMeshes, searchMeshes);
    for (std::vector<Candidate> &each : found)
      std::move(each.begin(), each.end(), std::back_inserter(candidates));
    orderCandidates();
    planned.searchSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // How much of its launches hides what moves depends on the program, so that two counts take turns. Of large
  // programs, of which one is compiled, those come first that fit as counted.
  void orderCandidates() {
    auto orderBy = [&](double Candidate::*counted) {
      std::vector<plan::Ranked> ranked;
      for (const Candidate &each : candidates) {
        ranked.push_back(rankedAs(each));
        ranked.back().counted = each.*counted;
        if (!compilesSeveral()) {
          ranked.back().fits = fitsAsCounted(each);
          ranked.back().bytes = each.bytes;
        }
      }
      return plan::inOrder(ranked);
    };
    auto fits = [&](const Candidate &each) { return fitsAsCounted(each); };
    std::vector<size_t> order;
    if (compilesSeveral())
      order = plan::byTurns(orderBy(&Candidate::likely), orderBy(&Candidate::cautious));
    else if (llvm::any_of(candidates, fits))
      order = orderBy(&Candidate::seconds);
    else // with more computed again the one that needs least may fit
      order = orderBy(&Candidate::bytes);
    std::vector<Candidate> ordered;
    for (size_t number : order)
      ordered.push_back(std::move(candidates[number]));
    candidates = std::move(ordered);
  }

  static bool isQuicker(const Candidate &a, const Candidate &b) {
    if (a.tried.time.seconds != b.tried.time.seconds)
      return a.tried.time.seconds < b.tried.time.seconds;
    return a.tried.peakBytes < b.tried.peakBytes;
  }

  static plan::Ranked rankedAs(const Candidate &each) {
    plan::Ranked ranked;
    ranked.counted = each.seconds;
    ranked.axes = each.onMesh->getMesh().axes.size();
    ranked.isNamed = each.kind != kSearch;
    if (each.isTried) {
      ranked.predicted = each.tried.time.seconds;
      ranked.bytes = double(each.tried.peakBytes);
    }
    return ranked;
  }

  std::string choose() {
    std::map<std::string, const Candidate *> kinds;
    std::vector<const Candidate *> possible;
    const Candidate *least = nullptr, *failed = nullptr;
    std::optional<int64_t> bound = scheduleOf(*source.imported).memory;
    for (const Candidate &each : candidates) {
      if (!each.isTried)
        continue;
      int64_t needs = each.tried.error.empty() ? each.tried.peakBytes : each.tried.leastBytes;
      if (needs && (!least || needs < needed(*least)))
        least = &each;
      if (!each.tried.error.empty())
        failed = &each;
      if (!isPossible(each))
        continue;
      const Candidate *&best = kinds[each.kind];
      if (!best || isQuicker(each, *best))
        best = &each;
      possible.push_back(&each);
    }
    if (possible.empty() && least)
      return fail(tooMuch(*least, bound.value_or(0)));
    if (possible.empty())
      return fail(failed ? failed->tried.error : "no plan was found");
    std::vector<plan::Ranked> ranked;
    for (const Candidate *each : possible)
      ranked.push_back(rankedAs(*each));
    planned.best = possible[plan::bestOf(ranked)];
    for (const auto &[kind, best] : kinds)
      if (kind != planned.best->kind)
        planned.others.push_back(best);
    llvm::stable_sort(planned.others,
                      [](const Candidate *a, const Candidate *b) { return isQuicker(*a, *b); });
    return "";
  }

  // The plan that was chosen, with no more annotations than it needs: where that is the same.
  void annotateLess() {
    Candidate &best = candidates[planned.best - candidates.data()];
    if (best.tried.isFewest)
      return;
    Tried less = tryFewest(source, *best.onMesh, best.values, best.tried);
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

  // Returns the mesh on which a longer search was made before, if there is one.
  const OnMesh *compileFound() {
    const OnMesh *refined = nullptr;
    size_t found = 0; // the number of the first that the search found
    if (!compilesSeveral()) {
      while (!candidates[found].isFound)
        ++found;
      refined = candidates[found].onMesh;
      if (std::optional<Candidate> better = betterThan(candidates[found])) {
        candidates.insert(candidates.begin(), std::move(*better));
        ++found;
      }
      lastPrices.reset(); // what is compiled next is large
    }
    compileBest(source, candidates, request.effort);
    if (!compilesSeveral())
      tryUntilOneFits(candidates[found]);
    return refined;
  }

  // Of a large program one plan is compiled; where that does not fit, the one that it is better than, `also`,
  // and a few that the search counts as fitting.
  void tryUntilOneFits(const Candidate &also) {
    constexpr size_t kMost = 2; // each takes as long as all of the search
    size_t tried = 0;
    auto isPossibleAndTried = [&](const Candidate &each) {
      return each.isTried && isPossible(each);
    };
    for (Candidate &each : candidates) {
      if (tried == kMost || llvm::any_of(candidates, isPossibleAndTried))
        return;
      if (each.isTried || !each.isFound || !(&each == &also || fitsAsCounted(each)))
        continue;
      ++tried;
      tryCandidate(source, each, {.fewest = true});
    }
  }

  // Where no plan fits: what they need at least, and whether that does.
  void tryLeast() {
    std::vector<Candidate *> tooLarge;
    for (Candidate &each : candidates) {
      if (each.isTried && isPossible(each))
        return;
      if (each.isTried && each.tried.isTooLarge)
        tooLarge.push_back(&each);
    }
    std::vector<plan::TooLarge> plans;
    for (const Candidate *each : tooLarge)
      plans.push_back({each->tried.peakBytes, each->tried.givenBytes});
    plan::LeastTrials trials(plans, scheduleOf(*source.imported).memory.value_or(0),
                             source.plain().graph.ops.size());
    while (std::optional<size_t> number = trials.next()) {
      Candidate &each = *tooLarge[*number];
      tryCandidate(source, each, {.fewest = !compilesSeveral(), .triesLeast = true});
      trials.needs(needed(each));
    }
  }

  // A longer search on the mesh that was chosen: for a better plan, which is compiled and compared, and a
  // better bound.
  void refine() {
    std::optional<Candidate> better = betterThan(*planned.best);
    if (!better)
      return;
    tryCandidate(source, *better, {.fewest = !compilesSeveral()});
    candidates.push_back(std::move(*better));
    planned.others.clear();
    choose(); // there is one at least
  }

  // What no plan on the mesh that was chosen is below where communication hides behind computing.
  void proveHiding() {
    const OnMesh *mesh = planned.best->onMesh;
    plan::AssignmentPrices &prices = pricesOn(*mesh);
    std::vector<const plan::Assignment *> known;
    for (const Candidate &each : candidates)
      if (each.onMesh == mesh && (each.isTried || each.isFound))
        known.push_back(&each.folded);
    plan::HiddenFound found = plan::searchHidden(prices, known, searchOptions());
    prices.setWeights({});
    compileHidden(prices, found.plans);
    Candidate &best = candidates[planned.best - candidates.data()];
    best.hiding = plan::hiddenTimeOf(prices, best.folded);
    best.hiding.exposed += best.again;
    best.hidingBound = found.lowerBound;
    lastPrices.reset();
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
    for (Candidate &each : better)
      tryCandidate(source, each, {});
    std::move(better.begin(), better.end(), std::back_inserter(candidates));
    planned.others.clear();
    choose(); // there is one at least
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

  // Whether it compiles, and fits.
  bool isPossible(const Candidate &tried) {
    std::optional<int64_t> bound = scheduleOf(*source.imported).memory;
    return tried.tried.error.empty() && !(bound && tried.tried.peakBytes > *bound);
  }

  bool fitsAsCounted(const Candidate &each) {
    std::optional<int64_t> bound = scheduleOf(*source.imported).memory;
    return !bound || each.bytes <= double(*bound);
  }

  static int64_t needed(const Candidate &each) {
    return each.tried.error.empty() ? each.tried.peakBytes : each.tried.leastBytes;
  }

  std::string tooMuch(const Candidate &least, int64_t bound) const {
    std::string text =
        "no plan fits into the " + text::bytes(uint64_t(bound)) +
        " of each device: the least that one takes is --memory=" + std::to_string(needed(least)) +
        ", on " + plan::meshText(least.onMesh->getMesh());
    if (!least.tried.error.empty())
      return text + " (" + least.tried.error + ")";
    std::string largest;
    for (const explain::AtPeak &each : llvm::ArrayRef(least.tried.atPeak).take_front(3))
      largest +=
          (largest.empty() ? "" : ", ") + text::bytes(uint64_t(each.bytes)) + " of " + each.name;
    return text + (largest.empty() ? "" : "; largest at its peak: " + largest);
  }

  const CompileOptions &options;
  const PlanRequest &request;
  const CompileListener &listener;
  Road road;
  Source source;
  SeparateCalls separate;
  std::deque<OnMesh> onMeshes;
  std::unique_ptr<plan::AssignmentPrices> lastPrices;
  std::vector<Candidate> candidates;
  Planned planned;
};

} // namespace
} // namespace planning

std::string readPlanRequest(llvm::StringRef devices, llvm::StringRef mesh, llvm::StringRef effort,
                            PlanRequest &into) {
  if (!devices.empty() && (devices.getAsInteger(10, into.devices) || into.devices < 1 ||
                           into.devices > plan::kMostDevices))
    return ("devices=" + devices + ": must be a number from 1 to " +
            llvm::Twine(plan::kMostDevices))
        .str();
  if (!effort.empty() &&
      (effort.getAsInteger(10, into.effort) || into.effort < 1 || into.effort > 5))
    return ("effort=" + effort + ": must be 1 to 5").str();
  into.mesh = mesh;
  return "";
}

void readPlanArguments(command::Arguments &arguments, bool plans, PlanRequest &into) {
  std::string wrong = readPlanRequest(arguments.value("--devices"), arguments.value("--mesh"),
                                      arguments.value("--effort"), into);
  if (!wrong.empty())
    arguments.fail("--" + wrong);
  else if (!plans && into != PlanRequest())
    arguments.fail("--devices, --mesh and --effort are for --plan: without it the program's own "
                   "annotations say what its devices are");
}

PlanResult planProgram(llvm::StringRef module, const CompileOptions &options,
                       const PlanRequest &request, const CompileListener &listener,
                       PlanWishes wishes) {
  return resultOnDeepStack(
      [&] { return planning::Planning(options, request, listener).run(module, wishes); });
}

// For the program as the plan writes it.
static CompileOptions optionsOf(CompileOptions options) {
  options.entry = "main";
  options.inputShapes.clear();
  return options;
}

CompileResult compilePlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener) {
  PlanResult plan = planProgram(module, options, request, listener, {.decisions = false});
  if (!plan.error.empty()) {
    CompileResult failed;
    failed.error = std::move(plan.error);
    return failed;
  }
  return compile(plan.program, optionsOf(options), listener);
}

ExplainResult explainPlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener,
                             ExplainWishes wishes) {
  PlanResult plan = planProgram(module, options, request, listener, {.lifts = true});
  ExplainResult result;
  if (plan.error.empty())
    result = explainProgram(plan.program, optionsOf(options), listener, wishes);
  else
    result.error = std::move(plan.error);
  result.explanation.decisions = std::move(plan.decisions);
  return result;
}

} // namespace tessera
