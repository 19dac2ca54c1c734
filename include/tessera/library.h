// Kernels that the runtime brings instead of the compiled program: Fourier transforms,
// factorisations, LAPACK. A program.Kernel names one and gives it numbers; what those mean, and how
// much scratch a call takes, stands here for the compiler that writes them and the runtime that
// reads them. Every kernel computes `batch` problems of one shape; each is independent of the
// others, and a grid divides them evenly: cell c of what is computed together has
// [c units / grid, (c + 1) units / grid). Arrays lie as program.Dispatch's operands do: inputs, then outputs, row-major.
#ifndef TESSERA_LIBRARY_H
#define TESSERA_LIBRARY_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::library {

enum class Element : int64_t { F32, F64, C64, C128 };

inline bool isComplex(Element element) { return element >= Element::C64; }
inline bool isDouble(Element element) {
  return element == Element::F64 || element == Element::C128;
}
inline int64_t realBytes(Element element) { return isDouble(element) ? 8 : 4; }
inline int64_t bytesOf(Element element) {
  return realBytes(element) * (isComplex(element) ? 2 : 1);
}

// Whether an array of so many elements, along some dimensions, can be: at most 64 TiB.
inline bool canBe(std::initializer_list<int64_t> sizes) {
  double bytes = sizeof(double) * 2;
  for (int64_t size : sizes)
    bytes *= static_cast<double>(size);
  return bytes <= static_cast<double>(int64_t{1} << 46);
}

// What a program.Kernel says: its library's name and the numbers.
struct Call {
  std::string name;
  std::vector<int64_t> numbers;
};

// Problems of one shape are divided over so many cells.
inline int64_t gridOf(int64_t batch) { return std::clamp<int64_t>(batch, 1, 1024); }

//===------------------------------------ fft -----------------------------------===//

// "fft": kind, isDouble, batch, then 1 to 3 lengths. One input, one output; the last length is that
// of the real side of RFFT and IRFFT.
struct Fft {
  enum Kind : int64_t { Forward, Inverse, RealForward, RealInverse }; // FFT IFFT RFFT IRFFT
  int64_t kind = Forward, isDouble = 0, batch = 1;
  std::vector<int64_t> lengths;

  Call call() const {
    Call call{"fft", {kind, isDouble, batch}};
    call.numbers.insert(call.numbers.end(), lengths.begin(), lengths.end());
    return call;
  }
  static bool read(const std::vector<int64_t> &numbers, Fft &fft) {
    if (numbers.size() < 4 || numbers.size() > 6)
      return false;
    fft = {numbers[0], numbers[1], numbers[2], {numbers.begin() + 3, numbers.end()}};
    bool positive = fft.batch > 0;
    for (int64_t length : fft.lengths)
      positive &= length > 0 && length < (int64_t{1} << 40);
    int64_t last = fft.lengths.back(), second = fft.lengths.size() > 1 ? fft.lengths[0] : 1,
            third = fft.lengths.size() > 2 ? fft.lengths[1] : 1;
    return positive && canBe({fft.batch, last, second, third}) && fft.kind >= Forward &&
           fft.kind <= RealInverse;
  }
  // Complex numbers along the last dimension of the side that is complex.
  int64_t half() const { return kind >= RealForward ? lengths.back() / 2 + 1 : lengths.back(); }
  int64_t outer() const { // of all dimensions but the last
    int64_t product = 1;
    for (size_t d = 0; d + 1 < lengths.size(); ++d)
      product *= lengths[d];
    return product;
  }
  int64_t realSize() const { return outer() * lengths.back() * (isDouble ? 8 : 4); }
  int64_t complexSize() const { return outer() * half() * (isDouble ? 16 : 8); }
  int64_t inputBytes() const { return kind == RealForward ? realSize() : complexSize(); }
  int64_t outputBytes() const { return kind == RealInverse ? realSize() : complexSize(); }

