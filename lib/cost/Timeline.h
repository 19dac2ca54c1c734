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
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::cost {

// The bits of copy engines beside those of links.
constexpr uint64_t kToHost = uint64_t{1} << 62, kFromHost = uint64_t{1} << 63;

// An array, with its views. What lies in the caller's memory has no bytes here.
struct Storage {
  int64_t bytes = 0;
  bool before = false; // there from the beginning
  bool kept = false;   // needed after the last task, too
};

struct Task {
  double seconds = 0; // of the device, or of a collective's links
  // Of a collective: a bit for each of the links that it holds (Topology::routeOf); of a transfer
  // between memory spaces its copy engine. 0: the device computes.
  uint64_t links = 0;
  llvm::SmallVector<int, 4> operands; // earlier tasks whose results it needs
  llvm::SmallVector<int, 4> reads;    // storages
  llvm::SmallVector<int, 2> writes;   // storages that nobody has written before
  // Pairs of one that it writes and one that it reads: the first may take over the second's array,
  // where nobody reads that later.
  llvm::SmallVector<std::pair<int, int>, 2> inPlace;
  int64_t inside = 0; // bytes that are live while it runs only

  bool isCollective() const { return links != 0; }
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
  // When what is ready at `now` and takes so many seconds has crossed all its links.
  double carry(uint64_t links, double seconds, double now);
  // So much time passes in which the same goes on.
  void shift(double seconds);

private:
  std::array<double, 64> free_{};
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

private:
  // The storage whose array a new one takes over, or -1.
  int takenOver(int task, int written) const;

  llvm::ArrayRef<Task> tasks_;
  llvm::ArrayRef<Storage> storages_;
  std::vector<int> readers_;  // by storage: that have not ended
  std::vector<int64_t> held_; // by storage: the bytes of its array while it has one
  int64_t live_ = 0, peak_ = 0;
};

Timeline simulate(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                  llvm::ArrayRef<Step> steps);

} // namespace tessera::cost
