// What a program holds, and how much longer it takes, where some values are computed again.
#pragma once

#include "lib/cost/Remat.h"
#include <limits>

namespace tessera::cost {

constexpr int kNever = std::numeric_limits<int>::max();

// What is computed again.
struct RematChoice {
  std::vector<Recompute> values;
  std::vector<char> dropped; // by stack
};

RematChoice choiceOf(const RematProgram &program, const RematPlan &plan);

// A block as a choice leaves it.
struct Replay {
  std::vector<RematStep> steps;
  std::vector<Task> tasks; // by step
  std::vector<Storage> storages;
  int64_t peak = 0;
  int peakStep = 0;
  std::vector<int64_t> arraysAtPeak; // of a loop's body: the largest
  double moreSeconds = 0;

  // The task of the block that is, or asks for, a step.
  int taskOf(int step) const {
    return steps[step].copyOf < 0 ? steps[step].task : steps[step].trigger;
  }
};

class Simulation {
public:
  explicit Simulation(const RematProgram &program);

  void run(const RematChoice &choice);

  // Blocks that are executed at the peak, outer ones first.
  std::vector<int> peakBlocks() const;
  // The task at the peak, in each of them.
  std::vector<int> peakTasks() const;
  int64_t peak() const { return replays.empty() ? 0 : replays[0].peak; }

  // What a node takes to be computed again, and all that it needs; negative where it cannot be.
  double secondsOfNodes(llvm::ArrayRef<int> roots, const std::vector<char> &dropped,
                        std::vector<char> &seen) const;

  // From here on, the peak is that of other tasks than this one at the peak.
  void settlePeak();

  const RematProgram &program;
  std::vector<Replay> replays;
  double seconds = 0; // more than the program as it is

private:
  double secondsOfStacks(const RematChoice &choice) const;
  void replay(int b, llvm::ArrayRef<Recompute> values, const RematChoice &choice);
  Task taskOf(int b, int step, const RematChoice &choice);
  void describeLoop(int b, int t, const RematChoice &choice, Task &task) const;

  bool isSettled(int b, int task) const;

  std::vector<std::vector<int>> children;            // by block and task: the body
  llvm::SmallVector<std::pair<int, int>, 8> settled; // block, task
};

} // namespace tessera::cost
