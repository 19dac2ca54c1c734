#include "compiler/calibrate/Calibrate.h"

#include "compiler/calibrate/Run.h"
#include "lib/cost/FitCache.h"
#include "lib/cost/OnePace.h"
#include "lib/cost/SharedCores.h"
#include "lib/target/HostCaches.h"
#include "lib/target/Target.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <unistd.h>

namespace tessera {
namespace {

using calibration::CollectiveProgram;
using calibration::Compiled;
using calibration::ExchangeProgram;
using calibration::Program;

// What is known of the machine without measuring.
cost::Topology describedMachine() {
  cost::Topology topology;
  topology.name = "calibrated";
  topology.device = cost::referenceRates();
  topology.computingAtOnce = std::max(1u, std::thread::hardware_concurrency());
  target::Caches caches = target::hostCaches();
  topology.device.cacheBytes = caches.core > 0 ? caches.core : 1e6;
  topology.device.nearBytes = caches.near > 0 ? 0.75 * caches.near : 24e3;
  if (llvm::Expected<target::Choice> chosen = target::choose("cpu", "native")) {
    const target::Processor &processor = chosen->processors.front();
    topology.device.vectorBytes = double(processor.vectorBits) / 8;
    auto has = [&](const char *feature) { return llvm::is_contained(processor.features, feature); };
    if (has("amx-bf16"))
      topology.device.tileRows = 16;
    // As code generation has it (codegen/cpu/ContractionPlan.cpp).
    bool hasPairs = has("avx512bf16") && processor.vectorBits == 512;
    if (!hasPairs && topology.device.tileRows == 0)
      topology.device.kernels.erase(cost::nameOf(cost::Term::ProductBF16));
  } else {
    llvm::consumeError(chosen.takeError());
  }
  // Devices of one process share a memory: there are no links, and the cores do what is exchanged.
  topology.network.link = {0, 1e15};
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page > 0)
    topology.spaces["device"].bytes =
        int64_t(pages) * page / std::max<int64_t>(topology.computingAtOnce, 1);
  return topology;
}

bool multipliesBf16(const cost::DeviceRates &rates) {
  return rates.kernels.count(cost::nameOf(cost::Term::ProductBF16)) > 0;
}

// A kind of work that this processor does not have stays without a rate.
cost::DeviceRates fitted(cost::DeviceRates rates, llvm::ArrayRef<cost::Observation> observed) {
  bool hasBf16 = multipliesBf16(rates);
  rates.kernels.insert(cost::referenceRates().kernels.begin(),
                       cost::referenceRates().kernels.end());
  rates = cost::fitRates(rates, observed);
  if (!hasBf16)
    rates.kernels.erase(cost::nameOf(cost::Term::ProductBF16));
  return rates;
}

// How often each of some programs is measured, and how long at a time.
struct Turns {
  int rounds;
  calibration::Measured each;
};

class Calibrator {
public:
  explicit Calibrator(const CalibrationOptions &options)
      : options(options), result{"", described, {}, {}, {}, {}} {}

