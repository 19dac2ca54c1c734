// What `tessera run` is asked for.
#pragma once

#include "lib/command/Arguments.h"
#include "runtime/comm/exchange/Agreement.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

struct RunOptions {
  std::string program, comm, topology, report, trace, sha256; // comm: "" for none
  std::string inputs, batches, resume, outputs;               // files
  std::string carry, show;                                    // as they were given
  int64_t repeat = 0, every = 1;                              // 0: once, or once for each batch
  size_t profileRows = 0;                                     // of --profile; 0: none is asked for
  double timeLimit = 0;                                       // seconds; 0: none
  bool named = false, quiet = false;

  bool carries() const { return !carry.empty() || !resume.empty(); }
  // What ranks must have alike.
  std::vector<Fact> facts() const;
};

// What is wrong is the arguments' own `wrong`; the rest is read all the same.
RunOptions readOptions(command::Arguments &arguments);

} // namespace tessera::runtime
