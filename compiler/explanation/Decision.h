// A decision of a plan: how something lies, and what the next best would have cost. Plain data, and how
// people read it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace tessera::explain {

struct Decision {
  std::string what; // "weights[*]['up'] (4 arguments)", "the result of dot_general at model.py:7"
  std::string spec; // P(None, "model")
  std::string next; // "" where all else takes as long, or nothing else fits into the memory
  std::vector<std::string> asLong; // with which a step takes as long
  // What a step would take more with the next best, and a device hold more (below zero: less).
  double seconds = 0, bytes = 0;
  double fraction = 0; // of the step
  bool isBest = true;  // proven to be the next best; else there may be a better one
  // Of what those seconds are made; below zero: less.
  struct Part {
    std::string kind; // "all-reduce"
    double count = 0, seconds = 0;
    bool operator==(const Part &) const = default;
  };
  double computing = 0;
  std::vector<Part> parts; // largest first
  std::string place;       // around which most more is moved; ""
  bool operator==(const Decision &) const = default;
};

// "next best P("model", None), +12% (0.4 ms): 8 all-reduces more (0.5 ms), 0.1 ms less computing; most
// around model.py:12; P(None, None) takes as long"
std::string otherwiseText(const Decision &decision);

// A line each, the costliest first: all of them, or the ten that matter most.
std::string decisionsText(llvm::ArrayRef<Decision> decisions, bool all);

llvm::json::Array decisionsJson(llvm::ArrayRef<Decision> decisions);

} // namespace tessera::explain
