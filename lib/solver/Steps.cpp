#include "lib/solver/Problem.h"

#include "lib/solver/Profile.h"

#include <algorithm>
#include <numeric>

namespace tessera::solver {

namespace {

using Bytes = std::vector<int64_t>;

bool isZero(const Bytes &bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](int64_t b) { return b == 0; });
}

// One vertex's holds as pieces that follow each other; the least of each goes into `least`, by where
// it begins and ends.
void makePieces(int32_t vertex, std::vector<Hold> &&holds, std::vector<int64_t> &least,
                std::vector<Hold> &pieces) {
  std::vector<std::pair<int32_t, int32_t>> events; // step, hold; ends have ~hold
  for (size_t h = 0; h < holds.size(); ++h) {
    events.push_back({holds[h].begin, static_cast<int32_t>(h)});
    events.push_back({holds[h].end, ~static_cast<int32_t>(h)});
  }
  std::sort(events.begin(), events.end());
  Bytes now(holds.empty() ? 0 : holds[0].bytes.size());
  size_t first = pieces.size();
  for (size_t e = 0; e < events.size();) {
    int32_t step = events[e].first;
    for (; e < events.size() && events[e].first == step; ++e) {
      int32_t h = events[e].second;
      const Bytes &bytes = holds[h < 0 ? ~h : h].bytes;
      for (size_t k = 0; k < now.size(); ++k)
        now[k] += h < 0 ? -bytes[k] : bytes[k];
    }
    if (e == events.size())
      break;
    int32_t end = events[e].first;
    int64_t smallest = *std::min_element(now.begin(), now.end());
    least[step] += smallest;
    least[end] -= smallest;
    Bytes bytes = now;
    for (int64_t &b : bytes)
      b -= smallest;
    if (isZero(bytes))
      continue;
    bool goesOn =
        pieces.size() > first && pieces.back().end == step && pieces.back().bytes == bytes;
    if (goesOn)
      pieces.back().end = end;
    else
      pieces.push_back({vertex, step, end, std::move(bytes)});
  }
}

// Each vertex has at most one hold in a step, and none holds more than it must.
void mergeHolds(Problem &problem) {
  std::erase_if(problem.holds, [](const Hold &hold) { return hold.begin >= hold.end; });
  std::stable_sort(problem.holds.begin(), problem.holds.end(),
                   [](const Hold &a, const Hold &b) { return a.vertex < b.vertex; });
  std::vector<int64_t> least(problem.room.size() + 1);
  std::vector<Hold> pieces;
  for (size_t at = 0; at < problem.holds.size();) {
    std::vector<Hold> own;
    int32_t vertex = problem.holds[at].vertex;
    for (; at < problem.holds.size() && problem.holds[at].vertex == vertex; ++at)
      own.push_back(std::move(problem.holds[at]));
    makePieces(vertex, std::move(own), least, pieces);
  }
  problem.holds = std::move(pieces);
  int64_t held = 0;
  for (size_t t = 0; t < problem.room.size(); ++t)
    problem.room[t] -= held += least[t];
}

int64_t mostMore(const Bytes *bytes, const Bytes *than) {
  if (!bytes)
    return 0; // bytes are at least 0
  if (!than)
    return *std::max_element(bytes->begin(), bytes->end());
  int64_t most = INT64_MIN;
  for (size_t k = 0; k < bytes->size(); ++k)
    most = std::max(most, (*bytes)[k] - (*than)[k]);
  return most;
}

struct Change {
  int32_t vertex;
  const Bytes *bytes = nullptr; // from here on; null: none
  int64_t most = 0;             // of them
};

// Walks over steps with what each vertex holds.
class Walk {
public:
  explicit Walk(const Problem &problem) : steps(problem.room.size()), changes(steps + 1) {
    for (const Hold &hold : problem.holds)
      changes[hold.end].push_back({hold.vertex});
    for (const Hold &hold : problem.holds)
      changes[hold.begin].push_back({hold.vertex, &hold.bytes, mostMore(&hold.bytes, nullptr)});
  }
  // For each step, how much more than in step `than` may be held there at most.
  std::vector<int64_t> mostMoreThan(int32_t than, int32_t vertices) const {
    std::vector<const Bytes *> reference(vertices);
    std::vector<int64_t> now(vertices, 0); // of each vertex, how much more
    for (int32_t t = 0; t <= than; ++t)
      for (const Change &change : changes[t])
        reference[change.vertex] = change.bytes;
    std::vector<int64_t> more(steps);
    int64_t sum = 0;
    for (int32_t t = 0; t < steps; ++t) {
      for (const Change &change : changes[t]) {
        const Bytes *there = reference[change.vertex];
        int64_t most = change.bytes == there ? 0
                       : !there              ? change.most
                                             : mostMore(change.bytes, there);
        sum += most - now[change.vertex];
        now[change.vertex] = most;
      }
      more[t] = sum;
    }
    return more;
  }
  // Between a step and the one before: how much more, and how much less, may be held at most.
  void differences(int32_t vertices, std::vector<int64_t> &more, std::vector<int64_t> &less) const {
    std::vector<const Bytes *> now(vertices), before(vertices);
    more.assign(steps, 0);
    less.assign(steps, 0);
    for (int32_t t = 0; t < steps; ++t) {
      for (const Change &change : changes[t])
        now[change.vertex] = change.bytes;
      for (const Change &change : changes[t]) {
        if (now[change.vertex] == before[change.vertex])
          continue;
        more[t] += mostMore(now[change.vertex], before[change.vertex]);
        less[t] += mostMore(before[change.vertex], now[change.vertex]);
        before[change.vertex] = now[change.vertex];
      }
    }
  }

private:
  int32_t steps;
  std::vector<std::vector<Change>> changes;
};

