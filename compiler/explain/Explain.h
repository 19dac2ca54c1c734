// Why a program is sharded as it is, what that costs, and what would mend it: the explanation behind
// `tessera explain`.
#pragma once

#include "compiler/Compile.h"
#include "compiler/explanation/Explanation.h"

namespace tessera {

struct ExplainWishes {
  bool mends = true;     // changes of the program are compiled, too
  bool frontier = false; // and the program with values computed again, for less memory
};

struct ExplainResult {
  std::string error; // empty on success; otherwise one line that begins with `error:`
  explain::Explanation explanation;
  // The program as it was read, with the change that brings most, or as it was where none was found that
  // saves time; "" where the change can only be said in words.
  std::string mended;
  bool isChanged = false;
};

// Takes the program down the road as `compile` does, without generating code: the figures of its
// collectives are those of the compile report.
ExplainResult explainProgram(llvm::StringRef module, const CompileOptions &options,
                             const CompileListener &listener, ExplainWishes wishes = {});

} // namespace tessera
