// The compiler as a C++ program sees it: errors, options of an older caller.
#include "tessera/compiler.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

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
  std::string error =
      errorOf("func.func @main() { return }\n\"foo.bar\"() : () -> ()", {.name = "step.mlir"});
  EXPECT_EQ(error.rfind("error: step.mlir:2:1: unknown op 'foo.bar'", 0), 0u) << error;
}

TEST(CompilerApi, EntryIsLookedUp) {
  std::string error = errorOf("func.func @main() { return }", {.entry = "step"});
  EXPECT_NE(error.find("no function @step"), std::string::npos) << error;
}

TEST(CompilerApi, TargetIsChecked) {
  std::string error = errorOf("func.func @main() { return }", {.target = "abacus"});
  EXPECT_EQ(error.rfind("error: target=abacus: no such target", 0), 0u) << error;
}

TEST(CompilerApi, TargetCpuIsChecked) {
  std::string error = errorOf("func.func @main() { return }", {.targetCpu = "abacus"});
  EXPECT_EQ(error.rfind("error: target_cpu=abacus: LLVM knows no x86 processor", 0), 0u) << error;
}

// A caller built against a version whose options ended after `name` gets defaults for the rest.
TEST(CompilerApi, OlderOptions) {
  tessera_compile_options options{};
  options.struct_size = offsetof(tessera_compile_options, entry);
  options.name = "old.mlir";
  options.entry =
      reinterpret_cast<const char *>(1); // beyond what the caller says it gives: must not be read
  std::string module = "module {";
  tessera_compiled *compiled = tessera_compile(module.data(), module.size(), &options);
  EXPECT_EQ(std::string(tessera_compiled_error(compiled)).rfind("error: old.mlir:1:", 0), 0u);
  tessera_compiled_free(compiled);
}

// The text as it is given has no zero behind it: nothing behind its last byte is read.
TEST(CompilerApi, ModuleEndsWithItsPage) {
  size_t page = sysconf(_SC_PAGESIZE);
  auto *pages = static_cast<char *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  for (std::string_view module :
       {"func.func @main() { return }", "func.func @main() { return } // x", "module {", "@", "1",
        "", "\"a", "//", "%x#99999999"}) {
    char *text = pages + page - module.size();
    std::memcpy(text, module.data(), module.size());
    tessera_compiled *compiled = tessera_compile(text, module.size(), nullptr);
    EXPECT_EQ(tessera_compiled_error(compiled) == nullptr, module.substr(0, 4) == "func") << module;
    tessera_compiled_free(compiled);
  }
  munmap(pages, 2 * page);
}

// On a thread with 512 kB of stack.
void onSmallStack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  pthread_t thread;
  auto run = [](void *work) -> void * {
    (*static_cast<std::function<void()> *>(work))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += text;
  return all;
}

std::string withAttribute(const std::string &text) {
  return "func.func @main(%a: tensor<f32>) -> tensor<f32> attributes {x = " + text +
         "} { return %a : tensor<f32> }";
}

std::string ifs(int depth) {
  std::string text = "func.func @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {\n",
              end = "return %r0 : tensor<f32> }";
  for (int i = 0; i < depth; ++i)
    text += "%r" + std::to_string(i) + " = \"stablehlo.if\"(%p) ({\n";
  text += "%s = stablehlo.sine %a : tensor<f32>\nstablehlo.return %s : tensor<f32>\n";
  for (int i = depth; i-- > 0;)
    text += "}, { stablehlo.return %a : tensor<f32> }) : (tensor<i1>) -> tensor<f32>\n" +
            (i ? "stablehlo.return %r" + std::to_string(i) + " : tensor<f32>\n" : end);
  return text;
}

TEST(CompilerApi, DeepModulesOnSmallStacks) {
  onSmallStack([] {
    for (int depth : {100000, 7100}) {
      EXPECT_NE(errorOf(withAttribute(repeat("[", depth) + repeat("]", depth)))
                    .find("brackets are open here"),
                std::string::npos);
      EXPECT_NE(errorOf(ifs(depth)).find("brackets are open here"), std::string::npos);
      std::string chain = "#a0 = 1\n";
      for (int i = 1; i < depth; ++i)
        chain += "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) + "]\n";
      EXPECT_NE(errorOf(chain + withAttribute("#a" + std::to_string(depth - 1)))
                    .find("deep; Tessera reads"),
                std::string::npos);
    }
    EXPECT_EQ(errorOf(withAttribute(repeat("[", 900) + repeat("]", 900))), "");
    EXPECT_EQ(errorOf(ifs(256)), "");
    EXPECT_NE(errorOf(ifs(400)).find("nested too deeply"), std::string::npos);
    EXPECT_NE(errorOf(withAttribute("1"), {.topology = repeat("{\"a\":", 100000)})
                  .find("nested more than 8 deep"),
              std::string::npos);
  });
}

} // namespace
