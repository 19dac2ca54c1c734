// A program compiled with a change: what a step of it then costs.
#pragma once

#include "compiler/mends/Change.h"
#include "compiler/mends/Sites.h"
#include "lib/cost/StepTime.h"

namespace tessera::mends {

// What one site costs (Sites.h).
struct SiteCost {
  std::string site;
  double seconds = 0;
};

struct Outcome {
  cost::StepTime time;
  double wireBytes = 0;        // that a device sends
  int64_t peakBytes = 0;       // that it holds
  std::vector<SiteCost> sites; // by name, each once
};

// Of a module as the memory phase leaves it.
Outcome outcomeOf(mlir::ModuleOp module, const Sites &sites);

// Programs on trial: `program` as it was read and numbered, or, with `imported`, as import left it.
class Trials {
public:
  Trials(mlir::ModuleOp program, bool imported)
      : program(program), imported(imported), sites(program) {}

  // None where the change has no place, or does not compile.
  std::optional<Outcome> run(llvm::ArrayRef<Edit> edits);
  mlir::ModuleOp getProgram() const { return program; }
  const Sites &getSites() const { return sites; }

private:
  mlir::ModuleOp program;
  bool imported;
  Sites sites;
};

} // namespace tessera::mends
