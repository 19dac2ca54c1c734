// A program for which shardings are to be found, as plain data.
//
//   func @main(%x: f32[64,512], %w: f32[512,2048])      values  0 x   1 w   2 h   3 result
//     h = x . w                                          ops     0 dot(0, 1 -> 2)   1 return(2 -> 3)
//
// Values and ops are those of the propagation graph. What an annotation says stands in the graph's
// shardings: closed dimensions hold, open ones may get more axes.
#pragma once

#include "lib/sharding/PropagationGraph.h"

#include <string>

namespace tessera::plan {

struct OpFacts {
  double times = 1;        // that it is executed in a step: trips of the loops around it
  std::string elementType; // of what it computes ("bf16"): rates differ
  std::string location;    // the user's source line
};

struct ValueFacts {
  double times = 1;      // that it is made in a step
  int32_t argument = -1; // of the program, by number
  int32_t result = -1;
  int32_t donatedTo = -1;      // of an argument: the result that may take its place
  int32_t first = 0, last = 0; // ops between which it is held, in program order
  std::string name;            // of an argument or result, as the user knows it
  std::string location;
};

struct Program {
  sharding::PropagationGraph graph;
  std::vector<OpFacts> ops;       // one an op of the graph
  std::vector<ValueFacts> values; // one a value of the graph
};

// The sharding of each value of the graph.
using Assignment = std::vector<sharding::TensorSharding>;

struct Options {
  int64_t memory = 0; // bytes that a device may hold; 0: any
  int effort = 3;     // 1 to 5: how long to search; counted in steps, not seconds
};

struct Plan {
  Assignment values;
  double seconds = 0;    // of a step, as the search counts it
  double lowerBound = 0; // that no assignment is below, counted so
  double peakBytes = 0;
};

// A plan of a kind that people know: "data", "fsdp", "tensor", "data x tensor".
struct NamedAssignment {
  std::string kind;
  Assignment values;
};

} // namespace tessera::plan
