// Tables that ask for much in few bytes: what reading them costs is linear in the size of the file,
// and what a session would take is summed before it is taken.
#include "runtime/comm/local/Work.h"
#include "test/unit/runtime/ProgramBuilder.h"
#include <ctime>
#include <sys/mman.h>
#include <sys/resource.h>

namespace tessera::runtime {
namespace {

// What a test takes: seconds of a core, whatever else runs, and growth of the process's largest
// size.
struct Cost {
  clock_t begin = std::clock();
  long before = most();
  static long most() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss >> 10; // MiB
  }
  void expectSmall(double seconds = 5, long mebibytes = 300) const {
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, seconds);
    EXPECT_LT(most() - before, mebibytes);
  }
};

std::vector<int> allAxes(int count) {
  std::vector<int> axes(count);
  for (int i = 0; i < count; ++i)
    axes[i] = i;
  return axes;
}

// 16,777,216 devices in 24 axes, and collectives over groups of all sizes: each had tables of the
// size of the mesh (98 s and 8 GB for 9 kB).
TEST(CostsTest, MeshesOfManyAxes) {
  ProgramBuilder builder(std::vector<int64_t>(24, 2));
  auto a = builder.addArena(64), b = builder.addArena(64);
  for (int i = 0; i < 240; ++i) {
    auto c =
        builder.collective(i % 2 ? program::Collective::PERMUTE : program::Collective::BROADCAST,
                           allAxes(24), program::F32, {4}, a, b);
    c.mutable_axes()->SwapElements(i % 24, i / 24 * 7 % 24); // groups of its own
    c.set_shift(i);
    c.set_wrap(i % 3);
    ProgramBuilder::start(builder.body(), i, c);
    ProgramBuilder::wait(builder.body(), i);
  }
  Cost cost;
  auto loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  cost.expectSmall();
  EXPECT_EQ(Session::create(*loaded, {}).status().message(),
            "the program is for 16777216 devices: one process runs at most 16384");
}

TEST(CostsTest, LongListsOfAxes) {
  ProgramBuilder builder({2, 2});
  auto a = builder.addArena(64), b = builder.addArena(64);
  auto c = builder.collective(program::Collective::ALL_REDUCE, {0}, program::F32, {4}, a, b);
  auto trivial = c.axes(0);
  trivial.set_size(1);
  for (int i = 0; i < 200000; ++i)
    *c.add_axes() = trivial;
  ProgramBuilder::start(builder.body(), 0, c);
  ProgramBuilder::wait(builder.body(), 0);
  auto *coordinate = builder.body()->Add()->mutable_coordinate();
  *coordinate->mutable_axes() = c.axes();
  *coordinate->mutable_to() = a;
  builder.addInput(program::F32, {4});
  builder.program.mutable_inputs(0)->mutable_layout(0)->mutable_axes()->MergeFrom(c.axes());
  Cost cost;
  auto loaded = builder.load();
  ASSERT_FALSE(loaded.ok()); // axis 0 twice in the input's layout
  EXPECT_EQ(loaded.status().message(), "parameter 'in0': a list of mesh axes uses axis 0 twice");
  builder.program.mutable_inputs(0)->mutable_layout(0)->mutable_axes()->DeleteSubrange(0, 1);
  loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ((*loaded)->manifest().programs(0).inputs(0).layout(0).axes_size(),
            2); // what says something
  ASSERT_TRUE(Session::create(*loaded, {}).ok());
  cost.expectSmall();
}

// 16,384 devices x 3,000 sites took 39 s.
TEST(CostsTest, ManyDevicesWithManySites) {
  ProgramBuilder builder({16384});
  auto a = builder.addArena(64), b = builder.addArena(64);
  auto add = [&](int count) {
    for (int i = 0; i < count; ++i) {
      auto c = builder.collective(program::Collective::ALL_REDUCE, {0}, program::F32, {4}, a, b);
      c.mutable_axes(0)->set_size(i % 2 ? 1 : 2);
      int site = builder.program.body_size() / 2;
      ProgramBuilder::start(builder.body(), site, c);
      ProgramBuilder::wait(builder.body(), site);
    }
  };
  add(100);
  Cost cost;
  auto loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE(Session::create(*loaded, {}).ok());
  cost.expectSmall(10, 1200);
  add(2900);
  Cost more;
  loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  std::string message = Session::create(*loaded, {}).status().message();
  EXPECT_NE(message.find("16384 devices in one process take "), std::string::npos) << message;
  EXPECT_NE(message.find("1 GiB is the limit: use more processes"), std::string::npos) << message;
  more.expectSmall();
}

