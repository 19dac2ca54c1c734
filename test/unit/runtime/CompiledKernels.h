// A .tsr file with real code: kernels in C, compiled when the test runs.
#pragma once

#include "test/unit/runtime/ProgramBuilder.h"
#include "test/unit/runtime/TemporaryFiles.h"
#include <cstdlib>
#include <fstream>

namespace tessera::runtime {

inline std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// A shared object as the compiler's are: no start files, no libraries, no constructors.
inline std::string compiledCode(const std::string &source, const std::string &more = "") {
  std::string stem = temporaryFile("kernels");
  std::ofstream(stem + ".c") << "#include \"" TESSERA_SOURCE_DIR "/include/tessera/kernel_abi.h\"\n"
                             << source;
  std::string command = TESSERA_CC
                        " -O1 -shared -fPIC -nostdlib -fno-asynchronous-unwind-tables -fuse-ld=lld "
                        "-B/usr/lib/llvm-22/bin -Wl,--hash-style=gnu,--build-id=none " +
                        more + " -o " + stem + ".so " + stem + ".c";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return readBytes(stem + ".so");
}

// The program's file with `code` as its code section.
inline std::string fileWithObject(ProgramBuilder &builder, const std::string &code) {
  if (builder.manifest.images_size() == 0) {
    builder.manifest.add_images()->set_target("cpu");
    builder.manifest.mutable_images(0)->set_section("code");
  }
  std::string manifest = builder.serialized();
  return container::write({{"manifest", container::SectionKind::Manifest, manifest},
                           {"code", container::SectionKind::Code, code},
                           {"constants", container::SectionKind::Constants, builder.constants}});
}

inline std::string fileWithCode(ProgramBuilder &builder, const std::string &source) {
  return fileWithObject(builder, compiledCode(source));
}

// Two inputs, state and step, f32; outputs: state + the sum of step over all devices (it takes the
// state's buffer), and step. A program that can be fed with its outputs.
inline ProgramBuilder accumulator(const std::vector<int64_t> &mesh, bool donate) {
  ProgramBuilder builder(mesh);
  auto state = builder.addInput(program::F32, {3}), step = builder.addInput(program::F32, {3});
  auto newState = builder.addOutput(program::F32, {3}),
       sameStep = builder.addOutput(program::F32, {3});
  auto sum = builder.addArena(12);
  std::vector<int> axes;
  for (size_t i = 0; i < mesh.size(); ++i)
    axes.push_back(static_cast<int>(i));
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(program::Collective::ALL_REDUCE, axes, program::F32, {3}, step, sum),
      builder.addLocation("model.py:7:3"));
  ProgramBuilder::wait(builder.body(), 0);
  uint32_t add = builder.addKernel("add", nullptr);
  ProgramBuilder::dispatch(builder.body(), add, {state, sum, newState},
                           builder.addLocation("model.py:8:3"));
  auto *copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = step;
  *copy->mutable_to() = sameStep;
  if (donate) {
    builder.program.mutable_inputs(0)->set_donated(true);
    builder.program.mutable_outputs(0)->set_alias(1);
  }
  return builder;
}

// Fails with code 9 when the state is 13 anywhere.
inline const char *accumulatorCode() {
  return R"(
int32_t add(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  const float *x = args->buffers[0], *y = args->buffers[1];
  float *z = args->buffers[2];
  for (int i = 0; i < 3; ++i) {
    if (x[i] == 13)
      return 9;
    z[i] = x[i] + y[i];
  }
  return 0;
}
)";
}

} // namespace tessera::runtime
