// Which values are computed again instead of being kept, so that a program fits into its memory at
// least predicted time. Plain data.
//
//   tasks            a  b  c | d(c,b)  e(a)         a: 8 bytes, read by b and by e
//   a kept           8 ..................8          live while c and d run, that need it not
//   a computed again 8 .  .  .  .  .  a' e(a')      8 bytes less meanwhile, a's seconds more
//
// A value that is computed again is dropped behind its last reader before a gap; the first reader
// behind the gap finds a copy, made just before it from what the copy needs, which in turn is kept
// until then, or computed again. What is elementwise has no array of its own where its reader reads
// it element by element: there it is a part of the reader's kernel. Of the values that are live at
// the peak, across which none is read, those go first that free most bytes for a second; then the
// peak is found anew (greedy, as Chen et al. 2016, "Training deep nets with sublinear memory cost",
// have it for chains). Each round takes a time linear in the program, and lowers the peak by a
// sixteenth.
#pragma once

#include "lib/cost/Timeline.h"
#include <optional>

namespace tessera::cost {

// What it takes to compute a storage again: of its task, what leads to it.
struct Maker {
  int task = -1; // none: it is there from the beginning
  double seconds = 0;
  llvm::SmallVector<int, 4> reads;
  bool again = false;         // whether it may be computed again
  bool isElementwise = false; // from what it reads, element by element
};

// The tasks of a block, in the order of the program.
struct RematBlock {
  std::vector<Task> tasks;
  std::vector<Storage> storages;
  std::vector<Maker> makers; // by storage
  // By task: what it reads element by element, and could compute itself, were that elementwise.
  std::vector<llvm::SmallVector<int, 4>> joins;
  int parent = -1, loop = -1; // the block that it is the body of a loop in, and the loop's task
  std::vector<int> carried;   // storages of the parent: the arrays of the body's arguments
  double times = 1;           // that it is executed in a step
};

// Where each task makes all that it writes from all that it reads.
std::vector<Maker> makersOf(llvm::ArrayRef<Task> tasks, size_t storages);

// A stack that a loop fills, a slot in each trip, and another loop reads, a slot in each trip: what
// is in a slot can be computed in the other loop from what else is there in that trip.
struct TripNode {
  double seconds = 0;                 // once
  bool again = true;                  // whether it may be computed again
  int stack = -1;                     // that has it in a slot, while it is kept
  llvm::SmallVector<int, 4> operands; // nodes; what both loops can read is none
};

struct Stack {
  int block = 0, storage = 0; // where both loops are
  int start = -1;             // the storage that it begins as, for nothing else; or none
  int filled = 0, body = 0;   // the block that fills it; storages there that are its arrays:
  llvm::SmallVector<int, 2> inside;
  int reader = 0;   // the loop's task that reads it
  int64_t slot = 0; // bytes
  int node = -1;    // of the graph, that it has
  double times = 1; // trips of the reader in a step
};

struct RematProgram {
  std::vector<RematBlock> blocks; // parents first
  std::vector<Stack> stacks;
  std::vector<TripNode> nodes; // operands first
};

// A storage of a block that is computed again for readers behind the task `after`.
struct Recompute {
  int block, storage, after;
  bool operator==(const Recompute &) const = default;
};

struct RematPlan {
  std::vector<Recompute> values;
  std::vector<int> stacks; // that are not kept
  int64_t peakBytes = 0;   // where peaks stay, of the others
  double seconds = 0;      // more than without
};

// What a plan may do beside dropping what the task at the peak has no use for.
struct RematScope {
  // What that task makes for others is made by these, too.
  bool makesLater = false;
  // Where nothing lowers a peak, it stays, and those below it are lowered: what a task takes is known
  // roughly, and another order may lower the highest. No peak becomes higher than the highest was.
  bool goesBelowPeaks = false;
};

// What is kept where at most so many bytes may be live; where that cannot be reached, the plan of
// the lowest peak.
RematPlan planRemat(const RematProgram &program, int64_t mostBytes, const RematScope &scope = {});

// The peak of the program as it is.
int64_t peakOf(const RematProgram &program);

// What is live at the peak: (block, storage). Copies have numbers behind those of the block's
// storages.
std::vector<std::pair<int, int>> liveAtPeak(const RematProgram &program,
                                            const RematPlan &plan = {});

// A plan, carried out for a block: its tasks with copies among them.
struct RematStep {
  int task;
  int copyOf = -1;       // the storage that is computed again; -1: the task as it stands
  int trigger = -1;      // of a copy: the task that it is made for
  bool isWithin = false; // of a copy: it is a part of its readers' kernel
  // Reads of the step that find a copy: the storage, and the step that made it.
  llvm::SmallVector<std::pair<int, int>, 2> from;

  // What it reads, copies or not.
  llvm::ArrayRef<int> readsIn(const RematBlock &block) const {
    return copyOf < 0 ? llvm::ArrayRef<int>(block.tasks[task].reads)
                      : llvm::ArrayRef<int>(block.makers[copyOf].reads);
  }
};

std::vector<RematStep> expand(const RematBlock &block, llvm::ArrayRef<Recompute> values);

} // namespace tessera::cost
