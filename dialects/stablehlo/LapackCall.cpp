// Custom calls of LAPACK's functions, as XLA's foreign functions on CPUs have them.
//
//   stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} :
//     (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>)
//
// is "lapack.getrf" on 2 matrices of 5 x 3: their layout (column by column) was made explicit
// before, so that the last dimension counts rows.
#include "dialects/stablehlo/LapackCall.h"
#include "dialects/stablehlo/TensorTypes.h"

namespace tessera::stablehlo {

using namespace mlir;
using library::Lapack;
using library::LapackArray;

namespace {

// The number that the call's attributes give a name: LAPACK's characters are numbers too.
std::optional<int64_t> numberOf(CustomCallOp op, StringRef name) {
  for (Attribute attribute : {op->getAttr("mhlo.backend_config"), op.getBackendConfigAttr()})
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute))
      if (auto integer = dictionary.getAs<IntegerAttr>(name))
        return integer.getType().isInteger(1)          ? integer.getValue().getZExtValue()
               : integer.getType().isUnsignedInteger() ? integer.getValue().getZExtValue()
                                                       : integer.getValue().getSExtValue();
  return std::nullopt;
}

std::vector<StringRef> flagsOf(StringRef function) {
  if (function == "potrf" || function == "sytrd")
    return {"uplo"};
  if (function == "trsm")
    return {"side", "uplo", "trans_x", "diag"};
  if (function == "ormqr")
    return {"left", "transpose"};
  if (function == "gesdd" || function == "gesvd")
    return {"mode"};
  if (function == "syevd")
    return {"mode", "uplo"};
  if (function == "geev")
    return {"compute_left", "compute_right"};
  if (function == "gees")
    return {"mode", "sort"};
  if (function == "gehrd")
    return {"low", "high"};
  return {};
}

// Complex types have names of their own for what reals call orthogonal and symmetric.
StringRef realName(StringRef function) {
  return function == "ungqr"   ? "orgqr"
         : function == "unmqr" ? "ormqr"
         : function == "heevd" ? "syevd"
         : function == "hetrd" ? "sytrd"
                               : function;
}

int64_t perProblem(Value value, int64_t batch) { return typeOf(value).getNumElements() / batch; }

bool fits(const Lapack &lapack, const LapackArray &array, Value value) {
  Type element = typeOf(value).getElementType();
  bool isDouble = library::isDouble(lapack.element);
  Type real = isDouble ? Type(Float64Type::get(element.getContext()))
                       : Type(Float32Type::get(element.getContext()));
  Type complex = ComplexType::get(real);
  Type wanted = array.kind == LapackArray::Own
                    ? (library::isComplex(lapack.element) ? complex : real)
                : array.kind == LapackArray::Real    ? real
                : array.kind == LapackArray::Complex ? complex
                                                     : IntegerType::get(element.getContext(), 32);
  return element == wanted && typeOf(value).getNumElements() == array.count * lapack.batch;
}

bool fit(const Lapack &lapack, ArrayRef<LapackArray> arrays, ValueRange values) {
  for (const LapackArray &array : arrays) {
    if (array.count == 0)
      continue; // not passed
    if (values.empty() || !fits(lapack, array, values.front()))
      return false;
    values = values.drop_front();
  }
  return values.empty();
}

double workOf(const Lapack &lapack) {
  double m = lapack.m, n = lapack.n;
  double each = lapack.function == "trsm"   ? m * n * lapack.k
                : lapack.function == "gtsv" ? 8 * n * lapack.k
                : lapack.function == "gesdd" || lapack.function == "gesvd"
                    ? 12 * m * n * std::min(m, n)
                    : 4 * m * n * std::min(m, n);
  return lapack.batch * each;
}

} // namespace

// The function's name without the letter of its type: empty for what is none of LAPACK's.
static StringRef functionOf(CustomCallOp op) {
  StringRef name = op.getCallTargetName();
  bool isLapack = name.consume_front("lapack_") && name.consume_back("_ffi") && name.size() > 2;
  return isLapack ? name.drop_front() : StringRef();
}

bool isLapackCall(CustomCallOp op) { return !functionOf(op).empty(); }

FailureOr<LibraryCall> lapackCall(CustomCallOp op) {
  Lapack lapack;
  lapack.function = realName(functionOf(op)).str();
  auto refuse = [&] {
    return op.emitError("custom call @")
           << op.getCallTargetName()
           << ": its operands, results or attributes are not those that JAX "
              "gives this function";
  };
  if (op->getNumOperands() == 0)
    return refuse();
  // All kinds of function have the matrix that they work on first, but these.
  bool last = lapack.function == "trsm" || lapack.function == "ormqr" || lapack.function == "gtsv";
  RankedTensorType matrix = typeOf(last ? op->getOperands().back() : op->getOperand(0));
  std::optional<library::Element> element = libraryElement(matrix);
  if (!element || matrix.getRank() < 2 || matrix.getNumElements() == 0)
    return refuse();
  lapack.element = *element;
  lapack.batch = batchOf(matrix, 2);
  lapack.m = matrix.getShape().back();
  lapack.n = matrix.getShape().end()[-2];
  for (StringRef flag : flagsOf(lapack.function)) {
    std::optional<int64_t> number = numberOf(op, flag);
    if (!number)
      return refuse();
    lapack.flags.push_back(*number);
  }
  if (lapack.function == "trsm")
    lapack.k = lapack.flags[0] == 'L' ? lapack.m : lapack.n;
  if ((lapack.function == "orgqr" || lapack.function == "ormqr") && op->getNumOperands() > 1)
    lapack.k = perProblem(op->getOperand(1), lapack.batch);
  if (lapack.function == "gtsv") {
    lapack.k = lapack.n;
    lapack.n = lapack.m;
  }
  if (lapack.function == "gesdd" || lapack.function == "gesvd") {
    if (op->getNumResults() != 5)
      return refuse();
    for (unsigned i : {2u, 3u})
      lapack.flags.push_back(perProblem(op->getResult(i), lapack.batch));
  }
  if (!lapack.describe() || !lapack.isSound() || !fit(lapack, lapack.inputs, op->getOperands()) ||
      !fit(lapack, lapack.outputs, op->getResults()))
    return refuse();
  return libraryCall(lapack.call(), library::gridOf(lapack.batch), lapack.scratchBytes(),
                     workOf(lapack));
}

} // namespace tessera::stablehlo
