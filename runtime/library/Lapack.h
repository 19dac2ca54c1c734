// LAPACK's functions as kernels: the library is opened at run time, so that only programs that call
// it need it.
#pragma once

#include "runtime/library/Library.h"
#include <complex>
#include <cstring>
#include <string>

namespace tessera::runtime {

struct LapackPlan;

// One matrix (or system) of a batch.
struct LapackProblem {
  const LapackPlan &plan;
  void *const *buffers; // of the kernel's operands
  char *scratch;
  int64_t number;

  // Null for arrays without elements.
  template <typename T> T *input(size_t i) const { return static_cast<T *>(operand(i)); }
  template <typename T> T *output(size_t i) const {
    return static_cast<T *>(operand(inputCount() + i));
  }
  template <typename T> T *work(size_t i) const { return reinterpret_cast<T *>(workArray(i)); }
  int workCount(size_t i) const; // elements
  // Output `o` starts as input `i`, which LAPACK overwrites.
  void start(size_t o, size_t i) const;
  void clear(size_t o) const;

private:
  size_t inputCount() const;
  void *operand(size_t i) const;
  char *workArray(size_t i) const;
};

using LapackFunction = void (*)(const LapackProblem &);

struct LapackPlan {
  library::Lapack call;
  LapackFunction run = nullptr;
  void *symbol = nullptr;   // Fortran's function
  std::vector<int> buffers; // of each array, inputs then outputs: its operand, -1 for none
};

// Fortran's function with arguments by reference; each character's length comes last.
template <typename... Arguments> void callFortran(void *symbol, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(symbol)(arguments...);
}

template <typename T> struct RealOf {
  using type = T;
};
template <typename T> struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T> constexpr bool kIsComplex = !std::is_same_v<T, typename RealOf<T>::type>;

// The functions of the families, one for each of LAPACK's four types; null for other names.
LapackFunction factorFunction(const std::string &name, library::Element element); // LU, QR, solves
LapackFunction spectrumFunction(const std::string &name, library::Element element); // eigenvalues

// The instance for an element type of a template of functions.
#define TESSERA_LAPACK_INSTANCE(function, element)                                                 \
  (element == library::Element::F32   ? LapackFunction(function<float>)                            \
   : element == library::Element::F64 ? LapackFunction(function<double>)                           \
   : element == library::Element::C64 ? LapackFunction(function<std::complex<float>>)              \
                                      : LapackFunction(function<std::complex<double>>))

} // namespace tessera::runtime
