#include "lib/cost/StepTime.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::cost {
namespace {

constexpr double kRounding = 1e-9;

// All sums of a step, and what devices have still to carry out of what was read.
struct State {
  CorePool pool;
  StepTime sums; // but for `seconds` and `exposed`, which follow from the clock
  std::vector<Passage> ahead;

  StepTime timed() const {
    StepTime all = sums;
    all.seconds = pool.latest();
    all.exposed = all.seconds - all.compute - all.overhead;
    if (all.exposed < kRounding * all.seconds)
      all.exposed = 0;
    return all;
  }
};

// What `trips` times the difference between two sums adds.
void add(StepTime &sums, const StepTime &from, const StepTime &to, double trips) {
  for (double StepTime::*sum : {&StepTime::compute, &StepTime::communication, &StepTime::own,
                                &StepTime::overhead, &StepTime::flops})
    sums.*sum += trips * (to.*sum - from.*sum);
  for (size_t kind = 0; kind < kComputeKinds; ++kind)
    sums.byKind[kind] += trips * (to.byKind[kind] - from.byKind[kind]);
}

class Simulator {
  static constexpr uint32_t kNowhere = ~0u;

public:
  Simulator(const Blocks &blocks, size_t mostEvents, const CorePool &pool)
      : blocks(blocks), mostEvents(mostEvents), atFirst{pool, {}, {}}, state(atFirst) {}

  Prediction run() {
    Prediction result;
    if (!blocks.empty())
      runBlock(blocks.size() - 1);
    carryOut();
    result.time = state.timed();
    result.time.seconds = state.pool.end();
    result.times = countTimes();
    std::stable_sort(events.begin(), events.end(),
                     [](const Event &a, const Event &b) { return a.begin < b.begin; });
    result.events = std::move(events);
    return result;
  }

private:
  void runBlock(size_t block) {
    for (size_t i = 0; i < blocks[block].size(); ++i)
      runWork(block, i);
  }

  void runWork(size_t block, size_t i) {
    const Work &work = blocks[block][i];
    Passage passage{.site = work.site, .block = uint32_t(block), .work = uint32_t(i)};
    auto pass = [&](Passage::Kind kind, double seconds) {
      passage.kind = kind;
      passage.seconds = seconds;
      state.ahead.push_back(passage);
    };
    compute(work.overhead);
    state.sums.overhead += work.overhead;
    switch (work.kind) {
    case Work::Compute:
      pass(Passage::Compute, work.seconds / state.pool.turns());
      state.sums.compute += work.seconds;
      state.sums.flops += work.flops;
      state.sums.byKind[static_cast<size_t>(work.what)] += work.seconds;
      break;
    case Work::Start:
      passage.links = work.links;
      passage.groups = work.groups;
      pass(Passage::Start, work.seconds);
      compute(work.own);
      state.sums.own += work.own;
      state.sums.communication += std::max(work.own, work.seconds);
      break;
    case Work::Wait:
      pass(Passage::Wait, 0);
      break;
    case Work::Loop:
      runLoop(work);
      break;
    case Work::Branch:
      if (const uint32_t *chosen = longestOf(work))
        runBlock(*chosen);
      break;
    case Work::Call:
      call(block, i);
      break;
    case Work::Other:
      break;
    }
  }

  // What is not shown.
  void compute(double seconds) {
    if (seconds > 0)
      state.ahead.push_back({Passage::Compute, seconds / state.pool.turns(), 0, 0, {}, kNowhere});
  }

  // All devices, to where was read to.
  void carryOut() {
    auto noted = [&](const Passage &passage, double begin, double end) {
      if (passage.kind == Passage::Mark)
        marks[passage.site].firstEvent = events.size();
      else if (passage.block != kNowhere && events.size() < mostEvents)
        events.push_back({passage.block, passage.work, begin, end});
    };
    std::vector<double> times = state.pool.run(state.ahead, noted);
    size_t next = 0;
    for (const Passage &passage : state.ahead)
      if (passage.kind == Passage::Mark)
        marks[passage.site].seconds = times[next++];
    state.ahead.clear();
  }

  // When devices are there, known once that is carried out.
  int64_t mark() {
    marks.emplace_back();
    state.ahead.push_back({Passage::Mark, 0, int64_t(marks.size()) - 1});
    return int64_t(marks.size()) - 1;
  }

