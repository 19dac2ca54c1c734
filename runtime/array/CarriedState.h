// Which outputs of a step are the next one's inputs, as its signature tells.
//
// Names are those of trees, as JAX writes them: a root, then the way to the leaf.
//
//   inputs                     outputs
//   state.params['w']          result[0].params['w']     result[0] -> state: the same leaves
//   state.step                 result[0].step
//   batch['x']                 result[1]
#pragma once

#include "runtime/array/ParameterNames.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::runtime {

struct Carried {
  size_t output, input;
};

// Those of one tree, or a single one.
struct CarriedTree {
  std::string from, to; // "result[0]", "state"
  std::vector<Carried> leaves;
};

struct Signature {
  Parameters inputs, outputs;
  std::vector<int64_t> alias; // by output: the input whose buffer it takes; none below 0
};

// An argument's tree goes on from the outputs' tree that has all of its leaves, in its types and
// shapes: the one of its name, or the only one. A single array from the output of its name, or from
// the one that takes its donated buffer, if no other output could. What could be one or the other is
// an error, as is a step in which nothing goes on: the message says what to write instead.
Result<std::vector<CarriedTree>> findCarried(const Signature &signature);

// Those that `list` names, OUT:IN with commas between: numbers (out0:in0), names, or trees
// (result[0]:state), whose leaves then go on each by its way.
Result<std::vector<CarriedTree>> readCarried(std::string_view list, const Signature &signature);

} // namespace tessera::runtime
