// "triangular_solve": op(a) x = b, or x op(a) = b, by substitution, for a panel of right-hand sides
// at a time.
#include "runtime/VectorSet.h"
#include "runtime/library/Library.h"
#include "runtime/library/SolveTables.h"

namespace tessera::runtime {

namespace {

using library::Element;
using library::TriangularSolve;

static_assert(solve::kPanelBytes == TriangularSolve::kPanelBytes);

void runLoops(const solve::Job &job) {
#if defined(__x86_64__)
  if (vectorSet() == VectorSet::Avx512)
    return solve::avx512::run(job);
  if (vectorSet() == VectorSet::Avx2)
    return solve::avx2::run(job);
#endif
  solve::baseline::run(job);
}

int32_t runSolve(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const TriangularSolve &call = *static_cast<const TriangularSolve *>(args->plan);
  auto element = static_cast<Element>(call.element);
  int64_t n = call.order(), bytes = bytesOf(element);
  bool isTransposed = call.transpose != TriangularSolve::None;
  solve::Job job;
  job.isDouble = isDouble(element);
  job.isComplex = isComplex(element);
  job.isConjugate = call.transpose == TriangularSolve::Adjoint;
  job.isUnit = call.unitDiagonal;
  job.order = n;
  job.panel = args->scratch;
  // On the left, rows of x follow from those before; on the right, columns from those after.
  bool isForward = ((call.lower != 0) != isTransposed) == (call.leftSide != 0);
  int64_t direction = isForward ? 1 : -1, first = isForward ? 0 : n - 1;
  bool isByRows = (call.leftSide != 0) != isTransposed; // a line's factors are a row of a
  job.lineStep = direction * (isByRows ? n : 1);
  job.termStep = direction * (isByRows ? 1 : n);
  job.sideStep = call.leftSide ? 1 : call.columns;
  int64_t along = call.leftSide ? call.columns : 1;
  job.sideLineStep = direction * along;
  int64_t panels = call.panels();
  Problems units = Problems::of(call.batch * panels, gridBegin, gridEnd);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    int64_t problem = unit / panels, side = unit % panels * call.panelSides();
    int64_t at = problem * call.rows * call.columns + side * job.sideStep + first * along;
    job.matrix =
        static_cast<const char *>(args->buffers[0]) + (problem * n * n + first * (n + 1)) * bytes;
    job.from = static_cast<const char *>(args->buffers[1]) + at * bytes;
    job.to = static_cast<char *>(args->buffers[2]) + at * bytes;
    job.sides = std::min(call.panelSides(), call.sides() - side);
    runLoops(job);
  }
  return 0;
}

} // namespace

Result<LibraryKernel> findTriangularSolve(const library::Call &call) {
  auto plan = std::make_shared<TriangularSolve>();
  if (!TriangularSolve::read(call.numbers, *plan))
    return badNumbers(call);
  LibraryKernel kernel;
  kernel.function = runSolve;
  uint64_t element = bytesOf(static_cast<Element>(plan->element));
  uint64_t b = plan->batch * plan->rows * plan->columns * element;
  kernel.inputs = 2;
  kernel.operandBytes = {plan->batch * plan->order() * plan->order() * element, b, b};
  kernel.scratchBytes = plan->scratchBytes();
  kernel.grid = plan->grid();
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
