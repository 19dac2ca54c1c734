// Collectives that travel together, decided on plain data.
//
//   steps     start G  a  start H  b  wait G ..  wait H      G, H: of one kind, over the same devices
//   joined    a  start GH  b  wait GH ..                     one latency instead of two; G starts later by a
#pragma once

#include "lib/cost/Timeline.h"
#include "lib/cost/Topology.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::order {

// What can be in one message: tasks of one kind.
struct Messages {
  std::vector<int> kinds;    // by task; -1: travels alone
  std::vector<double> bytes; // by task
  // Of a message like that of a task, with so many bytes.
  llvm::function_ref<cost::CollectiveTime(int task, double bytes)> time;
};

// Those that start after one another with less computed between them than a message's latency, before
// anybody waits for one of them. `most`: seconds that each may take alone, by its latency.
std::vector<std::vector<int>> bucketsOf(llvm::ArrayRef<cost::Task> tasks,
                                        llvm::ArrayRef<cost::Step> steps, const Messages &messages,
                                        double most);

// The tasks in the order of the steps, each bucket as one in the place of its last member.
struct JoinedTasks {
  std::vector<cost::Task> tasks;
  std::vector<std::vector<int>> members; // by task: which it was
};
JoinedTasks join(llvm::ArrayRef<cost::Task> tasks, llvm::ArrayRef<cost::Step> steps,
                 llvm::ArrayRef<std::vector<int>> buckets, const Messages &messages);

} // namespace tessera::order
