// The compiler as a C++ program sees it: errors, options of an older caller.
#include "tessera/compiler.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

std::string errorOf(std::string_view module, const tessera::CompileSettings &settings = {}) {
  try {
    tessera::compile(module, settings);
  } catch (const tessera::CompileError &error) {
    return error.what();
  }
  return "";
}

TEST(CompilerApi, ErrorNamesModuleAndPlace) {
  std::string error = errorOf("func.func @main() { return }\n\"foo.bar\"() : () -> ()", {.name = "step.mlir"});
  EXPECT_EQ(error.rfind("error: step.mlir:2:1: unknown op 'foo.bar'", 0), 0u) << error;
}

TEST(CompilerApi, EntryIsLookedUp) {
  std::string error = errorOf("func.func @main() { return }", {.entry = "step"});
  EXPECT_NE(error.find("no function @step"), std::string::npos) << error;
}

TEST(CompilerApi, TargetIsChecked) {
  std::string error = errorOf("func.func @main() { return }", {.target = "abacus"});
  EXPECT_EQ(error.rfind("error: --target=abacus: no such target", 0), 0u) << error;
}

TEST(CompilerApi, TargetCpuIsChecked) {
  std::string error = errorOf("func.func @main() { return }", {.targetCpu = "abacus"});
  EXPECT_EQ(error.rfind("error: --target-cpu=abacus: LLVM knows no x86 processor", 0), 0u) << error;
}

// A caller built against a version whose options ended after `name` gets defaults for the rest.
TEST(CompilerApi, OlderOptions) {
  tessera_compile_options options{};
  options.struct_size = offsetof(tessera_compile_options, entry);
  options.name = "old.mlir";
  options.entry = reinterpret_cast<const char *>(1); // beyond what the caller says it gives: must not be read
  std::string module = "module {";
  tessera_compiled *compiled = tessera_compile(module.data(), module.size(), &options);
  EXPECT_EQ(std::string(tessera_compiled_error(compiled)).rfind("error: old.mlir:1:", 0), 0u);
  tessera_compiled_free(compiled);
}

} // namespace
