// What one run of a kernel does, counted by the kinds of work that machines do at different speeds.
// Plain data: the kernel's body is counted by passes/codegen/kernel/KernelWork.h, and a machine's
// rates (DeviceRates.h) make seconds of it.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <optional>

namespace tessera::cost {

// Operations on one element, by what they take. All but those one by one are counted in lanes of four
// bytes, an addition of two f64 as two, and in whole vectors of 64 bytes.
enum class ElementClass : uint8_t {
  Arithmetic,  // + * min max compare select, bits, conversions
  Division,    // / sqrt rsqrt
  Exponential, // exp expm1; logistic and tanh divide as well
  Function,    // log sin cos tan pow erf cbrt ..: longer polynomials, and more cases
  OneByOne,    // no vector instructions: integer division; counted in elements
  Narrowed,    // numbers of f32 that become floats of 16 bits
  // Of operations that wait for the one before, and for which nothing else is done: operations times
  // cycles (passes/codegen/kernel/WaitingChains.h).
  Waiting
};
constexpr unsigned elementClasses = 7;

// Sums and other foldings of many elements into one, in lanes of four bytes of their inputs.
enum class Folding : uint8_t {
  Columns,  // the results lie side by side: a vector of them at a time
  Rows,     // the elements that are folded lie side by side
  Stepwise, // by a reducer of several operations
  Chain,    // products that no tiles suit: each addition waits for the one before
  Halves,   // vectors that are folded by halves into one element, each step after the other
  // Rows of scores of which attention takes the largest and the sum, of one strip of keys: each step
  // waits for the one before, and the next row for hardly any.
  Attended
};
constexpr unsigned foldings = 6;

// How elements are found where they do not lie one after the other along the inner loop.
enum class Access : uint8_t {
  Turned,    // by square tiles that are transposed in registers
  Strided,   // each a fixed distance further
  Far,       // the same, and by the time that its neighbour in memory is read its line is lost
  Gathered,  // each where data says
  Sorted,    // moved by a pass of a sort
  Scattered, // read, combined and written where data says
  Pieces     // copied along loops of a few elements: counted in steps, several for each such loop
};
constexpr unsigned accesses = 7;

enum class ProductType : uint8_t { F32, BF16, F64, Other };
constexpr unsigned productTypes = 4;

// `batch` products of m x k and k x n matrices, convolutions among them.
struct Product {
  ProductType type = ProductType::F32;
  double batch = 1, m = 1, n = 1, k = 1;
  double run = 1; // of k, that one loop goes through
  // How an operand that does not lie as the product reads it is copied first, and how often.
  enum Copy : uint8_t { None, Plain, Turned, Computed } a = None, b = None;
  double timesA = 1, timesB = 1;
  double strideOfB = 0;  // bytes between its rows of k, where it is read as it lies; 0: not known
  bool isTurned = false; // its tiles are squares, and its results leave them by columns
  // Of bf16, which are multiplied as f32 but where the processor's own tiles do it: its terms do not
  // go by pairs.
  bool isWidened = false;
  // The same where the processor's own tiles multiply (DeviceRates::tileRows), which read b in
  // pairs of k.
  struct Copies {
    Copy a = None, b = Plain;
    double timesA = 1, timesB = 1;
  };
  Copies byTiles = {};
  // The same where vectors are shorter than 64 bytes: cells are of another size (CellBounds.h), and some
  // operands are copied that are read where they lie otherwise.
  std::optional<Copies> byShortVectors = {};

  double flops() const { return 2 * batch * m * n * k; }
};

// An array that the kernel reads or writes.
struct Touched {
  double bytes = 0;      // each once
  bool inStrips = false; // a few lines here and there, as a product reads its panels
  bool isWritten = false;
  bool pastCaches = false; // is written to memory, and no cache has it then
};

struct KernelWork {
  std::array<double, elementClasses> elements{};
  std::array<double, foldings> folded{};
  std::array<double, accesses> accessed{}; // elements
  llvm::SmallVector<Product, 1> products;
  double libraryFlops = 0; // of functions that are called in place of generated code
  double moved = 0;        // bytes that the inner loops load and store, each time that they do
  double runs = 0;         // that the inner loops begin
  llvm::SmallVector<Touched, 6> arrays; // the kernel's operands, then its results
  double grid = 1;                      // parts that may run on different cores
  double wholeCell = 0; // the share of one that no edge cuts short; 0: all are alike
  double flops = 0;     // floating-point operations: a multiplication and an addition are two
  // Of the work, what is done in the mean of all devices and trips where positions that are known at run time
  // hide some of it, as in a causal ring; one device does all of it in some trip.
  double inMean = 1;

  double &of(ElementClass which) { return elements[static_cast<unsigned>(which)]; }
  double &of(Folding which) { return folded[static_cast<unsigned>(which)]; }
  double &of(Access which) { return accessed[static_cast<unsigned>(which)]; }
  double of(ElementClass which) const { return elements[static_cast<unsigned>(which)]; }
  double of(Folding which) const { return folded[static_cast<unsigned>(which)]; }
  double of(Access which) const { return accessed[static_cast<unsigned>(which)]; }

  double bytes() const;
  KernelWork &operator+=(const KernelWork &other);
  // Of a device that does a part of it, and whose arrays are such parts.
  KernelWork scaled(double part, double partOfArrays) const;
};

} // namespace tessera::cost
