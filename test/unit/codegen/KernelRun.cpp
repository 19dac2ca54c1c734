#include "test/unit/codegen/KernelRun.h"
#include "test/unit/codegen/KernelText.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "include/tessera/kernel_abi.h"
#include "passes/codegen/cpu/CompileKernels.h"
#include "passes/codegen/kernel/ElementKind.h"

#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::test {

namespace {

struct Buffer {
  mlir::RankedTensorType type;
  std::shared_ptr<char> owner;
  char *data;

  explicit Buffer(mlir::Type t) : type(mlir::cast<mlir::RankedTensorType>(t)) {
    owner.reset(static_cast<char *>(std::aligned_alloc(64, (bytes() + 127) / 64 * 64)), std::free);
    data = owner.get();
    write(Floats(type.getNumElements(), -777));
  }
  int64_t bytes() const { return type.getNumElements() * codegen::elementType(type)->bytes(); }
  bool isInteger() const { return type.getElementType().isInteger(); }
  void write(const Floats &values) {
    for (size_t i = 0; i < values.size(); ++i)
      writeBits(i, isInteger() ? static_cast<uint64_t>(static_cast<int64_t>(values[i]))
                               : bitsOf(values[i]));
  }
  Floats read() const {
    Floats values(type.getNumElements());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = number(readBits(i));
    return values;
  }

private:
  size_t width() const { return codegen::elementType(type)->bytes(); }
  void writeBits(size_t i, uint64_t bits) { std::memcpy(data + i * width(), &bits, width()); }
  uint64_t readBits(size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * width(), width());
    return bits;
  }
  const llvm::fltSemantics &semantics() const {
    return mlir::cast<mlir::FloatType>(type.getElementType()).getFloatSemantics();
  }
  uint64_t bitsOf(float value) const {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.bitcastToAPInt().getZExtValue();
  }
  float number(uint64_t bits) const {
    unsigned count = 8 * width();
    if (isInteger())
      return static_cast<float>(llvm::SignExtend64(bits, count));
    llvm::APFloat number(semantics(), llvm::APInt(count, bits));
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToFloat();
  }
};

} // namespace

std::vector<Floats> runKernel(const std::string &signature, const std::string &body,
                              std::vector<Floats> inputs, std::vector<int64_t> inplace) {
  KernelText text(signature, body);
  exec::KernelOp op = text.kernel();
  if (!op)
    return {};
  codegen::KernelSource source{"k", op.getBlock(), {}};
  source.inplace.assign(inplace.begin(), inplace.end());
  std::string problem;
  auto compiled = codegen::compileKernels({source}, codegen::CpuTarget::host(), problem);
  if (!compiled) {
    ADD_FAILURE() << "the kernel does not compile: " << problem;
    return {};
  }
  int file = memfd_create("kernel", 0);
  EXPECT_GT(write(file, compiled->sharedObject.data(), compiled->sharedObject.size()), 0);
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << dlerror();
    return {};
  }

  std::vector<Buffer> buffers, results;
  std::vector<void *> pointers;
  for (auto [type, values] : llvm::zip(op.getInputTypes(), inputs)) {
    buffers.emplace_back(type);
    buffers.back().write(values);
    pointers.push_back(buffers.back().data);
  }
  for (auto [i, type] : llvm::enumerate(op.getOutputTypes())) {
    int64_t input = i < inplace.size() ? inplace[i] : -1;
    results.push_back(input >= 0 ? buffers[input] : Buffer(type));
    pointers.push_back(results.back().data);
  }
  std::vector<char> scratch(compiled->infos[0].scratchBytes + 64);
  auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
  TesseraKernelArgs args{pointers.data(), reinterpret_cast<void *>(aligned), nullptr};
  auto kernel = reinterpret_cast<TesseraKernel>(dlsym(library, "k"));
  for (uint32_t cell = compiled->infos[0].grid; cell-- > 0;)
    EXPECT_EQ(kernel(&args, cell, cell + 1), 0);

  std::vector<Floats> outputs;
  for (const Buffer &result : results)
    outputs.push_back(result.read());
  dlclose(library);
  close(file);
  return outputs;
}

Floats numbers(int64_t n, unsigned seed) {
  Floats values(n);
  uint32_t state = seed * 2654435761u + 12345;
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  return values;
}

} // namespace tessera::test
