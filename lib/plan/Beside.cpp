#include "lib/plan/Beside.h"

#include "lib/plan/Launches.h"
#include "lib/plan/MeshTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <utility>

#include <algorithm>

namespace tessera::plan {

using sharding::PropagatedOp;

namespace {

// That are computed one after another, of the base order: what order may put before them (order::Rule).
constexpr int32_t kWindow = 48;

class BesideValues {
public:
  BesideValues(const Program &program, llvm::ArrayRef<double> work)
      : program(program), work(work), maker(program.values.size(), -1),
        firstReader(program.values.size(), -1), mark(program.values.size(), -1),
        readers(program.values.size()), loop(program.values.size(), 0),
        waiting(program.blockAround.size(), -1), isCarried(program.values.size(), false),
        ofBlock(program.blockAround.size(), 0) {
    auto count = int32_t(program.graph.ops.size());
    for (int32_t op = 0; op < count; ++op)
      reads.push_back(readsOf(program, op));
    int32_t kernels = 0;
    for (int32_t op = 0; op < count; ++op) {
      const PropagatedOp &graphOp = program.graph.ops[op];
      for (int32_t v : reads[op]) {
        if (firstReader[v] < 0)
          firstReader[v] = op;
        if (readers[v].empty() || readers[v].back() != op)
          readers[v].push_back(op);
      }
      for (int32_t v : graphOp.results)
        if (program.ops[op].moves)
          isCarried[v] = llvm::any_of(graphOp.operands, [&](int32_t from) {
            return from != v && program.values[from].block == program.values[v].block &&
                   program.values[v].times > 1 && !program.graph.values[v].shape.empty();
          });
        else if (maker[v] < 0)
          maker[v] = op;
      for (int32_t block = program.ops[op].block; block >= 0; block = program.blockAround[block])
        ofBlock[block] += program.ops[op].times * work[op];
      kernelsBefore.push_back(kernels);
      kernels += work[op] > 0 &&
                 llvm::any_of(program.ops[op].writes, [](double written) { return written > 0; });
    }
    readInLoops();
  }

  BesideSeconds of(int32_t value) {
    if (program.graph.values[value].free || firstReader[value] < 0)
      return {};
    BesideSeconds seconds;
    seconds.handedOn = seconds.brought = beside(value, firstReader[value]);
    int32_t begun = std::exchange(loop[value], 0); // others than that loop
    for (int32_t reader : readers[value])
      if (reader > maker[value] && reader != firstReader[value])
        seconds.brought = std::max(seconds.brought, beside(value, reader));
    loop[value] = begun;
    return seconds;
  }

private:
  double beside(int32_t value, int32_t reader) {
    int32_t made = maker[value];
    bool isMade = made >= 0 && made < reader;
    current = value;
    sum = 0;
    // What is before and need not be made for it; what is between; what is behind and need not wait.
    bool dependsOnNothing = isMade ? before(value, made) : !isCarried[value];
    between(isMade ? made + 1 : firstInWindow(reader), reader);
    bool isNeededByNothing = behind(value, reader);
    const ValueFacts &facts = program.values[value];
    bool isInLoop = facts.block > 0 && facts.times > 1;
    if (isInLoop && (dependsOnNothing || isNeededByNothing))
      return std::max(sum, ofBlock[facts.block]) / facts.times;
    return sum / facts.times;
  }

  bool isNear(int32_t a, int32_t b) const {
    return std::abs(kernelsBefore[a] - kernelsBefore[b]) <= kWindow;
  }

  int32_t firstInWindow(int32_t op) const {
    int32_t first = op;
    while (first > 0 && isNear(first - 1, op))
      --first;
    return first;
  }

  // Of the same rounds: ops of its block, and of loops within.
  bool isBeside(int32_t op) const {
    int32_t block = program.ops[op].block; // blocks within have higher numbers
    while (block > program.values[current].block)
      block = program.blockAround[block];
    return block == program.values[current].block;
  }

  void add(int32_t op) {
    if (isBeside(op))
      sum += program.ops[op].times * work[op];
  }

  // Of the loops around an op, the one in the block of the value that is looked at; 0: none.
  int32_t loopAround(int32_t op) const {
    int32_t block = program.ops[op].block;
    while (block > 0 && program.blockAround[block] != program.values[current].block)
      block = program.blockAround[block];
    return std::max(block, 0);
  }

  // Whether nothing of its block that takes time is made for it. What a loop gives is there when it has
  // ended: all of it is made, and what it takes.
  bool before(int32_t value, int32_t made) {
    bool isFree = true;
    int32_t epoch = ++epochs;
    mark[value] = epoch;
    for (int32_t op = made; op >= 0 && isNear(op, made); --op) {
      const PropagatedOp &graphOp = program.graph.ops[op];
      bool makes = isInWaiting(op, epoch) || llvm::any_of(graphOp.results, [&](int32_t v) {
                     return mark[v] == epoch || (loop[v] > 0 && waiting[loop[v]] == epoch);
                   });
      if (!makes) {
        add(op);
        continue;
      }
      if (int32_t around = loopAround(op))
        waiting[around] = epoch;
      isFree &= work[op] == 0 || op == made || !isBeside(op) ||
                work[op] < kLittle * ofBlock[program.values[value].block];
      for (int32_t v : reads[op]) {
        mark[v] = epoch;
        isFree &= !isCarried[v];
      }
    }
    return isFree;
  }

