// A stand-in for libcublasLt.so.13, found through the library path: products of matrices in the memory of
// the emulated GPU, computed by the host as their descriptions say, column by column. What the library's
// documentation doesn't allow is an error that says so, and an algorithm is good for nothing but what it
// was asked for. Sums are exact and rounded once: no processor's order is imitated.
//
//   TESSERA_CUBLASLT_LACKS=1   there is no algorithm for anything
//   TESSERA_CUBLASLT_STATUS=N  products end with this status
#include "test/gpu/emulator/HostKernel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <string>

namespace tessera::emulator {
namespace {

enum Result : int { Ok = 0, Invalid = 7, Unsupported = 15 };
enum DataType : int { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };
enum ComputeType : int { InF32 = 68, InPlainF32 = 69, InF64 = 70 };
enum Epilogue : uint32_t { Plain = 1, Relu = 2, Bias = 4, Gelu = 32 };

int refuse(int status, const std::string &why) {
  std::fprintf(stderr, "cublasLt stand-in: %s\n", why.c_str());
  return status;
}

struct Handle {};

struct Operation {
  int compute, scale;
  int32_t transposed[2] = {};
  uint32_t epilogue = Plain;
  uint64_t bias = 0;
};

struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t pitch;
  int32_t batch = 1;
  int64_t perBatch = 0;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

// What an algorithm is for, in its 64 bytes.
struct Algorithm {
  uint64_t magic, problem, workspace, alignment[4], biasAlignment;
};
constexpr uint64_t kMagic = 0x7465737365726121;

struct Found {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

size_t bytesOf(int type) { return type == F64 ? 8 : type == F32 ? 4 : 2; }

double read(int type, const uint8_t *at) {
  switch (type) {
  case F64: {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  case F32: {
    float value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  case F16: {
    _Float16 value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  default: {
    uint16_t half;
    std::memcpy(&half, at, sizeof half);
    uint32_t bits = uint32_t{half} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  }
  }
}

void write(int type, uint8_t *at, double number) {
  if (type == F64) {
    std::memcpy(at, &number, sizeof number);
    return;
  }
  auto value = static_cast<float>(number);
  if (type == F32) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == F16) {
    auto half = static_cast<_Float16>(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    auto half = static_cast<uint16_t>(std::isnan(value) ? 0x7fc0
                                                        : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
}

// One product, as all of its descriptions say.
struct Problem {
  const Operation &op;
  const Layout &a, &b, &c, &d;

  uint64_t rowsOf(const Layout &layout, int32_t transposed) const {
    return transposed ? layout.columns : layout.rows;
  }
  uint64_t depth() const { return rowsOf(a, !op.transposed[0]); }

  // Why the library would refuse it; "" if it would not.
  std::string wrong() const {
    if (rowsOf(a, op.transposed[0]) != d.rows || rowsOf(b, !op.transposed[1]) != d.columns ||
        rowsOf(b, op.transposed[1]) != depth() || c.rows != d.rows || c.columns != d.columns)
      return "sizes that do not fit each other";
    if (a.type != b.type || c.type != d.type)
      return "factors, or results, of two types";
    bool isF64 = a.type == F64, isF32 = a.type == F32;
    if ((isF64 && (d.type != F64 || op.compute != InF64)) ||
        (isF32 && (d.type != F32 || op.compute != InPlainF32)) || // InF32 may be by fewer bits
        (!isF64 && !isF32 && ((d.type != a.type && d.type != F32) || op.compute != InF32)) ||
        op.scale != (isF64 ? F64 : F32))
      return "types that it does not compute in each other";
    uint32_t bits = op.epilogue & ~uint32_t{Bias};
    if (bits != 0 ? bits != Plain && bits != Relu && bits != Gelu : !(op.epilogue & Bias))
      return "an epilogue that there is not";
    if (op.epilogue != Plain && (isF64 || op.epilogue == (Plain | Bias)))
      return "an epilogue that these types have not";
    if ((op.epilogue & Bias) && !op.bias)
      return "no bias";
    for (const Layout *layout : {&a, &b, &c, &d}) {
      if (layout->batch != d.batch)
        return "batches of two sizes";
      bool isResult = layout == &d || layout == &c;
      if (layout->batch > 1 && layout->perBatch < (isResult ? 1 : 0))
        return "results of a batch that lie in one place";
    }
    return "";
  }

  uint64_t hash() const {
    uint64_t hash = 0xcbf29ce484222325;
    auto mix = [&](uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
    for (int64_t number : {int64_t{op.compute}, int64_t{op.scale}, int64_t{op.transposed[0]},
                           int64_t{op.transposed[1]}, int64_t{op.epilogue}})
      mix(static_cast<uint64_t>(number));
    for (const Layout *layout : {&a, &b, &c, &d}) {
      mix(static_cast<uint64_t>(layout->type));
      mix(layout->rows);
      mix(layout->columns);
      mix(static_cast<uint64_t>(layout->pitch));
      mix(static_cast<uint64_t>(layout->batch));
      mix(static_cast<uint64_t>(layout->perBatch));
    }
    return hash;
  }
};

double applied(uint32_t epilogue, double x) {
  if (epilogue & Relu)
    return std::max(x, 0.0);
  if (epilogue & Gelu)
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  return x;
}

// Copies of the descriptions, which the caller may change once the call is over.
struct Call {
  Operation op;
  Layout a, b, c, d;
  double alpha, beta;

  static const uint8_t *element(const uint8_t *from, const Layout &layout, uint64_t batch,
                                uint64_t row, uint64_t column, int32_t transposed) {
    if (transposed)
      std::swap(row, column);
    return from + bytesOf(layout.type) * (batch * static_cast<uint64_t>(layout.perBatch) + row +
                                          column * static_cast<uint64_t>(layout.pitch));
  }

  void compute(const uint8_t *fromA, const uint8_t *fromB, const uint8_t *fromC, uint8_t *toD,
               const uint8_t *bias) const {
    uint64_t depth = op.transposed[0] ? a.rows : a.columns;
    for (uint64_t batch = 0; batch < static_cast<uint64_t>(d.batch); ++batch)
      for (uint64_t column = 0; column < d.columns; ++column)
        for (uint64_t row = 0; row < d.rows; ++row) {
          double sum = 0;
          for (uint64_t k = 0; k < depth; ++k)
            sum += read(a.type, element(fromA, a, batch, row, k, op.transposed[0])) *
                   read(b.type, element(fromB, b, batch, k, column, op.transposed[1]));
          sum *= alpha;
          if (beta != 0)
            sum += beta * read(c.type, element(fromC, c, batch, row, column, 0));
          if (bias)
            sum += read(d.type, bias + row * bytesOf(d.type));
          write(d.type, const_cast<uint8_t *>(element(toD, d, batch, row, column, 0)),
                applied(op.epilogue, sum));
        }
  }
};

HostKernel::Range rangeOf(const char *what, uint64_t address, const Layout &layout, uint64_t batch,
                          bool isWritten) {
  size_t each = bytesOf(layout.type);
  return {what,
          address + batch * static_cast<uint64_t>(layout.perBatch) * each,
          layout.rows * each,
          layout.columns,
          static_cast<size_t>(layout.pitch) * each,
          isWritten};
}

} // namespace

extern "C" {
int cuCtxGetDevice(int *device);
int tessera_emulator_wait(int device);
}
#define API extern "C" __attribute__((visibility("default"))) int

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() { return 130100; }
API cublasLtCreate(Handle **handle) { return *handle = new Handle, Ok; }
API cublasLtDestroy(Handle *handle) {
  int device = 0;
  cuCtxGetDevice(&device);
  tessera_emulator_wait(device);
  return delete handle, Ok;
}

API cublasLtMatmulDescCreate(Operation **made, int compute, int scale) {
  if (compute < InF32 || compute > InF64 || (scale != F32 && scale != F64))
    return refuse(Invalid, "an operation of unknown types");
  return *made = new Operation{compute, scale}, Ok;
}
API cublasLtMatmulDescDestroy(Operation *operation) { return delete operation, Ok; }
API cublasLtMatmulDescSetAttribute(Operation *operation, int attribute, const void *value,
                                   size_t bytes) {
  auto take = [&](auto &into) {
    if (bytes != sizeof into)
      return refuse(Invalid, "an attribute of an operation of another size");
    std::memcpy(&into, value, bytes);
    return int{Ok};
  };
  switch (attribute) {
  case 3:
  case 4:
    return take(operation->transposed[attribute - 3]);
  case 7:
    return take(operation->epilogue);
  case 8:
    return take(operation->bias);
  default:
    return refuse(Invalid, "an attribute of an operation that the stand-in was not taught");
  }
}

API cublasLtMatrixLayoutCreate(Layout **made, int type, uint64_t rows, uint64_t columns,
                               int64_t pitch) {
  bool isKnown = type == F32 || type == F64 || type == F16 || type == BF16;
  if (!isKnown || !rows || !columns || pitch < static_cast<int64_t>(rows))
    return refuse(Invalid, "a matrix of " + std::to_string(rows) + " by " +
                               std::to_string(columns) + ", " + std::to_string(pitch) + " apart");
  return *made = new Layout{type, rows, columns, pitch}, Ok;
}
API cublasLtMatrixLayoutDestroy(Layout *layout) { return delete layout, Ok; }
API cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute, const void *value,
                                     size_t bytes) {
  if (attribute == 5 && bytes == sizeof layout->batch)
    return std::memcpy(&layout->batch, value, bytes), Ok;
  if (attribute == 6 && bytes == sizeof layout->perBatch)
    return std::memcpy(&layout->perBatch, value, bytes), Ok;
  return refuse(Invalid, "an attribute of a matrix that the stand-in was not taught");
}

API cublasLtMatmulPreferenceCreate(Preference **made) { return *made = new Preference, Ok; }
API cublasLtMatmulPreferenceDestroy(Preference *preference) { return delete preference, Ok; }
API cublasLtMatmulPreferenceSetAttribute(Preference *preference, int attribute, const void *value,
                                         size_t bytes) {
  if (attribute == 1 && bytes == sizeof preference->workspace)
    return std::memcpy(&preference->workspace, value, bytes), Ok;
  if (attribute == 3 && bytes == sizeof preference->reductions)
    return std::memcpy(&preference->reductions, value, bytes), Ok;
  if (attribute >= 5 && attribute <= 8 && bytes == sizeof preference->alignment[0])
    return std::memcpy(&preference->alignment[attribute - 5], value, bytes), Ok;
  return refuse(Invalid, "a preference that the stand-in was not taught");
}

API cublasLtMatmulAlgoGetHeuristic(Handle *handle, Operation *operation, Layout *a, Layout *b,
                                   Layout *c, Layout *d, Preference *preference, int wanted,
                                   Found *found, int *count) {
  *count = 0;
  Problem problem{*operation, *a, *b, *c, *d};
  if (!handle || wanted < 1)
    return Invalid;
  if (std::string wrong = problem.wrong(); !wrong.empty())
    return refuse(Unsupported, wrong);
  if (std::getenv("TESSERA_CUBLASLT_LACKS"))
    return Unsupported;
  uint64_t biasAlignment = operation->bias & -operation->bias;
  *found = {};
  found->algorithm = {kMagic, problem.hash(), preference->workspace, {}, biasAlignment};
  for (int i = 0; i < 4; ++i)
    found->algorithm.alignment[i] = preference->alignment[i];
  found->workspaceBytes = preference->workspace;
  return *count = 1, Ok;
}

API cublasLtMatmul(Handle *handle, Operation *operation, const void *alpha, const void *fromA,
                   Layout *a, const void *fromB, Layout *b, const void *beta, const void *fromC,
                   Layout *c, void *toD, Layout *d, const Algorithm *algorithm, void *workspace,
                   size_t workspaceBytes, Stream *stream) {
  if (const char *status = std::getenv("TESSERA_CUBLASLT_STATUS"))
    return std::atoi(status);
  Problem problem{*operation, *a, *b, *c, *d};
  if (std::string wrong = problem.wrong(); !handle || !wrong.empty())
    return refuse(Unsupported, wrong);
  if (algorithm->magic != kMagic || algorithm->problem != problem.hash())
    return refuse(Unsupported, "an algorithm that was asked for another product");
  if (workspaceBytes < algorithm->workspace || (algorithm->workspace && !workspace))
    return refuse(Invalid, "less workspace than the algorithm takes");
  uint64_t places[4] = {reinterpret_cast<uint64_t>(fromA), reinterpret_cast<uint64_t>(fromB),
                        reinterpret_cast<uint64_t>(fromC), reinterpret_cast<uint64_t>(toD)};
  for (int i = 0; i < 4; ++i)
    if (places[i] % algorithm->alignment[i])
      return refuse(Invalid, "an operand that is aligned less than the algorithm was promised");
  bool hasBias = operation->epilogue & Bias;
  if (hasBias && operation->bias % algorithm->biasAlignment)
    return refuse(Invalid, "a bias that is aligned less than the algorithm was promised");
  auto factor = [&](const void *at) {
    return read(operation->scale, static_cast<const uint8_t *>(at));
  };
  Call call{*operation, *a, *b, *c, *d, factor(alpha), factor(beta)};
  if (places[2] == places[3] && (c->pitch != d->pitch || c->perBatch != d->perBatch))
    return refuse(Invalid, "a result over the matrix that is added, which lies otherwise");

  HostKernel kernel{"cublasLtMatmul", {}, {}};
  // The beginnings first, by which it computes.
  auto add = [&](const char *what, uint64_t address, const Layout &layout, bool isWritten) {
    for (uint64_t batch = 0; batch < static_cast<uint64_t>(layout.batch); ++batch)
      kernel.ranges.push_back(rangeOf(what, address, layout, batch, isWritten));
  };
  if (algorithm->workspace) // parts of sums lie there for a while
    kernel.ranges.push_back({"the workspace", reinterpret_cast<uint64_t>(workspace),
                             algorithm->workspace, 1, 0, /*isWritten=*/true});
  size_t atA = kernel.ranges.size();
  add("the first factor", places[0], *a, false);
  size_t atB = kernel.ranges.size();
  add("the second factor", places[1], *b, false);
  size_t atC = kernel.ranges.size();
  if (call.beta != 0)
    add("what is added", places[2], *c, false);
  size_t atBias = kernel.ranges.size();
  if (hasBias)
    kernel.ranges.push_back(
        {"the bias", operation->bias, d->rows * bytesOf(d->type), 1, 0, /*isWritten=*/false});
  size_t atD = kernel.ranges.size();
  add("the result", places[3], *d, true);
  kernel.compute = [=, workspaceBytes = algorithm->workspace](const std::vector<uint8_t *> &at) {
    if (workspaceBytes)
      std::memset(at[0], 0xff, workspaceBytes);
    call.compute(at[atA], at[atB], call.beta != 0 ? at[atC] : nullptr, at[atD],
                 hasBias ? at[atBias] : nullptr);
  };
  give(stream, std::move(kernel));
  return Ok;
}

} // namespace tessera::emulator
