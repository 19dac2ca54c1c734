// Classes of dimensions that are sharded alike, because the rules of ops tie them: a model's batch,
// its sequence, its residual stream, the hidden dimension of a layer.
//
//   h = x . w      x [b, k]   w [k, n]   h [b, n]
//   y = relu(h)                                       classes  {x.0 h.0 y.0 z.0}  {x.1 w.0}
//   z = y . v      v [n, m]   z [b, m]                         {w.1 h.1 y.1 v.0}  {v.1 z.1}
//
// Splitting the third is Megatron's pair of a column and a row split; no axis can split two of one
// value's. (Shoeybi et al. 2019, Megatron-LM; the classes are those of Alabed et al. 2025, TOAST:
// Fast and scalable auto-partitioning based on principled static analysis, without its conflicts.)
//
// A dimension of several factors belongs to the class of the most major: (b s) of a flattened
// [b, s] is a batch.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// A dimension of a value.
struct ValueDim {
  int32_t value, dim;
  bool operator==(const ValueDim &) const = default;
};

// Which ops tie dimensions.
enum class Ties : uint8_t {
  All,
  Storage, // those that only pass on or change elements in place: what a weight, its gradient and
           // its moments have in common
};

class DimClasses {
public:
  DimClasses(const sharding::PropagationGraph &graph, Ties ties);

  size_t size() const { return members.size(); }
  // Numbered in the order of the graph's values; -1: a dimension of one element.
  int32_t of(int32_t value, int32_t dim) const { return classes[first[value] + dim]; }
  int32_t of(const ValueDim &place) const { return of(place.value, place.dim); }
  // By value; of one that has several such dimensions, the one along which its neighbours that have
  // one are tied to it comes first. Of scores of queries and keys that is the queries': sums along
  // the keys have no other.
  llvm::ArrayRef<ValueDim> places(int32_t number) const { return members[number]; }
  // Into how many shards a dimension can be split without cutting what its class is about: of
  // (b s), the size of b.
  int64_t elements(const ValueDim &place) const { return limits[first[place.value] + place.dim]; }

  // The class that a factor of an op is about; -1: none.
  int32_t ofFactor(const sharding::PropagatedOp &op, const sharding::FactorRule &rule,
                   int32_t factor) const;

private:
  void orderRepeated(const sharding::PropagationGraph &graph);

  std::vector<int32_t> first; // of each value's dimensions
  std::vector<int32_t> classes;
  std::vector<int64_t> limits;
  std::vector<std::vector<ValueDim>> members;
};

// What splitting a class would split, in a step.
struct ClassFacts {
  double work = 0;             // flops of the products, reductions, .. that it splits
  double reduced = 0;          // of it, in ops that would leave partial results
  double permuted = 0;         // of it, in ops whose values cross the borders of shards
  double partialBytes = 0;     // of these partial results, whole
  int32_t arguments = 0;       // of the program that have such a dimension
  int32_t weights = 0;         // of these arguments, that products take as they are
  bool batchesWeights = false; // of such products it is a batch dimension, and weights have it
  bool walked = false;         // a loop takes one element of it after another
  bool twice = false;          // a product has two such dimensions: queries and keys
};

struct ProgramFacts {
  std::vector<ClassFacts> classes;
  double work = 0;
  int32_t arguments = 0;
};

ProgramFacts factsOf(const Program &program, const DimClasses &classes);

// Whether an op contracts two operands: a dot product or a convolution.
bool isProduct(const sharding::PropagatedOp &op, const sharding::FactorRule &rule);

double bytesOf(const sharding::PropagatedValue &value);

} // namespace tessera::plan
