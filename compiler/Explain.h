// Why a program is sharded as it is and what that moves: the explanation behind `tessera explain`.
#pragma once

#include "compiler/Compile.h"
#include "compiler/explain/Explanation.h"

namespace tessera {

struct ExplainResult {
  std::string error; // empty on success; otherwise one line that begins with `error:`
  explain::Explanation explanation;
};

// Takes the program down the road as `compile` does, without generating code: the figures of its
// collectives are those of the compile report. For the most expensive of them, annotations that would
// remove them are tried.
ExplainResult explainProgram(llvm::StringRef module, const CompileOptions &options,
                             const CompileListener &listener);

} // namespace tessera