  // Lines whose length has a prime factor above this one are transformed as a convolution
  // (Bluestein 1970, "A linear filtering approach to the computation of discrete Fourier
  // transform").
  static constexpr int64_t kLargestRadix = 31;
  static int64_t largeFactor(int64_t n) { // what is left without the small prime factors
    for (int64_t p = 2; p <= kLargestRadix; ++p)
      while (n % p == 0)
        n /= p;
    return n;
  }
  static int64_t convolutionLength(int64_t n) {
    int64_t length = 1;
    while (length < 2 * n - 1)
      length *= 2;
    return length;
  }
  // Points of the complex transform that a line is: real ones of an even length are one of half.
  static int64_t pointsOf(int64_t length, bool isReal) {
    return isReal && length % 2 == 0 ? length / 2 : length;
  }
  // Short lines are transformed together, one in a lane of a vector each. A long one is a matrix,
  // of which columns, and then rows, are in the lanes (Bailey 1990, "FFTs in external or
  // hierarchical memory"). Lines across memory are together up to a larger length: lines of the
  // cache hold elements of several.
  static constexpr int64_t kLanes = 8;
  static bool isTogether(int64_t points, bool isAcross) {
    if (largeFactor(points) != 1)
      return convolutionLength(points) < 1024;
    return points < (isAcross ? 8192 : 1024);
  }
  // Rows of the matrix that a long line is: a divisor near the square root, of whole vectors if
  // one of the two is.
  static int64_t splitRows(int64_t points) {
    int64_t rows = 1;
    for (int64_t d = 1; d * d <= points; ++d)
      if (points % d == 0)
        rows = d;
    return rows % kLanes == 0 && points / rows % kLanes != 0 ? rows : points / rows;
  }
  // Complex doubles, in places of whole vectors.
  static int64_t vectors(int64_t numbers) { return (numbers + kLanes - 1) / kLanes * kLanes; }
  static int64_t lineBuffer(int64_t points) { return vectors(points + 1) + kLanes; }
  static int64_t splitWork(int64_t points) {
    int64_t rows = splitRows(points), columns = points / rows;
    return vectors(rows) * vectors(columns) + 2 * kLanes * std::max(rows, columns);
  }
  // Complex doubles that transforms of lines work in.
  static int64_t lineWork(int64_t points, bool isAcross) {
    bool isDirect = largeFactor(points) == 1;
    int64_t inner = isDirect ? points : convolutionLength(points);
    if (isTogether(points, isAcross))
      return 2 * kLanes * (inner + 1);
    return lineBuffer(points) + splitWork(inner) + (isDirect ? 0 : lineBuffer(inner));
  }
  bool isReal(size_t dimension) const {
    return kind >= RealForward && dimension + 1 == lengths.size();
  }
  int64_t points(size_t dimension) const { return pointsOf(lengths[dimension], isReal(dimension)); }
  int64_t scratchBytes() const {
    int64_t line = 0;
    for (size_t d = 0; d < lengths.size(); ++d)
      line = std::max(line, lineWork(points(d), d + 1 < lengths.size()));
    // Several dimensions to real numbers: what lies between them is kept.
    int64_t between = kind == RealInverse && lengths.size() > 1 ? complexSize() : 0;
    return line * 16 + (between + 63) / 64 * 64;
  }
  // Problems that a cell computes together.
  int64_t together() const {
    return lengths.size() == 1 && isTogether(points(0), false) ? kLanes : 1;
  }
  int64_t grid() const { return gridOf((batch + together() - 1) / together()); }
};

//===-------------------------- cholesky, triangular_solve ------------------------===//

// "cholesky": element, batch, n, lower. One input, one output of n x n.
struct Cholesky {
  int64_t element = 0, batch = 1, n = 0, lower = 0;
  Call call() const { return {"cholesky", {element, batch, n, lower}}; }
  static bool read(const std::vector<int64_t> &numbers, Cholesky &call) {
    if (numbers.size() != 4)
      return false;
    call = {numbers[0], numbers[1], numbers[2], numbers[3]};
    return call.element >= 0 && call.element <= 3 && call.batch > 0 && call.n > 0 &&
           call.n < (int64_t{1} << 24) && canBe({call.batch, call.n, call.n});
  }
};

// "triangular_solve": element, batch, rows and columns of b, then flags. Inputs a and b, output as
// b.
struct TriangularSolve {
  enum Transpose : int64_t { None, Plain, Adjoint };
  int64_t element = 0, batch = 1, rows = 0, columns = 0;
  int64_t leftSide = 0, lower = 0, unitDiagonal = 0, transpose = None;
  int64_t order() const { return leftSide ? rows : columns; } // of a
  int64_t sides() const { return leftSide ? columns : rows; } // right-hand sides
  // A cell has panels of right-hand sides, each in a lane of vectors: a line of real parts takes two
  // lines of the cache.
  static constexpr int64_t kPanelBytes = 128;
  int64_t panelSides() const { return kPanelBytes / realBytes(static_cast<Element>(element)); }
  int64_t panels() const { return (sides() + panelSides() - 1) / panelSides(); }
  int64_t scratchBytes() const {
    return order() * kPanelBytes * (isComplex(static_cast<Element>(element)) ? 2 : 1);
  }
  int64_t grid() const { return gridOf(batch * panels()); }
  Call call() const {
    return {"triangular_solve",
            {element, batch, rows, columns, leftSide, lower, unitDiagonal, transpose}};
  }
  static bool read(const std::vector<int64_t> &n, TriangularSolve &call) {
    if (n.size() != 8)
      return false;
    call = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]};
    return call.element >= 0 && call.element <= 3 && call.batch > 0 && call.rows > 0 &&
           call.columns > 0 && call.rows < (int64_t{1} << 24) &&
           call.columns < (int64_t{1} << 24) && canBe({call.batch, call.rows, call.columns}) &&
           canBe({call.batch, call.order(), call.order()}) && call.transpose >= None &&
           call.transpose <= Adjoint;
  }
};

