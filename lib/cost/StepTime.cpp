#include "lib/cost/StepTime.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::cost {
namespace {

// All sums of a step, and what is under way.
struct State {
  StepTime sums; // `seconds` is the device's clock
  LinkTimes links;
  std::map<int64_t, double> underWay; // by site: when it is done
  double last = 0;                    // that anything is

  bool isAtRest() const { return underWay.empty() && last <= sums.seconds; }
};

// What `trips` times the difference between two sums adds.
void add(StepTime &sums, const StepTime &from, const StepTime &to, double trips) {
  for (double StepTime::*sum : {&StepTime::seconds, &StepTime::compute, &StepTime::communication,
                                &StepTime::exposed, &StepTime::overhead, &StepTime::flops})
    sums.*sum += trips * (to.*sum - from.*sum);
  for (size_t kind = 0; kind < kComputeKinds; ++kind)
    sums.byKind[kind] += trips * (to.byKind[kind] - from.byKind[kind]);
}

class Simulator {
public:
  Simulator(const Blocks &blocks, size_t mostEvents) : blocks(blocks), mostEvents(mostEvents) {}

  Prediction run() {
    Prediction result;
    if (!blocks.empty())
      runBlock(blocks.size() - 1);
    result.time = state.sums;
    result.time.seconds = std::max(state.sums.seconds, state.last);
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
    StepTime &sums = state.sums;
    sums.overhead += work.overhead;
    sums.seconds += work.overhead;
    switch (work.kind) {
    case Work::Compute:
      note(block, i, sums.seconds, sums.seconds + work.seconds);
      sums.seconds += work.seconds;
      sums.compute += work.seconds;
      sums.flops += work.flops;
      sums.byKind[static_cast<size_t>(work.what)] += work.seconds;
      break;
    case Work::Start:
      start(block, i);
      break;
    case Work::Wait:
      wait(block, i);
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

  void start(size_t block, size_t i) {
    const Work &work = blocks[block][i];
    double now = state.sums.seconds, done = state.links.carry(work.links, work.seconds, now);
    note(block, i, done - work.seconds, std::max(done, now + work.own));
    state.sums.exposed += work.own;
    state.sums.seconds += work.own;
    state.sums.communication += std::max(work.own, work.seconds);
    state.underWay[work.site] = done;
    state.last = std::max(state.last, done);
  }

  void wait(size_t block, size_t i) {
    auto found = state.underWay.find(blocks[block][i].site);
    if (found == state.underWay.end())
      return;
    double &now = state.sums.seconds;
    if (found->second > now) {
      note(block, i, now, found->second);
      state.sums.exposed += found->second - now;
      now = found->second;
    }
    state.underWay.erase(found);
  }

  // A trip from rest to rest is as all others; of other trips the third counts for all that follow.
  // In loops within loops fewer are followed, so that time is linear.
  void runLoop(const Work &loop) {
    int64_t followed = std::max<int64_t>(3 - depth, 1);
    ++depth;
    for (int64_t trip = 0; trip < loop.trips; ++trip) {
      State before = state;
      size_t firstEvent = events.size();
      for (uint32_t block : loop.blocks)
        runBlock(block);
      if (trip + 1 >= followed || (before.isAtRest() && state.isAtRest())) {
        skip(before, static_cast<double>(loop.trips - trip - 1), firstEvent);
        break;
      }
    }
    --depth;
  }

  // As many trips more as the one from `before` on.
  void skip(const State &before, double trips, size_t firstEvent) {
    double period = state.sums.seconds - before.sums.seconds, ahead = trips * period;
    size_t count = events.size() - firstEvent;
    for (double trip = 1; count && trip <= trips && events.size() + count <= mostEvents; ++trip)
      for (size_t i = 0; i < count; ++i) {
        Event event = events[firstEvent + i];
        event.begin += trip * period;
        event.end += trip * period;
        events.push_back(event);
      }
    StepTime after = state.sums;
    add(state.sums, before.sums, after, trips);
    state.links.shift(ahead);
    for (auto &[site, done] : state.underWay)
      done += ahead;
    state.last += ahead;
  }

  // Found once: what it depends on besides, which links are busy, hardly decides it.
  const uint32_t *longestOf(const Work &branch) {
    auto [found, isNew] = chosen.try_emplace(&branch, nullptr);
    if (!isNew || branch.blocks.empty())
      return found->second;
    size_t most = std::exchange(mostEvents, 0);
    State before = state;
    double longest = -1;
    const uint32_t *best = nullptr;
    for (const uint32_t &block : branch.blocks) {
      runBlock(block);
      if (state.sums.seconds > longest) {
        longest = state.sums.seconds;
        best = &block;
      }
      state = before;
    }
    mostEvents = most;
    return chosen[&branch] = best;
  }

  void call(size_t block, size_t i) {
    uint32_t function = blocks[block][i].blocks.front();
    auto [known, isNew] = functions.try_emplace(function);
    if (isNew) {
      size_t most = std::exchange(mostEvents, 0);
      State caller = std::exchange(state, State());
      runBlock(function);
      functions[function] = state.sums;
      state = std::move(caller);
      mostEvents = most;
    }
    const StepTime &taken = functions[function];
    note(block, i, state.sums.seconds, state.sums.seconds + taken.seconds);
    add(state.sums, StepTime(), taken, 1);
  }

  void note(size_t block, size_t work, double begin, double end) {
    if (events.size() < mostEvents)
      events.push_back({uint32_t(block), uint32_t(work), begin, end});
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
  State state;
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

Prediction predict(const Blocks &blocks, size_t mostEvents) {
  return Simulator(blocks, mostEvents).run();
}

} // namespace tessera::cost
