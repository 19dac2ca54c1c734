// Shardings that nobody wrote: a program and a machine in, the program with the annotations that make
// it fastest out.
#pragma once

#include "compiler/explain/Explain.h"
#include "lib/command/Arguments.h"

namespace tessera {

// Which devices a plan is for. Of a program with annotations all is known.
struct PlanRequest {
  int64_t devices = 0; // 0: as the mesh says
  std::string mesh;    // "data=2,model=4"; empty: the best one
  int effort = 3;      // 1 to 5

  bool operator==(const PlanRequest &) const = default;
};

// Takes --devices, --mesh and --effort as they are written; what is empty stays as it is. "" or what
// is wrong: "effort=9: must be 1 to 5".
std::string readPlanRequest(llvm::StringRef devices, llvm::StringRef mesh, llvm::StringRef effort,
                            PlanRequest &into);

// --devices, --mesh and --effort of a command that plans with --plan only.
void readPlanArguments(command::Arguments &arguments, bool plans, PlanRequest &into);

struct PlanWishes {
  bool decisions = true; // what other choices would have cost is found out, too
  bool lifts = false;    // of annotations that the program has, too: as if they were not there
  bool all = false;      // and the text has it of every decision, not of ten
};

struct PlanResult {
  std::string error;   // empty on success; otherwise one line that begins with `error:`
  std::string program; // the program as it was read, annotated
  std::string report;  // JSON; see docs/command-line.md
  std::string text;    // the same for people
  std::vector<explain::Decision> decisions;
};

// Plans for options.topology within options.schedule.memory. Keeps no state between calls; the same
// input gives the same plan.
PlanResult planProgram(llvm::StringRef module, const CompileOptions &options,
                       const PlanRequest &request, const CompileListener &listener,
                       PlanWishes wishes = {});

// The program compiled as it is with the plan.
CompileResult compilePlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener);

// The program explained as it is with the plan, and what other choices would have cost; what it has of
// annotations are choices, too.
ExplainResult explainPlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener,
                             ExplainWishes wishes = {});

} // namespace tessera