  Calibration run() {
    cost::Topology &topology = result.topology;
    int64_t cores = options.process ? 1 : topology.computingAtOnce;
    std::vector<Program> all = programsOfCores(cores);
    std::vector<CollectiveProgram> collectives;
    if (options.process)
      collectives = programsOfLinks(options.process->size);
    std::vector<ExchangeProgram> exchanges;
    if (!options.process)
      exchanges = calibration::exchangePrograms(4 * cores, options.quick);
    std::vector<Program> shared =
        cores > 1 ? calibration::sharedPrograms(cores) : std::vector<Program>();
    std::vector<Program> shorts = calibration::shortPrograms(cores);
    std::vector<Program> caches;
    if (!options.quick)
      caches = calibration::cachePrograms(cores);
    std::vector<Program> tiles;
    if (described.device.tileRows > 0)
      tiles = calibration::tilePrograms(cores);
    total = all.size() + collectives.size() + exchanges.size() + shared.size() + caches.size() +
            tiles.size() + shorts.size();
    findSharedCache(caches, calibration::cacheBytes(cores));
    if (result.error.empty())
      findClock(tiles);
    if (!result.error.empty())
      return std::move(result);
    all = programsOfCores(cores); // of sizes that the shared cache has, and has not
    std::vector<cost::Observation> observed = observe(all);
    if (!result.error.empty())
      return std::move(result);
    for (const Program &program : all) {
      result.names.push_back(program.name);
      result.texts.push_back(program.text);
    }
    addExchanges(exchanges, observed);
    if (!result.error.empty())
      return std::move(result);
    topology.device = fitted(topology.device, observed);
    result.observed = std::move(observed);
    if (options.process)
      findLinks(collectives);
    else {
      findSharing(shared);
      findShortSteps(shorts);
    }
    auto rateOf = [&](cost::Term term) { return topology.device.kernels[cost::nameOf(term)]; };
    topology.device.flopsPerSecond = rateOf(cost::Term::ProductF32);
    topology.device.flopsByType["bf16"] =
        rateOf(multipliesBf16(topology.device) ? cost::Term::ProductBF16 : cost::Term::ProductF32);
    topology.device.flopsByType["f64"] = rateOf(cost::Term::ProductF64);
    topology.device.bytesPerSecond = rateOf(cost::Term::Streams);
    return std::move(result);
  }

private:
  std::vector<Program> programsOfCores(int64_t cores) const {
    // Of a large one that others use, too, what comes again soon is held, however fast they are.
    const cost::DeviceRates &device = result.topology.device;
    double held = std::min(device.sharedBytes, 8 * device.cacheBytes);
    return calibration::kernelPrograms(cores, held, options.quick);
  }

  // Of the cache that cores share, by how much longer the same kernels take with more arrays.
  void findSharedCache(const std::vector<Program> &programs, llvm::ArrayRef<double> bytes) {
    // A cache that others use, too, needs some rounds of a loop until it holds what it can.
    std::vector<cost::Observation> observed = observeInTurns(programs, {7, {0.04}});
    constexpr double part = calibration::kSideOfCachePart * calibration::kSideOfCachePart * 4;
    std::vector<cost::CachePass> passes;
    cost::DeviceRates &device = result.topology.device;
    for (auto [one, size] : llvm::zip(observed, bytes))
      if (size > 1.5 * device.cacheBytes)
        passes.push_back({size, one.seconds / one.launches, part});
    double most = target::hostCaches().shared;
    cost::SharedCache found = cost::cacheOf(passes, most > 0 ? most : 1e30);
    device.sharedBytes = found.bytes;
    device.othersPerSecond = found.othersPerSecond;
  }

  // How much longer computing takes beside products by tiles.
  void findClock(const std::vector<Program> &programs) {
    if (programs.empty())
      return;
    Rounds rounds = measureInTurns(programs, {options.quick ? 5 : 31, {0.01}});
    if (!result.error.empty())
      return;
    // Of each round: a difference of two medians would have both their errors.
    std::vector<double> ratios;
    for (const std::vector<double> &seconds : rounds.seconds)
      ratios.push_back((seconds[2] - seconds[1]) / seconds[0]);
    result.topology.device.besideTiles = std::clamp(cost::medianOf(std::move(ratios)), 1.0, 3.0);
  }

  // Of neighbours by twos, fours, .. and of all.
  std::vector<CollectiveProgram> programsOfLinks(int64_t size) const {
    std::vector<CollectiveProgram> all;
    llvm::SmallVector<int64_t> sizes{calibration::kLeastElements, 1 << 14, 1 << 18};
    if (!options.quick)
      sizes.push_back(1 << 20);
    for (int64_t group = 2; group < 2 * size; group *= 2)
      if (int64_t members = std::min(group, size); size % members == 0)
        llvm::append_range(all, calibration::collectivePrograms(size, members, sizes, 30));
    return all;
  }

