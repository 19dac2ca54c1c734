// What reshards cost, asked for often: tables of prices between two lists of shardings.
//
// Where shards are even, the price of a reshard depends on which axes leave and enter which
// dimension and on the tensor's bytes alone, not on its sizes: [{x}, {}] -> [{}, {x}] of f32[64,64]
// costs what [{}, {x}] -> [{x}, {}] of f32[16,256] does. Where at most two axes move, searches for a
// few numbers of bytes find the steps of such a pattern (lib/sharding/ReshardSearch.h), otherwise
// DirectSteps.h has them; for any other number of bytes the best of these steps are priced, at powers
// of four, and between them prices are interpolated, which is exact where the same steps are best at
// both ends.
#pragma once

#include "lib/plan/DirectSteps.h"
#include "lib/plan/Layouts.h"
#include "lib/sharding/ReshardSearch.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tessera::plan {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// Row-major: one row for each sharding of one list, one column for each of another.
struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<double> at;
  double operator()(size_t row, size_t column) const { return at[row * columns + column]; }
  double &operator()(size_t row, size_t column) { return at[row * columns + column]; }
};

// What else it matters for that a value moves.
struct Moving {
  bool inKernel = false;    // it divides a kernel (ValueFacts)
  double secondsBeside = 0; // of computing that can go on meanwhile
  double together = 1;      // that travel in one message with it
};

// What of a step's parts counts how much: a search is for the least sum.
struct Weights {
  double computing = 1;
  double hidden = 1; // of communication, what computing beside it is long enough for
  // The first reader of a copy waits for what does not hide beside its own way; else that is taken to hide as
  // well as on the way to the reader that leaves most time.
  bool firstWaits = false;
};

// What moving a value takes: waited for in any case, and hidden behind computing where there is enough.
struct MovingTime {
  double exposed = 0, hidden = 0;
};

class ReshardPrices {
public:
  // All are kept by reference.
  ReshardPrices(const LayoutLists &lists, sharding::ReshardPlanner &planner, const Weights &weights)
      : lists(lists), planner(planner), weights(weights) {}

  // Seconds from each sharding of `from` to each of `to`. Impossible where a value would become
  // partial. Where shards are not even, of the tensor with as much padding as makes them so.
  const Matrix &between(int32_t from, int32_t to, llvm::ArrayRef<int64_t> shape,
                        int64_t elementBytes, const Moving &moving = {});

  // That of one, as `between` has it where nothing is hidden.
  double estimate(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                  const sharding::TensorSharding &from, const sharding::TensorSharding &to);

  // That of one, as the search for its steps has it; never less than `between` has.
  double seconds(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                 const sharding::TensorSharding &from, const sharding::TensorSharding &to,
                 const Moving &moving = {});
  // Of what that is made, whatever the weights are.
  MovingTime timeOf(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                    const sharding::TensorSharding &from, const sharding::TensorSharding &to,
                    const Moving &moving = {});

  // Matrices are made anew: by weights that changed.
  void forgetMatrices() { matrices.clear(); }

private:
  // `cores`: of these seconds, what devices do for it themselves.
  struct Price {
    double seconds = 0, cores = 0;
  };

  // The best steps for one number of bytes.
  struct Anchor {
    double bytes = 0, seconds = 0;
    std::vector<RelativeStep> steps;
    bool scales = true; // these steps are priced for any number of bytes
  };

  // The price of one pattern by the logarithm of bytes.
  struct Curve {
    sharding::TensorSharding from, to; // of the dimensions that take part
    llvm::SmallVector<int64_t, 4> sizes;
    bool direct = false;           // its steps are those of DirectSteps.h
    std::map<int, Anchor> anchors; // by exponent of 4
    // Likewise: bytes, and what they take; 0: not asked for yet.
    std::vector<std::pair<double, Price>> points;
  };

  int32_t patternOf(const sharding::TensorSharding &from, const sharding::TensorSharding &to);
  const std::vector<int32_t> &patterns(int32_t from, int32_t to);
  bool isEven(int32_t list, llvm::ArrayRef<int64_t> shape) const;
  const Anchor &anchor(Curve &curve, int exponent);
  Price priced(const Anchor &anchor, double bytes) const;
  std::pair<double, Price> point(Curve &curve, int exponent);
  Price price(int32_t pattern, double bytes);
  // Writing what moves, and reading what arrives.
  double dividing(double bytes, const sharding::TensorSharding &from,
                  const sharding::TensorSharding &to) const;

  static Price shared(const Price &price, const Moving &moving) {
    return {price.seconds / moving.together, price.cores / moving.together};
  }
  static MovingTime divided(const Price &price, const Moving &moving) {
    double hidden = std::clamp(price.seconds - price.cores, 0.0, moving.secondsBeside);
    return {price.seconds - hidden, hidden};
  }

  double weighted(const MovingTime &time) const {
    return time.exposed + weights.hidden * time.hidden;
  }

  const LayoutLists &lists;
  sharding::ReshardPlanner &planner;
  const Weights &weights;
  std::vector<Curve> curves;
  std::unordered_map<std::string, int32_t> numbers;
  std::string text, patternKey;                    // of the pattern that is asked for
  llvm::DenseMap<uint64_t, int32_t> patternByPair; // by the numbers of two shardings
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> patternTables;
  std::unordered_map<std::string, Matrix> matrices;
};

} // namespace tessera::plan