TEST(CostsTest, ManyParametersOnManyDevices) {
  ProgramBuilder builder({16384});
  for (int i = 0; i < 1000; ++i) {
    auto *input = builder.program.add_inputs();
    input->set_name("in" + std::to_string(i));
    input->set_type(program::F32);
  }
  auto loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Cost cost;
  EXPECT_EQ(Session::create(*loaded, {}).status().code(), Code::Unimplemented);
  cost.expectSmall();
}

TEST(CostsTest, ManyOperandsOfOneCollective) {
  ProgramBuilder builder({2});
  program::Collective c = builder.collective(program::Collective::ALL_REDUCE, {0}, program::I8, {1},
                                             builder.addArena(1), builder.addArena(1));
  for (int i = 1; i < 60000; ++i) {
    *c.add_shapes() = c.shapes(0);
    *c.add_operands() = builder.addArena(1);
    *c.add_results() = builder.addArena(1);
  }
  ProgramBuilder::start(builder.body(), 0, c);
  ProgramBuilder::wait(builder.body(), 0);
  Cost cost;
  auto loaded = builder.load();
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  auto last = builder.program.mutable_body(0)->mutable_start()->mutable_collective();
  *last->mutable_results(59999) = last->operands(3);
  loaded = builder.load();
  EXPECT_EQ(loaded.status().message(), "instruction 0: all_reduce writes a result over an operand");
  *last->mutable_results(59999) = last->results(3);
  loaded = builder.load();
  EXPECT_EQ(loaded.status().message(),
            "instruction 0: all_reduce writes two results to the same place");
  cost.expectSmall();
}

// The number of units used to wrap around in 32 bits: nothing was copied, with exit code 0.
TEST(CostsTest, MoreUnitsOfWorkThan32BitsHold) {
  ProgramBuilder builder({16384});
  program::Collective c = builder.collective(program::Collective::ALL_GATHER, {0}, program::I8, {1},
                                             builder.addArena(1), builder.addArena(16384));
  for (int i = 1; i < 16; ++i) {
    *c.add_shapes() = c.shapes(0);
    *c.add_operands() = builder.addArena(1);
    *c.add_results() = builder.addArena(16384);
  }
  auto plan = planCollective(c, 16384);
  ASSERT_TRUE(plan.ok());
  Work work = makeWork(*plan);
  EXPECT_EQ(work.units, uint64_t{1} << 32);
  EXPECT_EQ(work.operands.back().firstUnit, uint64_t{15} << 28);
  EXPECT_GE(work.chunk, 1u);
  EXPECT_LE(work.chunk, Work::kMostCells);
  // Pieces of one large array too.
  plan = planCollective(builder.collective(program::Collective::BROADCAST, {0}, program::I8,
                                           {int64_t{1} << 32}, {}, {}),
                        16384);
  ASSERT_TRUE(plan.ok());
  work = makeWork(*plan);
  const Work::Operand &first = work.operands[0];
  EXPECT_EQ(work.units, first.pieces * 16384);
  EXPECT_GE(first.pieces * static_cast<uint64_t>(first.pieceBytes), uint64_t{1} << 32);
}

// A part of an axis that lies across another is none: (1)2 and (3)2 of 12 would put two devices on
// one place of a group.
TEST(CostsTest, PartsThatCrossEachOther) {
  ProgramBuilder builder({12});
  auto a = builder.addArena(64), b = builder.addArena(64);
  auto c = builder.collective(program::Collective::ALL_REDUCE, {0}, program::F32, {4}, a, b);
  c.mutable_axes(0)->set_size(2);
  *c.add_axes() = c.axes(0);
  c.mutable_axes(1)->set_pre_size(3);
  ProgramBuilder::start(builder.body(), 0, c);
  EXPECT_EQ(builder.load().status().message(),
            "instruction 0: a list of mesh axes uses axis 0 twice");
}

// 2^32 bytes more than they have: the size used to be cut to 32 bits.
TEST(CostsTest, ManifestsBeyondWhatCanBeParsed) {
  uint64_t size = (uint64_t{1} << 32) + 256;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto *header = static_cast<container::Header *>(memory);
  auto *entry = reinterpret_cast<container::TableEntry *>(header + 1);
  std::memcpy(header->magic, container::kMagic, sizeof header->magic);
  header->version = container::kVersion;
  header->sectionCount = 1;
  header->fileBytes = size;
  std::strcpy(entry->name, "manifest");
  entry->kind = static_cast<uint32_t>(container::SectionKind::Manifest);
  entry->offset = 128;
  entry->size = size - 128;
  header->tableHash =
      container::hash({reinterpret_cast<const char *>(entry), sizeof(container::TableEntry)});
  EXPECT_EQ(
      LoadedProgram::load({static_cast<const char *>(memory), size}, nullptr).status().message(),
      "a manifest of 4294967424 bytes; programs have 2147483647 at most");
  munmap(memory, size);
}

