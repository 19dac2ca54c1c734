// What people call the classes of a program's dimensions: batch, sequence, experts, ..
#pragma once

#include "lib/plan/DimClasses.h"

namespace tessera::plan {

// A class of dimensions along which the program's data, and no weight, is split.
struct DataClass {
  enum class Kind : uint8_t {
    Batch,
    Context, // sequences, whose elements see each other
    Spatial, // images, whose borders do
  };
  int32_t number;
  Kind kind;
};

class DimRoles {
public:
  explicit DimRoles(const Program &program);

  const DimClasses &all() const { return allClasses; }
  const DimClasses &storage() const { return storageClasses; }

  // Those that split most of the work, the best first; two at most.
  llvm::ArrayRef<DataClass> data() const { return dataClasses; }
  // Arguments without a dimension of the best data class, and with one at all: weights and
  // optimizer state. By value, the largest first.
  llvm::ArrayRef<int32_t> state() const { return stateValues; }
  // Of the state, what only updates use: an optimizer's moments.
  bool isMoment(int32_t value) const { return llvm::is_contained(momentValues, value); }
  // For each value of the graph: whether it is a weight, what is made of weights alone, or a result
  // that takes a weight's place.
  const std::vector<bool> &weightSide() const { return ofWeights; }
  // Whether a loop takes one element of a dimension after another, as of stacked layers.
  bool isWalked(const ValueDim &place) const {
    int32_t number = allClasses.of(place);
    return number >= 0 && facts.classes[number].walked;
  }

  // The classes of weights that together split the most work over `shards` at the least
  // communication, no two in one weight: hidden layers, heads, vocabulary.
  std::vector<int32_t> tensorClasses(int64_t shards) const;
  // Storage classes of what experts compute: a batch dimension that their weights have as well.
  llvm::ArrayRef<int32_t> experts() const { return expertClasses; }
  // Storage classes of the rows of tables that are looked up.
  llvm::ArrayRef<int32_t> rows() const { return rowClasses; }

private:
  void findData();
  void findState();
  void findMoments();
  void findWeightResults();
  void findExpertsAndRows();

  const Program &program;
  DimClasses allClasses, storageClasses;
  ProgramFacts facts;
  std::vector<DataClass> dataClasses;
  std::vector<bool> ofWeights;
  std::vector<int32_t> stateValues, momentValues, expertClasses, rowClasses;
};

} // namespace tessera::plan
