// tessera-kernel-run FILE.mlir INPUTS OUTPUTS [repeat]: compiles every exec.kernel of a module,
// runs each on the next bytes of INPUTS and appends its outputs to OUTPUTS; for tests and timings
// of generated code alone. The grid is run in two halves, the later first. An output whose kernel
// says `inplace` gets that input's buffer when `inplace` is given.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "include/tessera/kernel_abi.h"
#include "passes/codegen/cpu/CompileKernels.h"
#include "passes/codegen/kernel/ElementKind.h"

#include "mlir/Parser/Parser.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Time on the core: other programs on the machine don't count.
static double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int64_t bytesOf(mlir::Type type) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  return tensor.getNumElements() * tessera::codegen::elementType(tensor)->bytes();
}

struct Array {
  explicit Array(int64_t bytes)
      : bytes(bytes), data(static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64))) {
    std::memset(data.get(), 0x5d, bytes);
  }
  struct Free {
    void operator()(char *p) const { std::free(p); }
  };
  int64_t bytes;
  std::unique_ptr<char, Free> data;
};

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: tessera-kernel-run FILE.mlir INPUTS OUTPUTS [repeat] [inplace]\n");
    return 2;
  }
  int repeat = argc > 4 ? std::atoi(argv[4]) : 0;
  bool inplace = argc > 5 && std::string(argv[5]) == "inplace";
  mlir::MLIRContext context;
  context.loadDialect<tessera::exec::ExecDialect, tessera::stablehlo::StablehloDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  std::vector<tessera::codegen::KernelSource> sources;
  std::vector<tessera::exec::KernelOp> ops(module->getOps<tessera::exec::KernelOp>().begin(),
                                           module->getOps<tessera::exec::KernelOp>().end());
  for (auto op : ops)
    sources.push_back(tessera::codegen::sourceOf(op));
  auto start = Clock::now();
  std::string problem;
  auto compiled =
      tessera::codegen::compileKernels(sources, tessera::codegen::CpuTarget::host(), problem);
  if (!compiled) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  std::printf("compiled %zu kernels in %.1f ms, %zu bytes\n", sources.size(), 1e3 * since(start),
              compiled->sharedObject.size());
  if (const char *path = std::getenv("TESSERA_KEEP_SHARED_OBJECT"))
    std::ofstream(path, std::ios::binary)
        .write(compiled->sharedObject.data(), compiled->sharedObject.size());
  int file = memfd_create("kernels", 0);
  if (write(file, compiled->sharedObject.data(), compiled->sharedObject.size()) < 0)
    return 1;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }

  std::ifstream in(argv[2], std::ios::binary);
  std::ofstream out(argv[3], std::ios::binary);
  for (auto [i, op] : llvm::enumerate(ops)) {
    std::vector<Array> arrays;
    std::vector<void *> buffers;
    for (mlir::Type type : op.getInputTypes()) {
      arrays.emplace_back(bytesOf(type));
      in.read(arrays.back().data.get(), arrays.back().bytes);
      buffers.push_back(arrays.back().data.get());
    }
    std::vector<std::pair<void *, int64_t>> results;
    for (auto [o, type] : llvm::enumerate(op.getOutputTypes())) {
      int64_t input = sources[i].inplaceOf(o);
      arrays.emplace_back(bytesOf(type));
      buffers.push_back(inplace && input >= 0 ? buffers[input] : arrays.back().data.get());
      results.push_back({buffers.back(), arrays.back().bytes});
    }
    const auto &info = compiled->infos[i];
    Array scratch(info.scratchBytes);
    TesseraKernelArgs args{buffers.data(), scratch.data.get(), nullptr};
    auto kernel = reinterpret_cast<TesseraKernel>(dlsym(library, sources[i].symbol.c_str()));
    uint32_t grid = info.grid;
    int32_t status = kernel(&args, grid / 2, grid);
    if (!status)
      status = kernel(&args, 0, grid / 2);
    if (status) {
      std::fprintf(stderr, "error: %s returned %d\n", sources[i].symbol.c_str(), status);
      return 1;
    }
    for (auto [data, bytes] : results)
      out.write(static_cast<char *>(data), bytes);
    double best = 1e9;
    for (int r = 0; r < repeat; ++r) {
      double begin = threadSeconds();
      kernel(&args, 0, grid);
      best = std::min(best, threadSeconds() - begin);
    }
    if (repeat)
      std::printf("%-30s grid %5u  %10.2f us  %8.2f GFLOP/s\n", sources[i].symbol.c_str(), grid,
                  1e6 * best, info.flops / best / 1e9);
  }
  return 0;
}
