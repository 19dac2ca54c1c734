// How long a step of a device takes, from what its instructions take, on plain data.
//
//   instructions                     device  a a a a . . . g
//   start g (6 s, links of x)        x       c c c c c c
//   a: 4 s    wait c   g: 1 s        exposed: 2 s, for which the device has nothing to do
//
// Devices that share cores are followed one by one (CorePool.h): a collective begins when its own group has
// come, and cores compute for one group while links carry another's.
//
// Loops are followed for some trips, until one is as the one before: the rest take as long. Of a
// branch the block counts that takes longest; where data ends a loop, one trip. A function takes
// what it takes where no link is busy.
#pragma once

#include "lib/cost/CorePool.h"
#include "lib/cost/Timeline.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::cost {

// What the device's time goes to.
enum class ComputeKind { Products, Elementwise, Library, Copies };
constexpr size_t kComputeKinds = 4;
const char *nameOf(ComputeKind kind); // "products", ..

// One instruction, with all that it holds.
struct Work {
  enum Kind { Compute, Start, Wait, Loop, Branch, Call, Other } kind = Other;
  double seconds = 0;  // of the device; of a start, of the links or copy engine that carry it
  double own = 0;      // of a start: of the device, while the links begin to carry it
  double overhead = 0; // of the device besides, each time
  double flops = 0;
  ComputeKind what = ComputeKind::Elementwise;
  uint64_t links = 0;             // of a start, as Task has them; 0: of nobody, it is done at once
  int64_t site = 0;               // of a start and its wait
  std::vector<uint32_t> groups{}; // of a start: of each device that is followed; empty: one of all
  int64_t trips = 1;              // of a loop
  std::vector<uint32_t> blocks{}; // condition and body of a loop, blocks of a branch, a function
};

// Blocks of works, each behind those that its works hold; the last is the program's. Seconds are those of a
// core, for all devices that it has.
using Blocks = std::vector<std::vector<Work>>;

struct StepTime {
  double seconds = 0;       // from the first instruction to the end of all
  double compute = 0;       // that the device computes, by kind below
  double communication = 0; // that collectives and copies take, hidden or not
  double own = 0;           // of that, what the device does itself
  double exposed = 0;       // of that, what the device waits for
  double overhead = 0;      // of launches and instructions
  double flops = 0;
  std::array<double, kComputeKinds> byKind{};
};

// What happened when: of a start, while links carry it; of a wait, while the device has nothing
// else to do.
struct Event {
  uint32_t block, work; // where in Blocks
  double begin, end;
};

struct Prediction {
  StepTime time;
  std::vector<double> times; // of each block, how often it is carried out
  std::vector<Event> events; // in order of their begin; where asked for
};

// `mostEvents`: of loops that would have more, the first trips only. `pool`: at rest.
Prediction predict(const Blocks &blocks, size_t mostEvents = 0, const CorePool &pool = CorePool());

} // namespace tessera::cost
