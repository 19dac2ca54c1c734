// What `tessera explain` says of a program, as plain data: every sharding and every collective with
// its reason; and the forms in which a person reads it.
#pragma once

#include "compiler/explanation/Decision.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::explain {

// One frame of the call stack that wrote an op.
struct Frame {
  std::string function, file; // either may be empty
  int64_t line = 0;
};

struct Value {
  std::string name;     // as in the text that was read: "%12", "%19#1"; of arguments their own name
  std::string op;       // "dot_general", "argument", "reshard"
  std::string type;     // "tensor<8x16xf32>"
  std::string sharding; // "[{\"x\"}, {}]", "unreduced" axes included
  std::string scope;    // "jit(step)/while/body"
  std::vector<Frame> frames;          // outermost first
  std::vector<std::string> origins;   // one an axis: "\"x\" from argument 0, through 3 ops"
  std::vector<std::string> conflicts; // of the op that makes it
  std::vector<int32_t> operands;      // indices of values
};

struct Collective {
  std::string kind, axes;                      // "all-reduce", "data,model"
  std::optional<int64_t> trips;                // none where data decides
  int64_t count = 0, bytes = 0, wireBytes = 0; // as in the compile report
  double seconds = 0;                          // predicted, of all its executions
  std::string location;
  int32_t value = -1; // the value that it moves, or -1
  std::string cause;
};

// A change of the program that was compiled, and what it brings.
struct Mend {
  std::string text;            // as a person would write it
  double seconds = 0;          // that a step takes less
  double wireBytes = 0;        // that a device sends more
  double flops = 0, bytes = 0; // that it computes and holds more
};

// What costs time for one reason, in however many layers: collectives of one kind along the same axes
// from one place of the source, or what is computed more than once.
struct Group {
  std::string what, place,
      scope;         // "all-gather over model", "model.py:7 in layer", "jit(step)/layer"
  std::string cause; // of the dearest
  double seconds = 0;
  int64_t wireBytes = 0;
  std::vector<int32_t> collectives; // none: it is computing
  int32_t value = -1;               // the dearest one's
  std::vector<Mend> mends;          // what brings most first
};

// Bytes that a device holds while it works on the instructions of one place.
struct Held {
  std::string place; // of the source
  int64_t bytes = 0;
};
struct AtPeak {
  std::string name, place;
  int64_t bytes = 0;
};

// A program of which a device holds less, as values are computed again.
struct LessMemory {
  int64_t bytes = 0; // what `--memory` has to allow
  double seconds = 0;
  int computedAgain = 0; // values
};

struct Memory {
  int64_t arguments = 0, outputs = 0, arena = 0;
  int64_t hostArguments = 0, hostOutputs = 0, hostArena = 0; // of the host's memory
  // From the program as it is to the one that needs least: each holds less than the one before, and
  // takes longer. Empty where it was not asked for.
  std::vector<LessMemory> frontier;
  std::vector<Held> overStep; // of results and the arena, in the order of execution
  std::vector<AtPeak> atPeak; // largest first
};

struct Explanation {
  std::string name, mesh, topology; // "mesh @mesh: data=4, model=2"
  int64_t devices = 1;
  // Predicted seconds of a step; `exposed`: of the communication, what the device waits for.
  double seconds = 0, compute = 0, communication = 0, exposed = 0, overhead = 0;
  std::vector<std::pair<std::string, double>> byKind; // of the computing: "products", ..
  double flops = 0;                                   // a device's
  double evenFlops = 0; // of the program as it was read, divided by the devices
  std::vector<Value> values;
  std::vector<Collective> collectives; // most time first
  std::vector<Group> groups;           // what can be mended first, by what it brings; then by time
  int tried = 0;                       // changes that were compiled
  int untried = 0;                     // others that could have been
  Memory memory;
  std::vector<Decision> decisions; // of the plan, costliest first; empty where there is none
};

// The innermost frame of the user's own: not of an installed package. Null without frames.
const Frame *userFrame(llvm::ArrayRef<Frame> frames);
// "model.py:7 in layer" of that frame, and the line that calls it; "" without one.
std::string whereText(llvm::ArrayRef<Frame> frames);
// "file:line" of that frame; "" without one.
std::string placeText(llvm::ArrayRef<Frame> frames);
std::string placeOf(const Value &value);

// The whole program: sums, and the ten groups that are worth most. With `all`: every group, every
// collective with its cause, conflicts, and a table of all shardings.
std::string programText(const Explanation &explanation, bool all);

// What a device holds over a step, and what is there at the peak.
std::string memoryText(const Explanation &explanation);

// All that is known of the values whose name (with or without `%`), whose scope, or whose last parts
// of it, are `name`; empty when there is none.
std::string valueText(const Explanation &explanation, llvm::StringRef name);

// All values that a line of the user's source made, in any frame, with what they cause; `file` may
// leave out leading directories. Empty when there is none.
std::string lineText(const Explanation &explanation, llvm::StringRef file, int64_t line);

// One self-contained page of HTML: docs/explain.md.
std::string pageText(const Explanation &explanation);

} // namespace tessera::explain
