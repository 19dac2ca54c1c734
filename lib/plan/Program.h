// A program for which shardings are to be found, as plain data.
//
//   func @main(%x: f32[64,512], %w: f32[512,2048])      values  0 x   1 w   2 h   3 result
//     h = x . w                                          ops     0 dot(0, 1 -> 2)   1 return(2 -> 3)
//
// Values and ops are those of the propagation graph. What an annotation says stands in the graph's
// shardings: closed dimensions hold, open ones may get more axes.
#pragma once

#include "lib/cost/KernelWork.h"
#include "lib/sharding/PropagationGraph.h"

#include <string>

namespace tessera::plan {

// All that a kernel's ops do together, unsharded: either takes as long as the other at most.
struct Kernel {
  double flops = 0;
  double bytes = 0;        // that it reads and writes
  std::string elementType; // of what it multiplies, or else computes
  // Where more is known of the machine than rates of these two: what its code does, and of each of its
  // arrays how many bytes a step touches, unsharded, from the time before to this one.
  bool isCounted = false;
  cost::KernelWork work;
  double given = 0; // bytes of these arrays, touched or not
  std::vector<double> reuse;
};

// What a kernel does for one of its ops.
struct KernelPart {
  int32_t kernel = 0; // of the program's
  double flops = 0;
  llvm::SmallVector<double, 4> reads;  // one an operand: how much of it is read from memory
  llvm::SmallVector<double, 2> writes; // one a result: how much of it is written to memory
};

// One execution of an op in a step, or a loop's rounds of it.
struct Turn {
  int32_t at = 0, ends = 0; // in program order; behind the last op of its kernel
  // The values that it reads: of ops that are folded into one (Folded.h), numbers before that.
  llvm::SmallVector<int32_t, 4> operands;
};

struct OpFacts {
  double times = 1;        // that it is executed in a step: trips of the loops around it
  std::string elementType; // of what it computes ("bf16"): rates differ
  std::string location;    // the user's source line
  // Data flows through it and nothing is computed: a loop's or a branch's edge, a constraint, a
  // return.
  bool moves = false;
  // One an operand: how often it would be brought to this op (once for a loop's rounds where it is
  // made outside), and how much of it the op reads from memory each time: 0 where its kernel has it
  // already, 1 all, less of what is sliced or looked up, more where several kernels contain the op.
  llvm::SmallVector<double, 4> operandTimes;
  llvm::SmallVector<double, 4> reads;
  llvm::SmallVector<double, 2> writes; // one a result: how much of it is written to memory
  // One an operand: whether no op before reads its value, so that it waits longest for it (Beside.h). Empty:
  // nothing is known of it.
  llvm::SmallVector<bool, 4> readsFirst;
  double flops = 0;              // that its kernels do for it, of the whole computation
  bool isProduct = false;        // it decides what its kernel takes
  std::vector<KernelPart> parts; // of the above, by kernel; none: it is no part of any
  double launches = 0;           // of kernels: the ops of one have equal parts of its launch
  std::vector<Turn> turns;       // several where ops are folded into it
  int32_t block = 0;             // in which it stands: a number of Program::blockAround
};

// Ops from and to which a value is held, in program order.
struct Lifetime {
  int32_t first = 0, last = 0;
  bool stored = true; // it has memory of its own: not within a kernel, not another's in place
};

struct ValueFacts : Lifetime {
  double times = 1;      // that it is made in a step
  int32_t argument = -1; // of the program, by number
  int32_t result = -1;
  int32_t donatedTo = -1;       // of an argument: the result that takes its place in the next step
  bool donated = false;         // that result may lie in the argument's memory
  std::vector<Lifetime> others; // of the values that are folded into this one (Folded.h)
  // It never leaves its kernel, unless it is moved: then it is written, and read by another kernel.
  bool inKernel = false;
  // How often ops that have no sharding rule use it, each time whole.
  double wholeTimes = 0;
  // Axes by which the value is divided already where it lies: those of the manual computations
  // around it.
  llvm::SmallVector<std::string, 2> manualAxes;
  int32_t block = 0; // in which it is made
  // Of computing that can go on while it is handed on from where it is made, or brought to where its first
  // reader needs it, and while it is brought to where any reader does (Beside.h).
  double secondsBeside = 0, secondsBesideRead = 0;
  // Scalars that may travel in one message with it, itself included (Together.h).
  double together = 1;
  std::string name; // of an argument or result, as the user knows it
  std::string location;
};

struct Program {
  sharding::PropagationGraph graph;
  std::vector<OpFacts> ops;       // one an op of the graph
  std::vector<ValueFacts> values; // one a value of the graph
  std::vector<Kernel> kernels;
  // Of each op, values that operands of it are made of by ops that the graph has not: those of scalars. The
  // scale of an update reads the norm that it is made of. Empty: no op reads so.
  std::vector<llvm::SmallVector<int32_t, 2>> distantReads;
  // In a step, of kernels that contain none of the ops: what counts a loop's rounds.
  double launches = 0;
  // Of each block of ops (a loop's body) the one around it, which has a lower number; -1: none.
  std::vector<int32_t> blockAround{-1};
};

// What an op reads: operands, and what these are made of beside the graph.
inline llvm::SmallVector<int32_t, 4> readsOf(const Program &program, int32_t op) {
  llvm::ArrayRef<int32_t> operands = program.graph.ops[op].operands;
  llvm::SmallVector<int32_t, 4> reads(operands.begin(), operands.end());
  if (!program.distantReads.empty())
    reads.append(program.distantReads[op]);
  return reads;
}

// The sharding of each value of the graph.
using Assignment = std::vector<sharding::TensorSharding>;

struct Options {
  int64_t memory = 0; // bytes that a device may hold; 0: any
  int effort = 3;     // 1 to 5: how long to search; counted in steps, not seconds
};

struct Plan {
  Assignment values;
  double seconds = 0; // of a step, as the search counts it
  // No assignment of candidate shardings takes less, as the search counts. 0: nothing is known.
  double lowerBound = 0;
  double peakBytes = 0;
};

// A plan of a kind that people know: "data", "fsdp", "tensor", "data x tensor".
struct NamedAssignment {
  std::string kind;
  Assignment values;
};

} // namespace tessera::plan
