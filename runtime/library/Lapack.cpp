#include "runtime/library/Lapack.h"
#include <dlfcn.h>
#include <mutex>

namespace tessera::runtime {

namespace {

using library::Element;
using library::Lapack;
using library::LapackArray;

// liblapack, with the BLAS that it depends on: opened once, and never closed.
struct LapackLibrary {
  void *handle;
  bool isForOneThread; // its functions may not be called by several at a time

  static const LapackLibrary &opened() {
    static const LapackLibrary library = open();
    return library;
  }

private:
  static LapackLibrary open() {
    void *handle = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      handle = dlopen("liblapack.so", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return {nullptr, false};
    // A BLAS with threads of its own would give other bits for other numbers of cores.
    if (void *symbol = dlsym(handle, "openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(symbol)(1);
    // OpenBLAS shares its buffers among callers, and only where it has threads it locks them.
    constexpr int kThreads = 1;
    void *parallel = dlsym(handle, "openblas_get_parallel");
    return {handle, parallel && reinterpret_cast<int (*)()>(parallel)() != kThreads};
  }
};

// As Fortran's linkers know the function of an element type.
std::string symbolOf(const Lapack &lapack) {
  static constexpr char letters[] = {'s', 'd', 'c', 'z'};
  std::string name = lapack.function;
  if (library::isComplex(lapack.element)) {
    if (name == "orgqr" || name == "ormqr")
      name.replace(0, 2, "un");
    if (name == "syevd" || name == "sytrd")
      name.replace(0, 2, "he");
  }
  return letters[static_cast<int>(lapack.element)] + name + "_";
}

int32_t runLapack(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const LapackPlan &plan = *static_cast<const LapackPlan *>(args->plan);
  static std::mutex oneCaller;
  std::unique_lock<std::mutex> lock(oneCaller, std::defer_lock);
  if (LapackLibrary::opened().isForOneThread)
    lock.lock();
  Problems problems = Problems::of(plan.call.batch, gridBegin, gridEnd);
  for (int64_t i = problems.begin; i < problems.end; ++i)
    plan.run({plan, args->buffers, static_cast<char *>(args->scratch), i});
  return 0;
}

} // namespace

size_t LapackProblem::inputCount() const { return plan.call.inputs.size(); }

void *LapackProblem::operand(size_t i) const {
  if (plan.buffers[i] < 0)
    return nullptr;
  const Lapack &call = plan.call;
  const LapackArray &array = i < inputCount() ? call.inputs[i] : call.outputs[i - inputCount()];
  return static_cast<char *>(buffers[plan.buffers[i]]) + number * call.bytesOf(array);
}

char *LapackProblem::workArray(size_t i) const {
  int64_t offset = 0;
  for (size_t before = 0; before < i; ++before)
    offset += (plan.call.bytesOf(plan.call.work[before]) + 63) / 64 * 64;
  return scratch + offset;
}

int LapackProblem::workCount(size_t i) const { return static_cast<int>(plan.call.work[i].count); }

void LapackProblem::start(size_t o, size_t i) const {
  void *to = output<char>(o), *from = input<char>(i);
  if (to != from)
    std::memcpy(to, from, plan.call.bytesOf(plan.call.inputs[i]));
}

void LapackProblem::clear(size_t o) const {
  if (void *to = output<char>(o))
    std::memset(to, 0, plan.call.bytesOf(plan.call.outputs[o]));
}

Result<LibraryKernel> findLapack(const library::Call &call) {
  auto plan = std::make_shared<LapackPlan>();
  Lapack &lapack = plan->call;
  if (!Lapack::read(call, lapack))
    return badNumbers(call);
  plan->run = factorFunction(lapack.function, lapack.element);
  if (!plan->run)
    plan->run = spectrumFunction(lapack.function, lapack.element);
  if (!plan->run)
    return badNumbers(call);
  std::string symbol = symbolOf(lapack);
  void *opened = LapackLibrary::opened().handle;
  if (!opened)
    return Status(
        Code::Unimplemented,
        "the program calls LAPACK's " + symbol.substr(0, symbol.size() - 1) +
            ", and liblapack.so.3 cannot be opened: install it (Debian: libopenblas0-pthread)");
  plan->symbol = dlsym(opened, symbol.c_str());
  if (!plan->symbol)
    return Status(Code::Unimplemented,
                  "liblapack.so.3 has no function " + symbol +
                      ": install a complete one (Debian: libopenblas0-pthread)");
  LibraryKernel kernel;
  kernel.function = runLapack;
  for (const auto *arrays : {&lapack.inputs, &lapack.outputs}) {
    kernel.inputs = kernel.operandBytes.size(); // when the outputs' turn has come
    for (const LapackArray &array : *arrays) {
      plan->buffers.push_back(array.count ? static_cast<int>(kernel.operandBytes.size()) : -1);
      if (array.count)
        kernel.operandBytes.push_back(lapack.batch * lapack.bytesOf(array));
    }
  }
  kernel.scratchBytes = lapack.scratchBytes();
  kernel.grid = library::gridOf(lapack.batch);
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