//===------------------------------------ LAPACK ----------------------------------===//

// What an operand or work array of a function holds for one problem.
struct LapackArray {
  enum Kind { Own, Real, Complex, Integer }; // the function's element type, its real or complex one
  Kind kind;
  int64_t count;
};

// "lapack.<function>" (getrf, syevd, ..: the real ones' names, without the letter of the type):
// element, batch, m, n, k, then the function's flags. Matrices lie column by column, m x n. The
// operands are those of the targets that XLA's foreign functions have on CPUs: arrays that LAPACK
// works on in place are an input and an output. Arrays without elements are not passed.
struct Lapack {
  std::string function;
  Element element = Element::F32;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::vector<int64_t> flags; // as many as the function takes: characters, switches, numbers
  std::vector<LapackArray> inputs, outputs, work;

  Call call() const {
    Call call{"lapack." + function, {static_cast<int64_t>(element), batch, m, n, k}};
    call.numbers.insert(call.numbers.end(), flags.begin(), flags.end());
    return call;
  }
  static bool read(const Call &call, Lapack &lapack) {
    if (call.name.rfind("lapack.", 0) != 0 || call.numbers.size() < 5)
      return false;
    lapack.function = call.name.substr(7);
    const std::vector<int64_t> &n = call.numbers;
    if (n[0] < 0 || n[0] > 3 || n[1] < 1)
      return false;
    for (size_t i = 1; i < 5; ++i)
      if (n[i] < 0 || n[i] > (int64_t{1} << 30))
        return false;
    lapack.element = static_cast<Element>(n[0]);
    lapack.batch = n[1];
    lapack.m = n[2];
    lapack.n = n[3];
    lapack.k = n[4];
    lapack.flags.assign(n.begin() + 5, n.end());
    return lapack.describe() && lapack.isSound();
  }

  // Whether LAPACK takes the numbers: it ends the process where it does not, or writes past arrays.
  // Sizes of work arrays are 32-bit integers there.
  bool isSound() const {
    for (const auto *arrays : {&inputs, &outputs, &work})
      for (const LapackArray &array : *arrays)
        if (array.count < 0 || !canBe({batch, array.count}) ||
            (arrays == &work && array.count > INT32_MAX))
          return false;
    auto isOneOf = [&](size_t flag, std::string_view letters) {
      return flags[flag] > 0 && flags[flag] < 128 &&
             letters.find(static_cast<char>(flags[flag])) != letters.npos;
    };
    int64_t least = std::min(m, n);
    if (least < 1)
      return false;
    if (function == "potrf" || function == "sytrd")
      return isOneOf(0, "LU");
    if (function == "trsm")
      return isOneOf(0, "LR") && isOneOf(1, "LU") && isOneOf(2, "NTC") && isOneOf(3, "NU") &&
             k == (flags[0] == 'L' ? m : n);
    if (function == "orgqr")
      return m >= n && n >= k;
    if (function == "ormqr")
      return (flags[0] ? m : n) >= k;
    if (function == "gesdd" || function == "gesvd")
      return isOneOf(0, "N") || (isOneOf(0, "A") && flags[1] == m * m && flags[2] == n * n) ||
             (isOneOf(0, "S") && flags[1] == m * least && flags[2] == least * n);
    if (function == "syevd")
      return isOneOf(0, "NV") && isOneOf(1, "LU");
    if (function == "geev")
      return isOneOf(0, "NV") && isOneOf(1, "NV");
    if (function == "gees")
      return isOneOf(0, "NV");
    if (function == "gehrd")
      return flags[0] >= 1 && flags[0] <= n && flags[1] >= flags[0] && flags[1] <= n;
    return true;
  }

