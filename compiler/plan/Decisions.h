// What each decision of a plan is worth: the next best, priced with all else decided anew.
#pragma once

#include "compiler/explanation/Decision.h"
#include "compiler/plan/Report.h"
#include "lib/plan/NextBest.h"

#include <map>

namespace tessera::planning {

// Arguments, results and constraints, equal ones of all layers as one. What annotations decide is none, unless
// they are lifted: taken for choices of the plan.
class Decisions {
public:
  // Reads the program; the search that follows does not. `source` and `onMesh` must outlive it.
  Decisions(const Source &source, const OnMesh &onMesh, plan::Assignment folded,
            llvm::ArrayRef<Annotation> annotations, const plan::Options &options, bool lifts);

  // Whether they are those of this plan: of values that lie alike, annotated in the same places.
  bool areOf(const OnMesh &mesh, const plan::Assignment &values,
             llvm::ArrayRef<Annotation> annotations) const;

  // Costliest first. On one core or two, with the same result.
  std::vector<explain::Decision> priced(bool onBothCores) const;

private:
  struct Group {
    std::string what;               // of constraints and results
    std::vector<std::string> names; // of arguments
    llvm::SmallVector<int32_t> values;
    double bytes = 0;
  };

  plan::Program withoutAnnotations() const;
  const plan::Program &program() const { return lifts ? lifted : source.folded.program; }
  void add(std::string key, int32_t whole, std::string what, std::string name);
  void addArguments();
  void addResults();
  void addConstraints();
  std::string usesOf(int32_t value) const;
  explain::Decision decisionOf(const Group &group, const plan::NextBest &next,
                               plan::AssignmentPrices &prices) const;

  const Source &source;
  const OnMesh &onMesh;
  plan::Assignment folded;
  std::vector<Annotation> annotations;
  plan::Options options;
  bool lifts;
  plan::Program lifted;
  std::map<std::string, Group> byKey;
};

} // namespace tessera::planning