  // What steps take longer with a collective than without: what they compute beside, a few percent of
  // which would be as much, is in both, and both are measured in turns.
  void addExchanges(const std::vector<ExchangeProgram> &programs,
                    std::vector<cost::Observation> &to) {
    for (size_t first = 0, end; first < programs.size(); first = end) {
      for (end = first + 1; end < programs.size() && programs[end].without == first;)
        ++end;
      std::vector<cost::Observation> observed = observeInTurns(
          std::vector<Program>(programs.begin() + first, programs.begin() + end), shortTurns());
      if (!result.error.empty())
        return;
      for (size_t i = 1; i < observed.size(); ++i) {
        to.push_back(cost::exchangeAlone(observed[i], observed[0]));
        result.names.push_back(programs[first + i].name);
        result.texts.push_back(programs[first + i].text);
      }
    }
  }

  // Programs of which differences count: in many short rounds, and each by what it takes of the first
  // one's time, at one pace of the machine.
  std::vector<cost::Observation> observeInTurns(const std::vector<Program> &programs, Turns turns) {
    Rounds rounds = measureInTurns(programs, turns);
    if (!result.error.empty())
      return {};
    std::vector<double> least = cost::atOnePace(rounds.seconds);
    std::vector<cost::Observation> observed;
    for (size_t i = 0; i < programs.size(); ++i)
      observed.push_back(ofDevice(rounds.programs[i].work, programs[i].devices, least[i]));
    return observed;
  }

  struct Rounds {
    std::vector<Compiled> programs;
    std::vector<std::vector<double>> seconds; // of each round, of all programs
  };
  Rounds measureInTurns(const std::vector<Program> &programs, Turns turns) {
    Rounds rounds;
    for (const Program &program : programs)
      rounds.programs.push_back(
          compileFor(program, options.process && program.devices > 1 ? described : counted(),
                     target::kDefaultTarget));
    rounds.seconds.resize(turns.rounds);
    for (std::vector<double> &round : rounds.seconds)
      for (size_t i = 0; i < programs.size() && result.error.empty(); ++i) {
        if (options.progress)
          options.progress(done + i, total, programs[i].name);
        round.push_back(calibration::secondsOf(programs[i], rounds.programs[i], options,
                                               result.error, turns.each));
      }
    done += programs.size();
    return rounds;
  }

  // What collectives take beside their kernels is the links'.
  void findLinks(const std::vector<CollectiveProgram> &programs) {
    cost::Topology &topology = result.topology;
    cost::DeviceRates &rates = topology.device;
    for (cost::Term ofCores : {cost::Term::Exchanged, cost::Term::Combined, cost::Term::TakenBack})
      rates.kernels.erase(nameOf(ofCores));
    rates.meetingSeconds = 0;
    topology.computingAtOnce = 0; // each process on cores of its own, as it was measured
    topology.spaces.clear();      // how many processes share a machine's memory is not known
    std::vector<Program> plain(programs.begin(), programs.end());
    std::vector<cost::Observation> observed = observe(plain);
    for (auto [program, one] : llvm::zip(programs, observed)) {
      double kernels = cost::predictedSeconds(rates, one);
      result.collectives.push_back(
          {program.kind, program.group, program.bytes,
           std::max(one.seconds - kernels, 0.1 * one.seconds) / std::max(one.meetings, 1.0)});
    }
    topology.network = cost::fitLinks(result.collectives);
  }

