// One class of inputs: how the k-th is made, and how it ended.
#pragma once

#include "test/tools/fuzz-files/Random.h"
#include <string>

namespace tessera::fuzz {

enum class End {
  Refused, // one clear error
  Loaded,  // it was not run: it is too large, or what is native was changed
  Ran,
  Failed, // while it ran, with one clear error: devices that wait for each other, the time limit
  Bad,    // what should not be
};

struct Outcome {
  End end = End::Refused;
  std::string text; // the error, or what is bad
};

class Inputs {
public:
  virtual ~Inputs() = default;
  // Whether what is mutated is good itself; otherwise what is wrong with it.
  virtual std::string checkSeeds() = 0;
  // The same for the same random numbers.
  virtual std::string make(Random &random) = 0;
  // Of what `make` just made.
  virtual Outcome run(const std::string &input) = 0;
};

} // namespace tessera::fuzz