  // Fills in the arrays; false where there is no such function with so many flags.
  bool describe() {
    using A = LapackArray;
    inputs.clear();
    outputs.clear();
    work.clear();
    bool isComplex = library::isComplex(element);
    int64_t least = std::min(m, n), most = std::max(m, n), square = n * n;
    constexpr int64_t block = 32, extra = 4160; // columns at a time; triangular factors of a block
    auto arrays = [&](size_t flagCount, std::vector<A> in, std::vector<A> out,
                      std::vector<A> scratch) {
      inputs = std::move(in);
      outputs = std::move(out);
      work = std::move(scratch);
      return flags.size() == flagCount;
    };
    A a{A::Own, m * n}, info{A::Integer, 1};
    if (function == "potrf") // uplo
      return arrays(1, {a}, {a, info}, {});
    if (function == "getrf")
      return arrays(0, {a}, {a, {A::Integer, least}, info}, {});
    if (function == "trsm") // side, uplo, transpose, diagonal
      return arrays(4, {{A::Own, k * k}, a}, {a}, {});
    if (function == "geqrf")
      return arrays(0, {a}, {a, {A::Own, least}}, {{A::Own, n * block}});
    if (function == "geqp3")
      return arrays(0, {a, {A::Integer, n}}, {a, {A::Integer, n}, {A::Own, least}},
                    {{A::Own, 2 * n + (n + 1) * block}, {A::Real, 2 * n}});
    if (function == "orgqr") // k reflectors
      return arrays(0, {a, {A::Own, k}}, {a}, {{A::Own, n * block}});
    if (function == "ormqr") { // left, transpose
      bool left = !flags.empty() && flags[0];
      int64_t rows = left ? m : n, others = left ? n : m;
      return arrays(2, {{A::Own, rows * k}, {A::Own, k}, a}, {a},
                    {{A::Own, others * block + extra}});
    }
    if (function == "gesdd" || function == "gesvd") { // mode, elements of u and of vt
      if (flags.size() != 3 || flags[1] < 0 || flags[2] < 0)
        return false;
      int64_t reals =
          std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least);
      int64_t own = isComplex ? least * least + 4 * least + most + block * (m + n)
                              : 4 * least * least + 10 * least + most + block * (m + n);
      return arrays(3, {a}, {a, {A::Real, least}, {A::Own, flags[1]}, {A::Own, flags[2]}, info},
                    {{A::Own, own}, {A::Real, isComplex ? reals : 0}, {A::Integer, 8 * least}});
    }
    if (m != n)
      return false;
    if (function == "syevd") // mode, uplo
      return arrays(
          2, {a}, {a, {A::Real, n}, info},
          {{A::Own, isComplex ? 2 * n + square + block * n : 1 + 6 * n + 2 * square + block * n},
           {A::Real, isComplex ? 1 + 5 * n + 2 * square : 0},
           {A::Integer, 3 + 5 * n}});
    if (function == "geev") { // left, right
      A vectors{A::Complex, square};
      if (isComplex)
        return arrays(2, {a}, {{A::Own, n}, vectors, vectors, info},
                      {{A::Own, square}, {A::Own, (2 + block) * n}, {A::Real, 2 * n}});
      return arrays(
          2, {a}, {{A::Real, n}, {A::Real, n}, vectors, vectors, info},
          {{A::Own, square}, {A::Own, (4 + block) * n}, {A::Own, square}, {A::Own, square}});
    }
    if (function == "gees") { // mode, sort
      if (isComplex)
        return arrays(2, {a}, {a, a, {A::Own, n}, info, info},
                      {{A::Own, (2 + block) * n}, {A::Real, n}});
      return arrays(2, {a}, {a, a, {A::Real, n}, {A::Real, n}, info, info},
                    {{A::Own, (3 + block) * n}});
    }
    if (function == "gehrd") // low, high
      return arrays(2, {a}, {a, {A::Own, n - 1}, info}, {{A::Own, n * block + extra}});
    if (function == "sytrd") // uplo
      return arrays(1, {a}, {a, {A::Real, n}, {A::Real, n - 1}, {A::Own, n - 1}, info},
                    {{A::Own, n * block}});
    if (function == "gtsv") { // k right-hand sides
      A line{A::Own, n}, b{A::Own, n * k};
      return arrays(0, {line, line, line, b}, {line, line, line, b, info}, {});
    }
    return false;
  }

  int64_t bytesOf(const LapackArray &array) const {
    int64_t real = realBytes(element);
    int64_t each = array.kind == LapackArray::Own       ? library::bytesOf(element)
                   : array.kind == LapackArray::Real    ? real
                   : array.kind == LapackArray::Complex ? 2 * real
                                                        : 4;
    return array.count * each;
  }
  int64_t scratchBytes() const {
    int64_t bytes = 0;
    for (const LapackArray &array : work)
      bytes += (bytesOf(array) + 63) / 64 * 64;
    return bytes;
  }
};

