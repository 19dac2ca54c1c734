// What `tessera explain` says of a program, as plain data: every sharding and every collective with
// its reason; and the forms in which a person reads it.
#pragma once

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
  std::vector<std::string> remedies; // annotations that were tried, with what they would save
};

struct Explanation {
  std::string name, mesh, topology; // "mesh @mesh: data=4, model=2"
  int64_t devices = 1;
  std::vector<Value> values;
  std::vector<Collective> collectives; // most time first
};

// "file:line:column"-like text of the innermost frame; "" without one.
std::string placeOf(const Value &value);

// The whole program: sums, collectives by time with cause and remedy, conflicts, and a table of all
// shardings.
std::string programText(const Explanation &explanation);

// All that is known of the values whose name (with or without `%`), or whose last part of scope, is
// `name`; empty when there is none.
std::string valueText(const Explanation &explanation, llvm::StringRef name);

// All values that a line of the user's source made, in any frame, with what they cause; `file` may
// leave out leading directories. Empty when there is none.
std::string lineText(const Explanation &explanation, llvm::StringRef file, int64_t line);

// One self-contained page of HTML: docs/explain.md.
std::string pageText(const Explanation &explanation);

} // namespace tessera::explain
