// Where a plan of the imported program can be written down in the program as its author has it.
#pragma once

#include "lib/plan/DecisiveValues.h"
#include "passes/plan/Annotations.h"
#include "passes/plan/PlanProgram.h"

#include <map>
#include <string_view>

namespace tessera::planning {

// An argument or result of main, or a result of an op by its number after reading.
struct Spot {
  int32_t at;
  unsigned result = 0;
  bool operator==(const Spot &) const = default;
};

// The values of a graph that the author knows: which op of the program as it was read makes each, and
// which of those that it makes (of a function that is called more than once). Its name is the context's.
struct KnownValue {
  std::string_view op;
  int32_t number;
  unsigned result, occurrence;
  auto operator<=>(const KnownValue &) const = default;
};
using KnownValues = std::map<KnownValue, int32_t>;
// `valueAt`: the IR behind the graph's numbers.
KnownValues knownValues(const sharding::PropagationGraph &graph,
                        llvm::function_ref<mlir::Value(int32_t)> valueAt);

struct Places {
  std::vector<plan::AnnotationPlace> places;
  std::vector<Spot> spots; // of each
};

// `knownValues`: of the imported program; `read`: the ops that its locations number.
Places placesOf(const PlanProgram &imported, const KnownValues &knownValues,
                llvm::ArrayRef<mlir::Operation *> read);

// An annotation of the program as it was read.
struct Annotation {
  plan::AnnotationPlace::Kind kind;
  Spot spot;
  sharding::TensorSharding sharding; // closed
};

// Into a copy of the program that was numbered and has no other mesh.
void annotate(mlir::ModuleOp module, const sharding::Mesh &mesh,
              llvm::ArrayRef<Annotation> annotations);

} // namespace tessera::planning
