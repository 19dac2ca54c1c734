#include "lib/cost/Timeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace tessera::cost {

constexpr size_t kMostSizes = 8, kMostArrays = 64;

SpaceInGiven::SpaceInGiven(llvm::ArrayRef<Storage> storages) {
  std::map<int64_t, int64_t> bytes; // by size
  for (const Storage &storage : storages)
    if (storage.given) {
      bytes[storage.bytes] += storage.bytes;
      given_ += storage.bytes;
    }
  // The sizes that matter most; others count as the next smaller one.
  std::vector<std::pair<int64_t, int64_t>> most;
  for (auto [size, all] : bytes)
    most.emplace_back(all, size);
  llvm::sort(most, std::greater<>());
  most.resize(std::min(most.size(), kMostSizes));
  for (auto [all, size] : most)
    sizes_.push_back(size);
  llvm::sort(sizes_);
  free_.resize(sizes_.size());
  needed_.resize(sizes_.size() + 1);
  halves_.resize(sizes_.size());
  for (auto [size, all] : bytes)
    if (auto next = llvm::upper_bound(sizes_, size); next != sizes_.begin())
      free_[next - sizes_.begin() - 1] += all;
}

size_t SpaceInGiven::classOf(int64_t array) const {
  return llvm::lower_bound(sizes_, array) - sizes_.begin();
}

void SpaceInGiven::count(int64_t array, int64_t times) {
  size_t at = classOf(array);
  if (at == sizes_.size() || 2 * array <= sizes_[at]) {
    needed_[at] += times * array;
    return;
  }
  int64_t step = (2 * array - sizes_[at] - 1) * kHalfSteps / sizes_[at];
  Halves &halves = halves_[at][step];
  halves.count += times;
  halves.bytes += times * array;
}

void SpaceInGiven::take(int64_t given) {
  if (auto next = llvm::upper_bound(sizes_, given); next != sizes_.begin())
    free_[next - sizes_.begin() - 1] -= given;
}

int64_t SpaceInGiven::bytes() const {
  int64_t elsewhere = needed_.back(), room = 0;
  auto lie = [&](int64_t needed) {
    elsewhere += std::max<int64_t>(0, needed - room);
    room = std::max<int64_t>(0, room - needed);
  };
  std::array<Halves, kMostSizes * kHalfSteps> rests; // of what halves lie in
  size_t left = 0;
  for (size_t i = sizes_.size(); i-- > 0;) {
    for (Halves &rest : llvm::MutableArrayRef(rests.data(), left))
      if (rest.bytes >= rest.count * sizes_[i])
        room += std::exchange(rest.bytes, 0);
    int64_t free = free_[i];
    for (const Halves &halves : llvm::reverse(halves_[i])) // the largest first
      if (halves.count > 0) {
        int64_t each = halves.bytes / halves.count;
        int64_t taken = std::clamp<int64_t>(free / sizes_[i], 0, halves.count);
        free -= taken * sizes_[i];
        rests[left++] = {taken, taken * (sizes_[i] - each)};
        lie((halves.count - taken) * each);
      }
    if (i == 0) // the smallest lie anywhere
      for (const Halves &rest : llvm::ArrayRef(rests.data(), left))
        room += rest.bytes;
    room += free;
    lie(needed_[i]);
  }
  return given_ + elsewhere;
}

LiveMemory::LiveMemory(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages)
    : tasks_(tasks), storages_(storages), readers_(storages.size(), 0), held_(storages.size(), 0),
      space_(storages) {
  for (const Task &task : tasks)
    for (int storage : task.reads)
      ++readers_[storage];
  for (size_t i = 0; i < storages.size(); ++i)
    if (storages[i].before && (readers_[i] || storages[i].kept))
      space_.add(held_[i] = storages[i].bytes);
  peak_ = space_.bytes();
}

int LiveMemory::takenOver(int task, int written) const {
  for (auto [to, from] : tasks_[task].inPlace)
    if (to == written && readers_[from] == 1 && !storages_[from].kept &&
        held_[from] >= storages_[to].bytes)
      return from;
  return -1;
}

int64_t LiveMemory::with(const Task &task, SpaceInGiven space) const {
  int64_t rest = task.inside;
  for (int64_t array : task.insideArrays) {
    space.add(array);
    rest -= array;
  }
  space.addSmall(std::max<int64_t>(0, rest));
  return space.bytes();
}

int64_t LiveMemory::during(int task) const {
  SpaceInGiven space = space_;
  for (int storage : tasks_[task].writes)
    if (takenOver(task, storage) < 0) {
      if (storages_[storage].given)
        space.take(storages_[storage].bytes);
      else
        space.add(storages_[storage].bytes);
    }
  return with(tasks_[task], std::move(space));
}

int64_t LiveMemory::freedBy(int task) const {
  int64_t bytes = 0;
  for (int storage : tasks_[task].reads)
    if (readers_[storage] == 1 && !storages_[storage].kept)
      bytes += held_[storage];
  for (int storage : tasks_[task].writes)
    if (readers_[storage] || storages_[storage].kept)
      bytes -= storages_[storage].bytes;
  return bytes;
}

