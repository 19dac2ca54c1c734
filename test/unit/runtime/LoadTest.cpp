// What is refused before anything of a program runs, and with which words.
#include "runtime/program/CpuFeatures.h"
#include "test/unit/runtime/ProgramBuilder.h"
#include <limits>

#if defined(__linux__) && defined(__x86_64__)
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace tessera::runtime {
namespace {

int32_t nothing(const TesseraKernelArgs *, uint32_t, uint32_t) { return 0; }

// A program with one of each kind of instruction.
ProgramBuilder sample() {
  ProgramBuilder builder({2, 2});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
  auto arena = builder.addArena(64);
  builder.constants = std::string(64, '\1');
  uint32_t kernel = builder.addKernel("nothing", nothing);
  auto constant = ProgramBuilder::buffer(program::Buffer::CONSTANT, 0, 0, 64);
  ProgramBuilder::dispatch(builder.body(), kernel, {in, constant, arena},
                           builder.addLocation("model.py:3:7"));
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(program::Collective::ALL_REDUCE, {0}, program::F32, {4}, in, out),
      builder.addLocation("model.py:4:1"));
  ProgramBuilder::wait(builder.body(), 0);
  return builder;
}

std::string refusal(ProgramBuilder &builder) {
  auto loaded = builder.load();
  return loaded.ok() ? "" : loaded.status().message();
}

TEST(LoadTest, AGoodProgramLoads) {
  ProgramBuilder builder = sample();
  EXPECT_EQ(refusal(builder), "");
}

TEST(LoadTest, EveryTruncationIsFound) {
  std::string file = sample().file();
  for (size_t size = 0; size < file.size(); ++size) {
    auto loaded = LoadedProgram::load(std::string_view(file).substr(0, size), nullptr);
    ASSERT_FALSE(loaded.ok()) << size;
    ASSERT_EQ(loaded.status().code(), Code::DataLoss);
  }
}

TEST(LoadTest, EveryAlteredByteIsFound) {
  std::string file = sample().file();
  for (size_t at = 0; at < file.size(); ++at) {
    std::string altered = file;
    altered[at] ^= 0x20;
    ASSERT_FALSE(
        LoadedProgram::load(altered, nullptr, [](const std::string &) { return (void *)nothing; })
            .ok())
        << at;
  }
}

TEST(LoadTest, VersionsAndTargets) {
  ProgramBuilder builder = sample();
  builder.manifest.set_version(99);
  EXPECT_NE(refusal(builder).find("program version 99"), std::string::npos);
  builder = sample();
  auto *image = builder.manifest.add_images();
  image->set_target("cpu");
  image->add_features("amx-fp8-of-the-future"); // none that this runtime knows
  EXPECT_EQ(refusal(builder), "the program needs CPU features that this runtime does not know: "
                              "amx-fp8-of-the-future: run it with the runtime of its compiler's "
                              "version");
  builder = sample();
  if (!missingCpuFeatures({"amx-tile"}).empty()) {
    image = builder.manifest.add_images();
    image->set_target("cpu");
    image->add_features("amx-tile");
    image->set_cpu("sapphirerapids");
    EXPECT_EQ(
        refusal(builder),
        "the program was compiled for CPU 'sapphirerapids'; this one lacks amx-tile: compile it "
        "here, or with a --target-cpu that every machine it shall run on has");
  }
}

#if defined(__linux__) && defined(__x86_64__)
// As a container's filter may: this process gets no tile data.
bool forbidTiles() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1023, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{std::size(steps), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(LoadTest, TilesThatTheSystemRefuses) {
  if (!missingCpuFeatures({"amx-tile"}).empty())
    GTEST_SKIP() << "this CPU has no tiles";
  ProgramBuilder builder = sample();
  auto *image = builder.manifest.add_images();
  image->set_target("cpu");
  image->set_cpu("sapphirerapids");
  image->add_features("amx-tile");
  EXPECT_EXIT(
      {
        std::fputs(forbidTiles() ? refusal(builder).c_str() : "no filters here", stderr);
        std::_Exit(0); // the folder of the tests is the parent's to remove
      },
      testing::ExitedWithCode(0),
      "the program was compiled for CPU 'sapphirerapids'; the operating system does not let this "
      "process use amx-tile \\(Operation not permitted\\): compile it here, or with a --target-cpu "
      "without it, such as x86-64-v4|no filters here");
}
#endif

TEST(LoadTest, MissingKernel) {
  ProgramBuilder builder = sample();
  builder.kernels.clear();
  EXPECT_EQ(refusal(builder), "the code section lacks kernel 'nothing'");
  auto file = builder.file();
  EXPECT_EQ(LoadedProgram::load(file, nullptr).status().message(),
            "altered: there is no code section");
}

TEST(LoadTest, CodeThatIsNoSharedObject) {
  ProgramBuilder builder = sample();
  builder.manifest.add_images()->set_target("cpu");
  builder.manifest.mutable_images(0)->set_section("code");
  std::string manifest = builder.serialized();
  std::string file =
      container::write({{"manifest", container::SectionKind::Manifest, manifest},
                        {"constants", container::SectionKind::Constants, builder.constants},
                        {"code", container::SectionKind::Code, "no elf"}});
  EXPECT_NE(LoadedProgram::load(file, nullptr)
                .status()
                .message()
                .find("the code section cannot be loaded: it is no shared object for x86-64"),
            std::string::npos);
}

// One thing of the sample is broken.
struct Broken {
  const char *message;
  std::function<void(program::Program &, program::File &)> breakIt;
};

program::Collective *collective(program::Program &p) {
  return p.mutable_body(1)->mutable_start()->mutable_collective();
}

void expectRefused(std::initializer_list<Broken> cases) {
  for (const Broken &c : cases) {
    ProgramBuilder builder = sample();
    c.breakIt(builder.program, builder.manifest);
    EXPECT_EQ(refusal(builder), c.message);
  }
}

TEST(LoadTest, BrokenKernelsAndBuffersAreRefusedWithTheirLocation) {
  expectRefused({
      {"model.py:3:7: kernel 9 does not exist",
       [](auto &p, auto &) { p.mutable_body(0)->mutable_dispatch()->set_kernel(9); }},
      {"model.py:3:7: bytes 32 to 96 of the arena, which has 64",
       [](auto &p, auto &) {
         p.mutable_body(0)->mutable_dispatch()->mutable_operands(2)->set_offset(32);
       }},
      {"model.py:3:7: a buffer at byte 32 of the arena, which is no multiple of 64",
       [](auto &p, auto &) {
         p.set_arena_bytes(128); // vectors are loaded as if they were aligned
         p.mutable_body(0)->mutable_dispatch()->mutable_operands(2)->set_offset(32);
       }},
      {"model.py:3:7: input 5 does not exist",
       [](auto &p, auto &) {
         p.mutable_body(0)->mutable_dispatch()->mutable_operands(0)->set_index(5);
       }},
      {"model.py:3:7: bytes 18446744073709551600 to 48 of the constants, which has 64",
       [](auto &p, auto &) {
         p.mutable_body(0)->mutable_dispatch()->mutable_operands(1)->set_offset(~15ull);
       }},
      {"model.py:3:7: kernel 'nothing' takes 4 operands, not 3",
       [](auto &, auto &f) {
         for (int i = 0; i < 4; ++i)
           f.mutable_kernels(0)->add_operands();
       }},
      {"model.py:3:7: gives a kernel scratch outside of the arena, of inputs and of outputs",
       [](auto &p, auto &) {
         p.mutable_body(0)->mutable_dispatch()->mutable_scratch()->set_space(
             program::Buffer::CONSTANT);
       }},
      {"model.py:3:7: writes to input 0, which the caller keeps",
       [](auto &p, auto &) {
         p.mutable_body(0)->mutable_dispatch()->mutable_scratch()->set_space(
             program::Buffer::INPUT);
       }},
      {"model.py:3:7: a buffer of 16 bytes where 64 are used",
       [](auto &p, auto &f) {
         f.mutable_kernels(0)->set_scratch_bytes(64);
         p.mutable_body(0)->mutable_dispatch()->mutable_scratch()->set_bytes(16);
       }},
      {"model.py:3:7: gives a kernel the same bytes as an operand and as scratch",
       [](auto &p, auto &f) {
         f.mutable_kernels(0)->set_scratch_bytes(64);
         p.mutable_body(0)->mutable_dispatch()->mutable_scratch()->set_bytes(64);
       }},
      {"model.py:3:7: writes to input 0, which the caller keeps",
       [](auto &, auto &f) { f.mutable_kernels(0)->add_operands()->set_written(true); }},
      {"model.py:3:7: writes to the constants",
       [](auto &, auto &f) {
         f.mutable_kernels(0)->add_operands();
         f.mutable_kernels(0)->add_operands()->set_written(true);
       }},
      {"model.py:3:7: a buffer of 16 bytes where 17 are used",
       [](auto &, auto &f) { f.mutable_kernels(0)->add_operands()->set_bytes(17); }},
      {"kernel 'nothing' has an impossible size",
       [](auto &, auto &f) {
         f.mutable_kernels(0)->set_flops(std::numeric_limits<double>::quiet_NaN());
       }},
      {"kernel 'nothing' has an empty grid",
       [](auto &, auto &f) { f.mutable_kernels(0)->set_grid(0); }},
  });
}

TEST(LoadTest, BrokenCollectivesAreRefusedWithTheirLocation) {
  expectRefused({
      {"model.py:4:1: all_reduce: operands, results and shapes differ in number",
       [](auto &p, auto &) { collective(p)->clear_operands(); }},
      {"model.py:4:1: a buffer of 16 bytes where 32 are used",
       [](auto &p, auto &) { collective(p)->mutable_shapes(0)->set_dims(0, 8); }},
      {"model.py:4:1: mesh axis 7 does not exist",
       [](auto &p, auto &) { collective(p)->mutable_axes(0)->set_axis(7); }},
      {"model.py:4:1: a part (1)3 of a mesh axis of size 2 does not exist",
       [](auto &p, auto &) { collective(p)->mutable_axes(0)->set_size(3); }},
      {"model.py:4:1: all_gather: dimension 1 of a rank 1 array",
       [](auto &p, auto &) {
         collective(p)->set_kind(program::Collective::ALL_GATHER);
         collective(p)->set_dim(1);
       }},
      {"model.py:4:1: reduce_scatter: dimension 0 of size 3 does not divide by the group's 2",
       [](auto &p, auto &) {
         collective(p)->set_kind(program::Collective::REDUCE_SCATTER);
         collective(p)->mutable_shapes(0)->set_dims(0, 3);
       }},
      {"model.py:4:1: permute has two sources for rank 1",
       [](auto &p, auto &) {
         collective(p)->set_kind(program::Collective::PERMUTE);
         for (int64_t r : {0, 1, 1, 1})
           collective(p)->add_source_target(r);
       }},
      {"model.py:4:1: device 3 is in no group of a collective",
       [](auto &p, auto &) {
         for (int64_t d : {0, 1, 2})
           collective(p)->add_groups()->add_devices(d);
       }},
      {"model.py:4:1: writes to the constants",
       [](auto &p, auto &) {
         collective(p)->mutable_results(0)->set_space(program::Buffer::CONSTANT);
       }},
      {"model.py:4:1: writes to input 0, which the caller keeps",
       [](auto &p, auto &) { *collective(p)->mutable_results(0) = collective(p)->operands(0); }},
      {"model.py:4:1: permute writes a result over an operand",
       [](auto &p, auto &) {
         collective(p)->set_kind(program::Collective::PERMUTE);
         *collective(p)->mutable_operands(0) = collective(p)->results(0);
       }},
  });
}

TEST(LoadTest, BrokenLoopsAndBranchesAreRefused) {
  expectRefused({
      {"instruction 2: waits for site 4, which nothing starts",
       [](auto &p, auto &) { p.mutable_body(2)->mutable_wait()->set_site(4); }},
      {"instruction 3: a branch without blocks",
       [](auto &p, auto &) { p.add_body()->mutable_branch(); }},
      {"instruction 3: a counted loop has a condition",
       [](auto &p, auto &) { p.add_body()->mutable_loop()->add_condition()->mutable_wait(); }},
      {"instruction 3: a buffer of 0 bytes where 1 are used",
       [](auto &p, auto &) { p.add_body()->mutable_loop()->set_trip_count(-1); }},
      {"instruction 3: an instruction of an unknown kind", [](auto &p, auto &) { p.add_body(); }},
  });
}

TEST(LoadTest, BrokenParametersAndSizesAreRefused) {
  expectRefused({
      {"parameter 'in0': 4 tiles of 0 do not cover dimension 0 of size 4",
       [](auto &p, auto &) { p.mutable_inputs(0)->mutable_layout(0)->set_tile(0); }},
      {"output 'out0' takes the buffer of an input that does not exist",
       [](auto &p, auto &) { p.mutable_outputs(0)->set_alias(7); }},
      {"output 'out0' takes the buffer of an input that does not exist",
       [](auto &p, auto &) { p.mutable_outputs(0)->set_alias(INT32_MIN); }},
      {"a mesh's device ids name device 1 twice",
       [](auto &p, auto &) {
         for (int64_t d : {0, 1, 1, 3})
           p.mutable_mesh()->add_device_ids(d);
       }},
      {"an arena of 18446744073709551615 bytes", [](auto &p, auto &) { p.set_arena_bytes(~0ull); }},
  });
}

} // namespace
} // namespace tessera::runtime
