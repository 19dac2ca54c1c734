// Annotations that may make a program move less, tried on a copy of it.
#pragma once

#include "compiler/ExplainModule.h"
#include "passes/reshard/Movement.h"

namespace tessera {

class RemedyTrials {
public:
  // `imported` is a numbered module after import; `now` what its reshards move as it is. At most
  // `limit` different annotations are tried.
  RemedyTrials(mlir::ModuleOp imported, Movement now, int limit)
      : imported(imported), now(now), left(limit) {}

  // What the annotation would save, as a line for a person; none when it saves nothing, cannot be
  // made, or was not tried.
  std::optional<std::string> tryOut(const Remedy &remedy);

private:
  mlir::ModuleOp imported;
  Movement now;
  int left;
};

} // namespace tessera