// What a thread of a host may have at least. Frames are larger where accesses are checked.
#if __has_feature(address_sanitizer)
constexpr size_t kSmallStack = 8 << 20;
#else
constexpr size_t kSmallStack = 512 << 10;
#endif

// As deep as the compiler writes, and one more, on a small stack.
TEST(CostsTest, DeepNesting) {
  auto nested = [](int depth, bool loops) {
    ProgramBuilder builder({2});
    auto index = builder.addArena(4);
    auto *body = builder.body();
    for (int i = 0; i < depth; ++i)
      if (loops) {
        body = ProgramBuilder::loop(body, 1)->mutable_body();
      } else {
        auto *branch = body->Add()->mutable_branch();
        *branch->mutable_index() = index;
        body = branch->add_blocks()->mutable_body();
      }
    std::string file = builder.file(), message;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kSmallStack);
    struct Load {
      std::string file, message;
    } load{std::move(file), {}};
    pthread_t thread;
    pthread_create(
        &thread, &attributes,
        [](void *data) -> void * {
          auto *load = static_cast<Load *>(data);
          load->message = LoadedProgram::load(load->file, nullptr).status().message();
          return nullptr;
        },
        &load);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return load.message;
  };
  for (bool loops : {false, true}) {
    EXPECT_EQ(nested(container::kDeepestNesting, loops), "");
    EXPECT_EQ(nested(container::kDeepestNesting + 1, loops),
              "instruction 256: loops and branches are nested more than 256 deep");
    EXPECT_EQ(nested(2000, loops), "altered: the manifest cannot be parsed");
  }
}

// Numbers of library kernels that describe arrays which nobody has, or with which LAPACK would
// write past them or end the process.
TEST(CostsTest, NumbersOfLibraryKernels) {
  struct Case {
    const char *name;
    std::vector<int64_t> numbers;
  };
  const Case cases[] = {
      {"fft", {0, 0, 1, int64_t{1} << 39, int64_t{1} << 39, int64_t{1} << 39}},
      {"fft", {0, 0, int64_t{1} << 60, 8}},
      {"cholesky", {0, int64_t{1} << 40, 1 << 23, 0}},
      {"triangular_solve", {0, int64_t{1} << 40, 1 << 20, 1 << 20, 1, 0, 0, 0}},
      {"lapack.gesdd", {0, 1, 8, 8, 0, 'A', 0, 0}},
      {"lapack.gesdd", {0, 1, 8, 8, 0, 'Q', 64, 64}},
      {"lapack.gesvd", {0, 1, 8, 8, 0, 'S', int64_t{1} << 62, 64}},
      {"lapack.syevd", {0, 1, 8, 8, 0, 'V', 256 + 'L'}},
      {"lapack.potrf", {0, 1, 0, 0, 0, 'L'}},
      {"lapack.trsm", {0, 1, 8, 4, 4, 'L', 'L', 'N', 'N'}},
      {"lapack.gehrd", {0, 1, 8, 8, 0, 1, 9}},
      {"lapack.orgqr", {0, 1, 4, 8, 4}},
      {"lapack.getrf", {0, 1, 1 << 30, 1 << 30, 0}},
  };
  for (const Case &c : cases) {
    ProgramBuilder builder({1});
    builder.addKernel("k", nullptr);
    builder.manifest.mutable_kernels(0)->set_library(c.name);
    for (int64_t number : c.numbers)
      builder.manifest.mutable_kernels(0)->add_numbers(number);
    EXPECT_EQ(builder.load().status().message(), std::string("library kernel '") + c.name +
                                                     "' with numbers that it does not take: "
                                                     "compile the program again");
  }
  // A large one that nothing runs costs nothing.
  ProgramBuilder builder({1});
  builder.addKernel("k", nullptr);
  auto *kernel = builder.manifest.mutable_kernels(0);
  kernel->set_library("fft");
  for (int64_t number : {int64_t{0}, int64_t{0}, int64_t{1}, int64_t{1} << 36})
    kernel->add_numbers(number);
  kernel->set_scratch_bytes(uint64_t{1} << 42);
  kernel->add_operands()->set_bytes(uint64_t{1} << 39);
  kernel->add_operands()->set_bytes(uint64_t{1} << 39);
  kernel->mutable_operands(1)->set_written(true);
  Cost cost;
  auto loaded = builder.load();
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  cost.expectSmall();
}

} // namespace
} // namespace tessera::runtime