  // The third trip counts for all that follow. In loops within loops fewer are followed, so that time is
  // linear.
  void runLoop(const Work &loop) {
    int64_t followed = std::min(loop.trips, std::max<int64_t>(3 - depth, 1)), begin = 0;
    StepTime before;
    ++depth;
    for (int64_t trip = 0; trip < followed; ++trip) {
      begin = mark();
      before = state.sums;
      for (uint32_t block : loop.blocks)
        runBlock(block);
    }
    --depth;
    if (loop.trips <= followed)
      return;
    int64_t end = mark();
    carryOut();
    skip(before, marks[begin], marks[end], double(loop.trips - followed));
  }

  struct Mark {
    double seconds = 0;
    size_t firstEvent = 0;
  };

  // As many trips more as the one from one mark to the other.
  void skip(const StepTime &before, const Mark &begin, const Mark &end, double trips) {
    // Devices that share cores may be in turns that no later trip has, where some have caught up: but
    // cores have all to compute and to exchange, in each.
    double least = 0;
    for (double StepTime::*sum : {&StepTime::compute, &StepTime::own, &StepTime::overhead})
      least += state.sums.*sum - before.*sum;
    double period = std::max(end.seconds - begin.seconds, least);
    size_t count = events.size() - begin.firstEvent;
    for (double trip = 1; count && trip <= trips && events.size() + count <= mostEvents; ++trip)
      for (size_t i = 0; i < count; ++i) {
        Event event = events[begin.firstEvent + i];
        event.begin += trip * period;
        event.end += trip * period;
        events.push_back(event);
      }
    StepTime after = state.sums;
    add(state.sums, before, after, trips);
    state.pool.shift(trips * period);
  }

  // Found once: what it depends on besides, which links are busy, hardly decides it.
  const uint32_t *longestOf(const Work &branch) {
    auto [found, isNew] = chosen.try_emplace(&branch, nullptr);
    if (!isNew || branch.blocks.empty())
      return found->second;
    size_t most = std::exchange(mostEvents, 0);
    carryOut();
    State before = state;
    double longest = -1;
    const uint32_t *best = nullptr;
    for (const uint32_t &block : branch.blocks) {
      runBlock(block);
      carryOut();
      if (double seconds = state.pool.latest(); seconds > longest) {
        longest = seconds;
        best = &block;
      }
      state = before;
    }
    mostEvents = most;
    return chosen[&branch] = best;
  }

  void call(size_t block, size_t i) {
    carryOut();
    uint32_t function = blocks[block][i].blocks.front();
    auto [known, isNew] = functions.try_emplace(function);
    if (isNew) {
      size_t most = std::exchange(mostEvents, 0);
      State caller = std::exchange(state, atFirst);
      runBlock(function);
      carryOut();
      functions[function] = state.timed();
      state = std::move(caller);
      mostEvents = most;
    }
    const StepTime &taken = functions[function];
    double begin = state.pool.latest();
    if (events.size() < mostEvents)
      events.push_back({uint32_t(block), uint32_t(i), begin, begin + taken.seconds});
    add(state.sums, StepTime(), taken, 1);
    state.pool.shift(taken.seconds);
  }

  std::vector<double> countTimes() {
    std::vector<double> times(blocks.size(), 0);
    if (!blocks.empty())
      times.back() = 1;
    for (size_t block = blocks.size(); block-- > 0;)
      for (const Work &work : blocks[block])
        if (work.kind == Work::Branch) {
          if (const uint32_t *taken = chosen[&work])
            times[*taken] += times[block];
        } else {
          for (uint32_t inner : work.blocks)
            times[inner] += times[block] * static_cast<double>(work.trips);
        }
    return times;
  }

  const Blocks &blocks;
  size_t mostEvents;
  const State atFirst;
  State state;
  std::vector<Mark> marks;
  std::map<const Work *, const uint32_t *> chosen; // by branch
  std::map<uint32_t, StepTime> functions;          // by block
  int64_t depth = 0;
  std::vector<Event> events;
};

} // namespace

const char *nameOf(ComputeKind kind) {
  switch (kind) {
  case ComputeKind::Products:
    return "products";
  case ComputeKind::Elementwise:
    return "elementwise";
  case ComputeKind::Library:
    return "library";
  case ComputeKind::Copies:
    return "copies";
  }
  return "";
}

Prediction predict(const Blocks &blocks, size_t mostEvents, const CorePool &pool) {
  return Simulator(blocks, mostEvents, pool).run();
}

} // namespace tessera::cost
