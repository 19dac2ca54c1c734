// Plans that are compiled beside each other, on two cores. An MLIR context is for one thread, so that the second
// has the program once more, in a context of its own; what is found is the same.
#pragma once

#include "compiler/Road.h"
#include "compiler/plan/Report.h"

namespace tessera::planning {

class Trials {
public:
  // All are kept by reference. `text`: of which `source` was read.
  Trials(const Source &source, llvm::StringRef text, const CompileOptions &options)
      : source(source), text(text), options(options) {}

  // Each by itself, on whichever core is free. The annotated programs of some end with this.
  void run(llvm::ArrayRef<Candidate *> candidates, const TrialWishes &wishes);

private:
  mlir::ModuleOp again(); // null where it can't be read again

  const Source &source;
  llvm::StringRef text;
  const CompileOptions &options;
  std::unique_ptr<Road> road; // of the second core, once it was needed
  mlir::OwningOpRef<mlir::ModuleOp> read;
};

} // namespace tessera::planning