// Steps left when those are out that have room for all, or that a step nearby says more than.
std::vector<bool> bindingNearby(const Problem &problem, const Walk &walk,
                                const std::vector<int64_t> &most) {
  std::vector<int64_t> more, less;
  walk.differences(problem.vertices(), more, less);
  int32_t steps = static_cast<int32_t>(problem.room.size()), last = -1;
  std::vector<bool> binds(steps);
  int64_t up = 0, down = 0; // since the last step that is left
  for (int32_t t = 0; t < steps; ++t) {
    up += more[t];
    down += less[t];
    if (problem.room[t] >= 0 && most[t] <= problem.room[t])
      continue;
    if (last >= 0 && problem.room[t] >= problem.room[last] + up)
      continue;
    if (last >= 0 && problem.room[last] >= problem.room[t] + down)
      binds[last] = false;
    binds[t] = true;
    last = t;
    up = down = 0;
  }
  return binds;
}

// Likewise of steps anywhere, beside the few where most is too much.
void leaveOutFar(const Problem &problem, const Walk &walk, const std::vector<int64_t> &most,
                 std::vector<bool> &binds) {
  std::vector<int32_t> order;
  for (size_t t = 0; t < binds.size(); ++t)
    if (binds[t])
      order.push_back(static_cast<int32_t>(t));
  auto tightness = [&](int32_t t) {
    return static_cast<double>(most[t]) /
           static_cast<double>(std::max<int64_t>(problem.room[t], 1));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return tightness(a) > tightness(b); });
  int32_t references = 0;
  for (int32_t than : order) {
    if (!binds[than])
      continue;
    if (++references > 100)
      return;
    std::vector<int64_t> more = walk.mostMoreThan(than, problem.vertices());
    for (int32_t t : order)
      if (t != than && binds[t] && problem.room[t] >= problem.room[than] + more[t])
        binds[t] = false;
  }
}

} // namespace

void leaveOutSteps(Problem &problem, std::vector<int32_t> &kept) {
  kept.clear();
  if (problem.room.empty())
    return;
  mergeHolds(problem);
  std::vector<int64_t> most(problem.room.size() + 1);
  for (const Hold &hold : problem.holds) {
    int64_t bytes = *std::max_element(hold.bytes.begin(), hold.bytes.end());
    most[hold.begin] += bytes;
    most[hold.end] -= bytes;
  }
  std::partial_sum(most.begin(), most.end(), most.begin());
  Walk walk(problem);
  std::vector<bool> binds = bindingNearby(problem, walk, most);
  leaveOutFar(problem, walk, most, binds);

  std::vector<int32_t> number(problem.room.size() + 1);
  std::vector<int64_t> room;
  for (size_t t = 0; t < problem.room.size(); ++t) {
    number[t] = static_cast<int32_t>(room.size());
    if (binds[t]) {
      room.push_back(problem.room[t]);
      kept.push_back(static_cast<int32_t>(t));
    }
  }
  number.back() = static_cast<int32_t>(room.size());
  problem.room = std::move(room);
  for (Hold &hold : problem.holds) {
    hold.begin = number[hold.begin];
    hold.end = number[hold.end];
  }
  mergeHolds(problem);
}

void setHolds(Problem &problem, std::vector<Hold> holds, int64_t capacity) {
  problem.holds = std::move(holds);
  int32_t steps = 0;
  for (const Hold &hold : problem.holds)
    steps = std::max(steps, hold.end);
  problem.room.assign(steps, capacity);
  std::vector<int32_t> kept;
  leaveOutSteps(problem, kept);
}

std::vector<std::pair<int32_t, int32_t>> tooLarge(const Problem &problem) {
  Profile profile(problem.room);
  std::vector<std::pair<int32_t, int32_t>> result;
  for (const Hold &hold : problem.holds) {
    int64_t over = profile.over(hold.begin, hold.end);
    for (size_t i = 0; i < hold.bytes.size(); ++i)
      if (hold.bytes[i] > 0 && over + hold.bytes[i] > 0 &&
          problem.costs[hold.vertex][i] != forbidden)
        result.push_back({hold.vertex, static_cast<int32_t>(i)});
  }
  return result;
}

void leaveOutSteps(Graph &graph, int64_t capacity) {
  Problem problem;
  problem.costs.resize(graph.costs.size()); // what vertices there are
  setHolds(problem, std::move(graph.holds), capacity);
  graph.holds = std::move(problem.holds);
  // What is always held, some vertex holds whatever its choice.
  for (size_t t = 0; t < problem.room.size(); ++t)
    if (int64_t always = capacity - problem.room[t]; always > 0)
      graph.holds.push_back({0, static_cast<int32_t>(t), static_cast<int32_t>(t) + 1,
                             std::vector<int64_t>(graph.costs[0].size(), always)});
}

} // namespace tessera::solver
