// Devices that share cores carry out one list of passages each, as the runtime's workers do: a core takes up
// its own devices first, and others' where its own wait; whoever is taken up goes on until it waits, or has
// started a collective: then come those that have been ready for longer.
//
//   4 devices on two cores, 0 1 and 2 3; groups {0 1} and {2 3}; all compute 1 s, wait 1 s for their group, ..
//   both at the same time      0 1|. .|0 1|. .      one after the other      0 1|0 2|0 1|..
//                              2 3|   |2 3|                                  2 3|1 3|..
//
// Groups that begin at the same time would for ever; cores never do, and whoever is late once stays so.
#pragma once

#include "lib/cost/Timeline.h"
#include "lib/mesh/Mesh.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace tessera::cost {

struct Passage {
  enum Kind { Compute, Start, Wait, Mark } kind = Compute;
  double seconds = 0; // of a device; of a start, of its links
  int64_t site = 0;   // of a start and its wait; whose mark
  uint64_t links = 0;
  llvm::ArrayRef<uint32_t> groups =
      {}; // of a start: of each device the number of one of its group; none: all are one
  uint32_t block = 0, work = 0; // where it comes from
};

class CorePool {
public:
  // Each core has as many of the devices; one of each: devices that do the same at the same time.
  explicit CorePool(size_t devices = 1, size_t cores = 1);

  size_t devices() const { return ready.size(); }
  double turns() const { return double(ready.size()) / double(free.size()); }
  // The clock of the last core, and when all is done that was started.
  double latest() const;
  double end() const { return std::max(last, latest()); }

  // Of a pool of one, what begins when and ends.
  using Noted = llvm::function_ref<void(const Passage &, double begin, double end)>;
  // All devices carry that out. Gives when they passed each mark, on the average.
  std::vector<double> run(llvm::ArrayRef<Passage> passages, Noted noted);
  void shift(double seconds);

private:
  // A collective of all groups: by device.
  struct Site {
    std::vector<uint32_t> starts; // how many
    std::vector<double> come, done;
    std::vector<bool> isAwaited; // started, and not waited for since
  };
  struct Run;

  llvm::SmallVector<double, 8> ready; // of devices: since when, or from when on, it can go on
  llvm::SmallVector<double, 2> free;  // of cores
  std::vector<LinkTimes> links;       // of devices
  std::map<int64_t, Site> sites;
  double last = 0; // that anything is under way
};

// Of all devices, where cores have equally many, and not too many; else of one, for all.
CorePool poolOf(int64_t devices, int64_t cores);

// Of each device the first of its group, where groups lie along these parts of axes.
std::vector<uint32_t> groupsAlong(const sharding::Mesh &mesh,
                                  llvm::ArrayRef<sharding::AxisRef> axes);

} // namespace tessera::cost