//===------------------------------------ products ---------------------------------===//

// What NVIDIA's cuBLASLt may compute in the place of a kernel of a GPU's code, where the program was
// compiled so (--target=cuda:sm_90a+cublaslt), of matrices in `batch` problems:
//
//   d[m, n] = f(sum over k of x[m, k] y[k, n]  +  c[m, n]  +  bias[n])
//
// Sums are in F32 (of F64 factors in F64); c, the bias and d are of the result's type.
struct Product {
  enum Type : int64_t { F32, F64, BF16, F16 };
  enum Function : int64_t { None, Relu, Gelu }; // the last by tanh
  // An operand of the kernel, by its number; below 0 there is none. Elements from one to the next.
  struct Matrix {
    int64_t operand = -1, perBatch = 0, perRow = 0, perColumn = 0;
    bool isRowMajor() const { return perColumn == 1; }
    // From one row (of column-major ones: column) to the next.
    int64_t pitch() const { return isRowMajor() ? perRow : perColumn; }
    int64_t elements(int64_t batch, int64_t rows, int64_t columns) const {
      return (batch - 1) * perBatch + (rows - 1) * perRow + (columns - 1) * perColumn + 1;
    }
  };
  int64_t factors = F32, result = F32, function = None;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Matrix x, y, c, d;
  int64_t bias = -1; // its operand

  static int64_t bytesOf(int64_t type) { return type == F64 ? 8 : type == F32 ? 4 : 2; }
  int64_t flops() const { return 2 * batch * m * n * k; }
  // Where parts of sums may lie that the library makes apart: several times the result, and no more
  // than it asks for.
  int64_t workspaceBytes() const {
    return std::min<int64_t>(batch * m * n * 4 * 4, int64_t{32} << 20);
  }

  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {factors, result, function, batch, m, n, k, bias};
    for (const Matrix *matrix : {&x, &y, &c, &d})
      all.insert(all.end(), {matrix->operand, matrix->perBatch, matrix->perRow, matrix->perColumn});
    return all;
  }
  // Whether the numbers are such a product of operands of so many bytes, the last one being written.
  static bool read(const std::vector<int64_t> &numbers, const std::vector<int64_t> &operandBytes,
                   Product &product) {
    constexpr int64_t most = int64_t{1} << 31; // a size that the library takes
    if (numbers.size() != 24)
      return false;
    size_t at = 0;
    for (int64_t *number : {&product.factors, &product.result, &product.function, &product.batch,
                            &product.m, &product.n, &product.k, &product.bias})
      *number = numbers[at++];
    for (Matrix *matrix : {&product.x, &product.y, &product.c, &product.d}) {
      *matrix = {numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]};
      at += 4;
    }
    for (int64_t size : {product.batch, product.m, product.n, product.k})
      if (size < 1 || size >= most)
        return false;
    auto isType = [](int64_t type) { return type >= F32 && type <= F16; };
    if (!isType(product.factors) || !isType(product.result) || product.function < None ||
        product.function > Gelu || !canBe({product.batch, product.m, product.n}))
      return false;
    auto holds = [&](const Matrix &a, int64_t rows, int64_t columns, int64_t type) {
      if (a.operand < 0 || a.operand >= static_cast<int64_t>(operandBytes.size()))
        return false;
      int64_t inner = a.isRowMajor() ? columns : rows, outer = a.isRowMajor() ? rows : columns;
      return (a.isRowMajor() || a.perRow == 1) && a.pitch() >= inner && a.pitch() < most &&
             a.perBatch >= 0 && canBe({product.batch, a.perBatch}) && canBe({a.pitch(), outer}) &&
             a.elements(product.batch, rows, columns) <= operandBytes[a.operand] / bytesOf(type);
    };
    int64_t m = product.m, n = product.n, k = product.k;
    auto written = static_cast<int64_t>(operandBytes.size()) - 1;
    bool isBiasHeld =
        product.bias < 0 ||
        (product.bias < written && operandBytes[product.bias] / bytesOf(product.result) >= n);
    return holds(product.x, m, k, product.factors) && holds(product.y, k, n, product.factors) &&
           (product.c.operand < 0 ||
            (holds(product.c, m, n, product.result) && product.c.isRowMajor() &&
             (product.batch == 1 || product.c.perBatch > 0))) &&
           holds(product.d, m, n, product.result) && product.d.isRowMajor() &&
           product.d.operand == written && product.x.operand < written &&
           product.y.operand < written && product.c.operand < written && isBiasHeld &&
           (product.batch == 1 || product.d.perBatch > 0);
  }
};

} // namespace tessera::library

#endif
