#include "lib/cost/CorePool.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tessera::cost {

constexpr double kLater = 1e-12; // that a core begins than the one before
constexpr int64_t kMostFollowed = 32;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

CorePool::CorePool(size_t devices, size_t cores)
    : ready(devices, 0), free(cores, 0), links(devices) {
  for (auto [core, time] : llvm::enumerate(free))
    time = kLater * static_cast<double>(core);
}

double CorePool::latest() const { return *llvm::max_element(free); }

// One list of passages under way.
struct CorePool::Run {
  CorePool &pool;
  llvm::ArrayRef<Passage> passages;
  Noted noted;
  std::vector<double> marks;
  std::vector<size_t> at, passed; // of each device, and how many marks
  std::vector<size_t> order;      // of those that are ready since the same time
  size_t starts = 0;

  Run(CorePool &pool, llvm::ArrayRef<Passage> passages, Noted noted)
      : pool(pool), passages(passages), noted(noted), at(pool.devices(), 0),
        passed(pool.devices(), 0), order(pool.devices(), 0) {
    marks.resize(llvm::count_if(passages, [](auto &each) { return each.kind == Passage::Mark; }));
  }

  void note(const Passage &passage, double begin, double end) const {
    if (pool.devices() == 1)
      noted(passage, begin, end);
  }

  bool isDone(size_t device) const { return at[device] == passages.size(); }

  // Whom a core takes up that is free, and when.
  std::pair<size_t, double> nextFor(size_t core) const {
    size_t each = pool.devices() / pool.free.size();
    auto place = [&](size_t device) {
      double begin = isDone(device) ? kUnknown : std::max(pool.ready[device], pool.free[core]);
      return std::tuple(begin, device / each != core, pool.ready[device], order[device], device);
    };
    auto best = place(0);
    for (size_t device = 1; device < pool.devices(); ++device)
      best = std::min(best, place(device));
    return {std::get<4>(best), std::get<0>(best)};
  }

  void carryOut() {
    while (true) {
      auto core = static_cast<size_t>(llvm::min_element(pool.free) - pool.free.begin());
      auto [device, begin] = nextFor(core);
      if (begin == kUnknown)
        break;
      pool.free[core] = untilItWaits(device, begin);
    }
    // Of a group that never comes together nobody is waited for.
    for (double &time : pool.ready)
      if (time == kUnknown)
        time = pool.latest();
  }

  // When the core is free again.
  double untilItWaits(size_t device, double now) {
    for (; !isDone(device); ++at[device]) {
      const Passage &passage = passages[at[device]];
      switch (passage.kind) {
      case Passage::Compute:
        note(passage, now, now + passage.seconds);
        now += passage.seconds;
        break;
      case Passage::Mark:
        note(passage, now, now);
        marks[passed[device]++] += now / static_cast<double>(pool.devices());
        break;
      case Passage::Start:
        start(passage, device, now);
        ++at[device];
        pool.ready[device] = now;
        order[device] = ++starts; // behind those that wait for a core
        return now;
      case Passage::Wait:
        if (double done = doneOf(passage, device, now); done > now) {
          pool.ready[device] = done;
          return now;
        }
        break;
      }
    }
    pool.ready[device] = now;
    return now;
  }

  // A group's begins when the last of its devices has come.
  void start(const Passage &passage, size_t device, double now) {
    size_t devices = pool.devices();
    Site &site = pool.sites[passage.site];
    if (site.starts.empty())
      site = {std::vector<uint32_t>(devices, 0), std::vector<double>(devices, 0),
              std::vector<double>(devices, 0), std::vector<bool>(devices, false)};
    ++site.starts[device];
    site.come[device] = now;
    site.done[device] = kUnknown;
    site.isAwaited[device] = true;
    llvm::SmallVector<size_t, 8> group;
    for (size_t other = 0; other < devices; ++other)
      if (passage.groups.empty() || passage.groups[other] == passage.groups[device])
        group.push_back(other);
    double begin = 0;
    for (size_t other : group) {
      if (site.starts[other] != site.starts[device])
        return;
      begin = std::max({begin, site.come[other], pool.links[other].carry(passage.links, 0, 0)});
    }
    for (size_t other : group) {
      double done = pool.links[other].carry(passage.links, passage.seconds, begin);
      site.done[other] = done;
      pool.last = std::max(pool.last, done);
      if (pool.ready[other] == kUnknown) // or else it waits on, for another one
        pool.ready[other] = done;
    }
    note(passage, site.done[device] - passage.seconds, site.done[device]);
  }

  double doneOf(const Passage &passage, size_t device, double now) {
    auto found = pool.sites.find(passage.site);
    if (found == pool.sites.end() || !found->second.isAwaited[device])
      return now;
    double done = found->second.done[device];
    if (done <= now)
      found->second.isAwaited[device] = false;
    else if (done < kUnknown)
      note(passage, now, done);
    return done;
  }
};

std::vector<double> CorePool::run(llvm::ArrayRef<Passage> passages, Noted noted) {
  Run run(*this, passages, noted);
  run.carryOut();
  return std::move(run.marks);
}

void CorePool::shift(double seconds) {
  for (double &time : ready)
    time += seconds;
  for (double &time : free)
    time += seconds;
  for (LinkTimes &each : links)
    each.shift(seconds);
  for (auto &[number, site] : sites)
    for (auto *times : {&site.come, &site.done})
      for (double &time : *times)
        time += seconds;
  last += seconds;
}

CorePool poolOf(int64_t devices, int64_t cores) {
  bool areFollowed =
      cores > 0 && devices > cores && devices % cores == 0 && devices <= kMostFollowed;
  return areFollowed ? CorePool(devices, cores) : CorePool();
}

std::vector<uint32_t> groupsAlong(const sharding::Mesh &mesh,
                                  llvm::ArrayRef<sharding::AxisRef> axes) {
  std::vector<uint32_t> groups(mesh.numDevices());
  for (auto [device, group] : llvm::enumerate(groups)) {
    auto first = static_cast<int64_t>(device);
    for (const sharding::AxisRef &ref : axes) {
      int64_t stride = mesh.axes[ref.axis].size / (ref.preSize * ref.size);
      for (size_t minor = ref.axis + 1; minor < mesh.axes.size(); ++minor)
        stride *= mesh.axes[minor].size;
      first -= first / stride % ref.size * stride;
    }
    group = static_cast<uint32_t>(first);
  }
  return groups;
}

} // namespace tessera::cost