  // All programs one after the other, some times over: of each the middle round counts, as the pace of
  // a machine that others use, too, wanders within seconds. A round that was undisturbed by chance is
  // not what steps take that last longer, or come later.
  std::vector<cost::Observation> observe(const std::vector<Program> &programs) {
    Rounds rounds = measureInTurns(programs, allTurns());
    if (!result.error.empty())
      return {};
    std::vector<cost::Observation> observed;
    for (size_t i = 0; i < programs.size(); ++i) {
      std::vector<double> seconds;
      for (const std::vector<double> &round : rounds.seconds)
        seconds.push_back(round[i]);
      observed.push_back(ofDevice(rounds.programs[i].work, programs[i].devices,
                                  cost::medianOf(std::move(seconds))));
    }
    return observed;
  }

  // Devices that take turns: each does its part of the time.
  cost::Observation ofDevice(cost::Observation work, int64_t devices, double seconds) const {
    double turns = cost::turnsOf(result.topology, devices);
    work.seconds = seconds / turns;
    work.steps /= turns;
    return work;
  }

  Turns shortTurns() const { return {options.quick ? 5 : 15, {0.01}}; }

  // For longer than another process keeps a core at a time; of steps as models have them.
  Turns allTurns() const {
    constexpr double span = 0.02;
    return options.quick ? Turns{2, {0.03, span}} : Turns{options.process ? 3 : 4, {0.05, span}};
  }

  // What idle cores that take their part leave over, of the same on each of all cores. In turns, too: cores
  // that share execution units for a moment are slower while both compute, in all of a round.
  void findSharing(const std::vector<Program> &programs) {
    if (programs.empty())
      return;
    std::vector<cost::Observation> observed = observeInTurns(programs, shortTurns());
    if (!result.error.empty())
      return;
    cost::DeviceRates &rates = result.topology.device;
    size_t count = observed.size() / 2; // on each core, then shared
    double cores = double(result.topology.computingAtOnce), together = 0, waited = 0;
    for (size_t i = 0; i < count; ++i) {
      double speedup = observed[i].seconds / observed[count + i].seconds;
      together = std::max(together, std::min(speedup / cores, 1.0));
    }
    rates.coresTogether = std::max(together, 1 / cores);
    for (size_t i = 0; i < count; ++i) {
      double least = observed[i].seconds / (cores * rates.coresTogether);
      double rest = (observed[count + i].seconds - least) / observed[i].launches;
      waited += std::max(0.0, rest) / double(count);
    }
    rates.sharingSeconds = std::min(waited, 1e-4);
  }

  // Without loops, and so without idle cores that are awake.
  void findShortSteps(const std::vector<Program> &programs) {
    std::vector<cost::Observation> observed = observeInTurns(programs, shortTurns());
    if (!result.error.empty())
      return;
    cost::DeviceRates &rates = result.topology.device;
    double cores = double(result.topology.computingAtOnce);
    cost::Observation kernel = observed[0]; // which every step counts beside what a short one takes
    kernel.steps = 0;
    double step = observed[0].seconds - cost::predictedSeconds(rates, kernel);
    rates.shortStepSeconds = std::clamp(step, 0.0, 1e-4);
    if (cores < 2)
      return;
    double one = observed[1].seconds - rates.shortStepSeconds,
           shared = observed[2].seconds - rates.shortStepSeconds;
    double late = shared - one / (cores * rates.coresTogether) - rates.sharingSeconds;
    rates.wakingSeconds = std::clamp(late / (1 - 1 / cores), 0.0, 1e-3);
  }

  // What is known before rates are: work is counted by it.
  cost::Topology counted() const {
    cost::Topology topology = described;
    topology.device.sharedBytes = result.topology.device.sharedBytes;
    topology.device.othersPerSecond = result.topology.device.othersPerSecond;
    topology.device.besideTiles = result.topology.device.besideTiles;
    return topology;
  }

  const CalibrationOptions &options;
  const cost::Topology described = describedMachine(); // the same in all processes
  Calibration result;
  size_t done = 0, total = 0;
};

} // namespace

Calibration calibrate(const CalibrationOptions &options) { return Calibrator(options).run(); }

} // namespace tessera
