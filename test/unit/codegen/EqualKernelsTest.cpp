// Which kernels of a text are one: all but names is equal.
#include "passes/codegen/gpu/EqualKernels.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <string>

namespace tessera::codegen::gpu {
namespace {

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n\n";

// A kernel with a label, a parameter and shared memory of its own.
std::string entry(const std::string &name, int number, const std::string &op = "add.rn.f32",
                  int bytes = 64) {
  std::string label = "$L__BB" + std::to_string(number) + "_1";
  return ".visible .entry " + name + "(\n\t.param .u64 .ptr .global " + name +
         "_param_0\n)\n{\n\t.shared .align 16 .b8 " + name + "_rows[" + std::to_string(bytes) +
         "];\n\tld.param.b64 %rd1, [" + name + "_param_0];\n\tst.shared.v2.b32 [" + name +
         "_rows+8], {%r1, %r2};\n" + label + ":\n\t" + op + " %r1, %r2, %r3;\n\t@%p1 bra " + label +
         ";\n\tret;\n}\n";
}

std::string merged(const std::string &kernels, const std::string &ofMoreThreads = "") {
  llvm::SmallVector<char, 0> text;
  llvm::append_range(text, kHead + kernels);
  mergeEqualKernels(text, [&](llvm::StringRef name) {
    return LaunchOfCode{name == ofMoreThreads ? 512 : 256, 0};
  });
  return std::string(text.begin(), text.end()).substr(kHead.size());
}

TEST(EqualKernelsTest, NamesAndLabelsDontCount) {
  EXPECT_EQ(merged(entry("add_0", 0) + entry("add_12", 7)),
            entry("add_0", 0) + "// .alias add_12, add_0;\n");
}

TEST(EqualKernelsTest, AllElseCounts) {
  for (const std::string &other :
       {entry("mul_0", 1, "mul.rn.f32"), entry("add_1", 1, "add.rn.f32", 128)})
    EXPECT_EQ(merged(entry("add_0", 0) + other), entry("add_0", 0) + other);
}

// A kernel may have the name of an operation.
TEST(EqualKernelsTest, OperationsAreNoNames) {
  std::string both = entry("add", 0) + entry("mul", 1, "mul.rn.f32");
  EXPECT_EQ(merged(both), both);
}

TEST(EqualKernelsTest, LaunchesAreAlike) {
  std::string both = entry("add_0", 0) + entry("add_1", 1);
  EXPECT_EQ(merged(both, "add_1"), both);
}

// What is declared before the kernels may differ, whatever it is called.
TEST(EqualKernelsTest, WhatIsDeclaredElsewhereIsNotTheirs) {
  std::string both;
  for (const char *name : {"add_0", "add_1"})
    both += ".visible .entry " + std::string(name) + "()\n{\n\tld.global.b32 %r1, [" + name +
            "_table];\n\tret;\n}\n";
  EXPECT_EQ(merged(both), both);
}

// The second part of a text has names of its own for it.
TEST(EqualKernelsTest, MemoryIsOneInBothParts) {
  std::string second = entry("add_1", 1);
  for (size_t at = 0; (at = second.find("add_1_rows", at)) != second.npos; ++at)
    second.insert(at + 10, "_of_rest");
  EXPECT_EQ(merged(entry("add_0", 0) + second), entry("add_0", 0) + "// .alias add_1, add_0;\n");
  auto reads = [](const std::string &name, const std::string &memory) {
    return ".visible .entry " + name + "()\n{\n\tmov.b32 %r1, " + memory + ";\n\tret;\n}\n";
  };
  EXPECT_EQ(merged(reads("add_0", "tessera_shared") + reads("add_1", "tessera_shared_of_rest")),
            reads("add_0", "tessera_shared") + "// .alias add_1, add_0;\n");
}

} // namespace
} // namespace tessera::codegen::gpu
