// The ops that compute something for each pair of a query and a key, forward and backward.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::fuse {

// Where each dimension of an op's operand is in its result, -1 where a one is dropped; none for a reshape
// that does more than drop and add ones, and for what moves nothing.
std::optional<llvm::SmallVector<int64_t>> movedDims(mlir::Operation *op);

class ScorePlane {
public:
  // Of the products of pairs, the first is the scores. Readers for which `ignores` holds don't count.
  // Where no exponentials are computed of them nothing is said of dimensions.
  ScorePlane(
      mlir::Block &block, stablehlo::DotGeneralOp scores,
      llvm::function_ref<bool(mlir::Operation *)> ignores = [](auto *) { return false; });

  // A dimension by what it is in all of the plane's values; none for one of a single element. One that
  // a reshape made of several, as of keys' heads and the queries' that share them, has a number too.
  static constexpr int none = -1;
  using Dims = llvm::SmallVector<int, 6>;
  const Dims *dimsOf(mlir::Value value) const;
  Dims partsOf(llvm::ArrayRef<int> dims) const; // without such ones
  bool areKeys(llvm::ArrayRef<int> dims) const; // whether these are the keys
  bool isKey(int dim) const;
  // The others, ascending.
  Dims rowDims() const;
  int64_t sizeOf(int dim) const { return sizes[dim]; }
  int rank() const { return static_cast<int>(sizes.size()); }

  // Whether exponentials are computed of the scores alone; and sums over keys, or a gradient of them.
  bool hasExponentials() const;
  // Whether a product beside the scores is in what computes the value.
  bool isOfGradient(mlir::Value value) const;

  struct Consumer {
    stablehlo::DotGeneralOp product;
    unsigned side; // the operand that is of pairs
    bool isOfRows; // a sum over keys
    bool isOfGradient;
    mlir::Value factor() const { return stablehlo::DotGeneralOp(product)->getOperand(side); }
  };

  mlir::Block &block;
  int64_t elements;
  llvm::SmallVector<stablehlo::DotGeneralOp, 2> products;
  llvm::SetVector<mlir::Operation *> ops;      // computed of the products, those among them
  llvm::SmallVector<stablehlo::ReduceOp> sums; // over keys
  std::vector<Consumer> consumers;
  // What reads a value of pairs and is none of these; the first one found.
  mlir::Operation *other = nullptr;

private:
  mlir::Operation *inBlock(mlir::Value value) const;
  bool isOfPairs(mlir::Value value) const;
  void collect(llvm::function_ref<bool(mlir::Operation *)> ignores);
  void collectOperands(mlir::Operation *op, llvm::DenseSet<mlir::Operation *> &seen);
  void findDims();
  bool relate(mlir::Operation *op);
  bool setDims(mlir::Value value, Dims dims);
  std::optional<Dims> reshaped(llvm::ArrayRef<int> dims, llvm::ArrayRef<int64_t> shape);
  void findKeys();
  Dims keysOfExponentials() const;
  void classify();

  llvm::DenseMap<mlir::Value, Dims> dims;
  llvm::SmallVector<int64_t> sizes;
  static constexpr int firstMerged = 1 << 10;
  std::vector<Dims> merged; // the parts of the dimension firstMerged + i
  llvm::SmallVector<int> keys;
};

} // namespace tessera::fuse