void LiveMemory::begin(int task) {
  for (int storage : tasks_[task].writes) {
    int from = takenOver(task, storage);
    bool given = storages_[storage].given;
    if (from >= 0) {
      held_[storage] = std::exchange(held_[from], 0);
      if (given)
        space_.remove(held_[storage]);
    } else {
      held_[storage] = storages_[storage].bytes;
      if (!given)
        space_.add(held_[storage]);
    }
    if (given)
      space_.take(storages_[storage].bytes);
  }
  peak_ = std::max(peak_, tasks_[task].inside ? with(tasks_[task], space_) : space_.bytes());
}

void LiveMemory::end(int task) {
  auto release = [&](int storage) {
    if (readers_[storage] == 0 && !storages_[storage].kept)
      space_.remove(std::exchange(held_[storage], 0));
  };
  for (int storage : tasks_[task].reads) {
    --readers_[storage];
    release(storage);
  }
  for (int storage : tasks_[task].writes) // what nobody reads
    release(storage);
}

std::vector<int64_t> LiveMemory::arraysDuring(int task) const {
  std::vector<int64_t> arrays = tasks_[task].insideArrays;
  for (auto [held, storage] : llvm::zip(held_, storages_))
    if (held && !storage.given)
      arrays.push_back(held);
  llvm::sort(arrays, std::greater<>());
  arrays.resize(std::min(arrays.size(), kMostArrays));
  return arrays;
}

double LinkTimes::carry(uint64_t links, double seconds, double now) {
  for (uint64_t rest = links; rest; rest &= rest - 1)
    now = std::max(now, free_[llvm::countr_zero(rest)]);
  now += seconds;
  for (uint64_t rest = links; rest; rest &= rest - 1)
    free_[llvm::countr_zero(rest)] = now;
  return now;
}

double LinkTimes::beginOf(const LinkUse &use, double now) const {
  for (uint64_t rest = use.links; rest; rest &= rest - 1)
    now = std::max(now, free_[llvm::countr_zero(rest)] - use.from);
  return now;
}

void LinkTimes::shift(double seconds) {
  for (double &free : free_)
    free += seconds;
}

namespace {

// The clock of a device, from links that are free at some time.
struct Clock {
  Clock(llvm::ArrayRef<Task> tasks, double linksFree)
      : tasks(tasks), links(linksFree), doneAt(tasks.size(), 0) {}

  void pass(const Step &step) {
    const Task &task = tasks[step.task];
    switch (step.kind) {
    case Step::Run:
      waitUntil(links.beginOf(task.within, now));
      compute(task.seconds);
      links.release(task.within, now);
      if (task.within.links)
        held = std::max(held, now - task.within.until);
      break;
    case Step::Start:
      doneAt[step.task] = links.carry(task.links, task.seconds, now);
      held = std::max(held, doneAt[step.task]);
      compute(task.own);
      break;
    case Step::Wait:
      waitUntil(doneAt[step.task]);
      break;
    }
  }

  double end() const { return std::max(now, held); }

  llvm::ArrayRef<Task> tasks;
  LinkTimes links;
  std::vector<double> doneAt;
  double now = 0, held = 0; // held: until when links are
  double computed = 0, exposed = 0;

private:
  void compute(double seconds) {
    now += seconds;
    computed += seconds;
  }
  void waitUntil(double time) {
    exposed += std::max(0.0, time - now);
    now = std::max(now, time);
  }
};

} // namespace

Timeline simulate(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                  llvm::ArrayRef<Step> steps) {
  Timeline line;
  LiveMemory memory(tasks, storages);
  Clock clock(tasks, 0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    int64_t before = memory.peak();
    clock.pass(step);
    if (step.kind != Step::Wait)
      memory.begin(step.task);
    if (step.kind != Step::Start)
      memory.end(step.task);
    if (memory.peak() > before)
      line.peakStep = i;
  }
  line.seconds = clock.end();
  line.compute = clock.computed;
  line.exposed = clock.exposed;
  line.peakBytes = memory.peak();
  return line;
}

LinkUse linkUseOf(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Step> steps) {
  LinkUse use;
  double all = 0;
  for (const Task &task : tasks) {
    use.links |= task.links | task.within.links;
    all += task.alone();
  }
  if (!use.links)
    return use;
  // With links that are free at some late time, everything ends as much later as that is beyond `from`.
  Clock early(tasks, 0), late(tasks, all);
  for (const Step &step : steps) {
    early.pass(step);
    late.pass(step);
  }
  use.from = std::max(0.0, early.end() - (late.end() - all));
  use.until = early.end() - early.held;
  return use;
}

std::vector<int64_t> arraysAtPeak(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                                  llvm::ArrayRef<Step> steps, const Timeline &line) {
  LiveMemory memory(tasks, storages);
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (step.kind != Step::Wait)
      memory.begin(step.task);
    if (i == line.peakStep)
      return memory.arraysDuring(step.task);
    if (step.kind != Step::Start)
      memory.end(step.task);
  }
  return {};
}

} // namespace tessera::cost