  void between(int32_t first, int32_t reader) {
    int32_t nearReader = firstInWindow(reader);
    for (int32_t op = first; op < reader; ++op) {
      if (op < nearReader && !isNear(op, first)) // far from both
        op = nearReader;
      add(op);
    }
  }

  // What a loop takes is handed to it by ops behind what it consists of, and read as soon as there.
  void readInLoops() {
    for (auto [index, op] : llvm::enumerate(program.graph.ops))
      if (program.ops[index].moves)
        for (int32_t from : reads[index])
          for (int32_t to : op.results)
            if (int32_t reader = firstReader[to];
                reader > maker[from] && reader < firstReader[from]) {
              firstReader[from] = reader;
              loop[from] = program.ops[reader].block;
            }
  }

  // A loop begins when all is there that it takes.
  bool entersLoop(int32_t value, int32_t reader) const {
    int32_t block = program.values[value].block;
    return program.ops[reader].block != block ||
           (program.ops[reader].moves &&
            llvm::any_of(program.graph.ops[reader].results,
                         [&](int32_t v) { return program.values[v].block != block; }));
  }

  void wait(llvm::ArrayRef<int32_t> values, int32_t epoch) {
    for (int32_t v : values) {
      mark[v] = epoch;
      if (loop[v] > 0)
        waiting[loop[v]] = epoch;
    }
  }

  bool isInWaiting(int32_t op, int32_t epoch) const {
    for (int32_t block = program.ops[op].block; block > 0; block = program.blockAround[block])
      if (waiting[block] == epoch)
        return true;
    return false;
  }

  // Likewise whether nothing waits for it.
  bool behind(int32_t value, int32_t reader) {
    bool isFree = true;
    int32_t epoch = ++epochs;
    wait(value, epoch);
    auto count = int32_t(program.graph.ops.size());
    int32_t first = reader, block = program.values[value].block;
    if (entersLoop(value, reader))
      for (; first < count && (program.ops[first].moves || program.ops[first].block != block);
           ++first)
        wait(program.graph.ops[first].results, epoch);
    for (int32_t op = first; op < count && isNear(op, reader); ++op) {
      const PropagatedOp &graphOp = program.graph.ops[op];
      bool waits = isInWaiting(op, epoch) ||
                   llvm::any_of(reads[op], [&](int32_t v) { return mark[v] == epoch; });
      if (!waits) {
        add(op);
        continue;
      }
      isFree &= work[op] == 0 || !isBeside(op) ||
                work[op] < kLittle * ofBlock[program.values[value].block];
      wait(graphOp.results, epoch);
    }
    return isFree;
  }

  static constexpr double kLittle = 1e-2; // of a round

  const Program &program;
  llvm::ArrayRef<double> work;
  std::vector<llvm::SmallVector<int32_t, 4>> reads;   // by op
  std::vector<int32_t> maker, firstReader, mark;      // by value; -1: none
  std::vector<llvm::SmallVector<int32_t, 2>> readers; // by value, in program order
  std::vector<int32_t> loop;          // by value: that begins when it is there; 0: none
  std::vector<int32_t> waiting;       // by block, of an epoch
  std::vector<bool> isCarried;        // by value: the round before makes it
  std::vector<double> ofBlock;        // in a step
  std::vector<int32_t> kernelsBefore; // by op
  int32_t epochs = 0, current = 0;
  double sum = 0;
};

} // namespace

std::vector<BesideSeconds> secondsBesideOf(const Program &program, llvm::ArrayRef<double> work) {
  BesideValues beside(program, work);
  std::vector<BesideSeconds> seconds;
  for (size_t v = 0; v < program.values.size(); ++v)
    seconds.push_back(beside.of(int32_t(v)));
  return seconds;
}

// Each value by one operand at most: what an op reads twice is brought once.
static void findFirstReaders(Program &program) {
  std::vector<bool> isRead(program.values.size());
  for (int32_t index = 0; index < int32_t(program.graph.ops.size()); ++index) {
    const PropagatedOp &op = program.graph.ops[index];
    OpFacts &facts = program.ops[index];
    facts.readsFirst.assign(op.operands.size(), false);
    for (auto [i, v] : llvm::enumerate(op.operands)) {
      facts.readsFirst[i] = !isRead[v] && !facts.moves && op.viewed < 0;
      isRead[v] = true;
    }
    if (!program.distantReads.empty())
      for (int32_t v : program.distantReads[index])
        isRead[v] = true;
  }
}

void findSecondsBeside(Program &program, int64_t devices, const cost::Topology &topology) {
  const sharding::Mesh mesh{"mesh", {{"x", devices}}, {}};
  MeshTables tables(program, mesh, topology);
  std::vector<double> work;
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    bool isFree = llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; });
    if (isFree || program.ops[index].moves || op.viewed >= 0) {
      work.push_back(0);
      continue;
    }
    sharding::PlacedOp placed = tables.ops.place(int32_t(index));
    OpWork whole = tables.ops.work(int32_t(index), placed, sharding::FactorAxes(placed.op));
    work.push_back(whole.computing / double(devices) +
                   launchSeconds(program.ops[index], topology, devices));
  }
  findFirstReaders(program);
  std::vector<BesideSeconds> seconds = secondsBesideOf(program, work);
  for (auto [facts, each] : llvm::zip_equal(program.values, seconds)) {
    facts.secondsBeside = each.handedOn;
    facts.secondsBesideRead = each.brought;
  }
}

} // namespace tessera::plan
