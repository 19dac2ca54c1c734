// When the tasks of a program run, and how much memory is live meanwhile, on plain data.
//
//   tasks                                  steps                      device   a.......c...  d
//   a: 8 s                                 Run a, Start g, Run c,     links            g.....
//   g: collective over x, 6 s, of a        Wait g, Run d              seconds  0       8     14
//   c: 4 s        d: 1 s, of g and c
//
// A device computes one task at a time, in the order of the steps. A collective begins when its step
// has come and the links of all its axes are free; whoever needs its result waits for it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::cost {

// The bits of copy engines beside those of links.
constexpr uint64_t kToHost = uint64_t{1} << 62, kFromHost = uint64_t{1} << 63;

// An array, with its views. What lies in an argument's memory has no bytes here.
struct Storage {
  int64_t bytes = 0;
  bool before = false; // there from the beginning
  bool kept = false;   // needed after the last task, too
  // Kept, in memory of the caller's that is there from the beginning: until it is written, one that is
  // no larger lies there.
  bool given = false;
};

// Links that collectives inside of a computation hold, such as those of a loop:
//
//   device   a a a . . . a a a        links   - - - g g g - - -        from 3 s, until 3 s before the end
struct LinkUse {
  uint64_t links = 0;
  double from = 0;  // seconds after its begin: so long it goes on while others hold them
  double until = 0; // seconds before its end: from then on they are free
};

struct Task {
  double seconds = 0; // of the device, or of a collective's links
  double own = 0;     // of a collective: of the device, while the links begin to carry it
  // Of a collective: a bit for each of the links that it holds (Topology::routeOf); of a transfer
  // between memory spaces its copy engine. 0: the device computes.
  uint64_t links = 0;
  LinkUse within = {};                // of a computation
  llvm::SmallVector<int, 4> operands; // earlier tasks whose results it needs
  llvm::SmallVector<int, 4> reads;    // storages
  llvm::SmallVector<int, 2> writes;   // storages that nobody has written before
  // Pairs of one that it writes and one that it reads: the first may take over the second's array,
  // where nobody reads that later.
  llvm::SmallVector<std::pair<int, int>, 2> inPlace;
  int64_t inside = 0;                     // bytes that are live while it runs only
  std::vector<int64_t> insideArrays = {}; // of which these arrays are the largest

  bool isCollective() const { return links != 0; }
  double ofDevice() const { return isCollective() ? own : seconds; }
  double alone() const { return std::max(own, seconds); } // where nothing goes on beside
};

struct Step {
  enum Kind { Run, Start, Wait } kind;
  int task;
  bool operator==(const Step &) const = default;
};

struct Timeline {
  double seconds = 0; // from the first task to the end of the last
  double compute = 0; // that the device computes
  double exposed = 0; // that it waits for collectives
  int64_t peakBytes = 0;
  size_t peakStep = 0; // at which so much is live
};

// When each link and copy engine is free again.
class LinkTimes {
public:
  explicit LinkTimes(double now = 0) { free_.fill(now); }

  // When what is ready at `now` and takes so many seconds has crossed all its links.
  double carry(uint64_t links, double seconds, double now);
  // When a computation that is ready at `now` can begin, so that it waits for no link later.
  double beginOf(const LinkUse &use, double now) const;
  // It has ended.
  void release(const LinkUse &use, double end) { carry(use.links, 0, end - use.until); }
  // So much time passes in which the same goes on.
  void shift(double seconds);

private:
  std::array<double, 64> free_;
};

// How much memory arrays need beside such that the caller gives: each of them lies in one that is as
// large, or else elsewhere. Of those that are more than half as large only one does, and what it leaves
// has room for smaller ones:
//
//   given 100, 100; arrays 60, 60, 60     two lie there, 60 elsewhere: 260, though 180 < 200
//   given 100; arrays 60, 40              40 lies beside 60, where 40 has no place of its own: 100
class SpaceInGiven {
public:
  explicit SpaceInGiven(llvm::ArrayRef<Storage> storages);

  void add(int64_t array) { count(array, 1); }
  void remove(int64_t array) { count(array, -1); }
  void addSmall(int64_t bytes) { needed_.front() += bytes; } // of arrays that fit anywhere
  void take(int64_t given);                                  // it is written
  // With what is given.
  int64_t bytes() const;

private:
  // Arrays that are more than half as large as what they lie in, from the smallest on in steps.
  static constexpr int kHalfSteps = 4;
  struct Halves {
    int64_t count = 0, bytes = 0;
  };

  size_t classOf(int64_t array) const;
  void count(int64_t array, int64_t times);

  llvm::SmallVector<int64_t, 8> sizes_;  // ascending, of what is given
  llvm::SmallVector<int64_t, 8> free_;   // bytes that are given, by size
  llvm::SmallVector<int64_t, 9> needed_; // by the least size that has room; what none has room for
  llvm::SmallVector<std::array<Halves, kHalfSteps>, 8> halves_; // by that size
  int64_t given_ = 0;
};

// Memory as a schedule goes on: of each storage, from the step that first writes it until nobody
// reads it any more. What a collective reads is read until its wait.
class LiveMemory {
public:
  LiveMemory(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages);

  // Bytes that are live while the task runs, if it is next.
  int64_t during(int task) const;
  // By how many fewer bytes are live after it; negative when there are more.
  int64_t freedBy(int task) const;
  void begin(int task);
  void end(int task); // of a collective: its wait
  int64_t peak() const { return peak_; }
  // The largest arrays that are live while the task runs, which has begun.
  std::vector<int64_t> arraysDuring(int task) const;

private:
  int64_t with(const Task &task, SpaceInGiven space) const;
  // The storage whose array a new one takes over, or -1.
  int takenOver(int task, int written) const;

  llvm::ArrayRef<Task> tasks_;
  llvm::ArrayRef<Storage> storages_;
  std::vector<int> readers_;  // by storage: that have not ended
  std::vector<int64_t> held_; // by storage: the bytes of its array while it has one
  SpaceInGiven space_;
  int64_t peak_ = 0;
};

Timeline simulate(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                  llvm::ArrayRef<Step> steps);

// What links the steps hold, all told.
LinkUse linkUseOf(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Step> steps);

// The largest arrays of those that are live at the peak.
std::vector<int64_t> arraysAtPeak(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                                  llvm::ArrayRef<Step> steps, const Timeline &line);

} // namespace tessera::cost
