// Several programs in one file and the channels between them; functions; copies beside other instructions; images of code.
#include "runtime/program/Moves.h"
#include "test/unit/runtime/CompiledKernels.h"
#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::runtime {
namespace {

using program::Collective;

// y = x + 1 on 4 floats.
int32_t increment(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(args->buffers[1])[i] = static_cast<const float *>(args->buffers[0])[i] + 1;
  return 0;
}

// y = 2 x on 4 floats.
int32_t twice(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(args->buffers[1])[i] = static_cast<const float *>(args->buffers[0])[i] * 2;
  return 0;
}

uint32_t addChannel(ProgramBuilder &builder, const std::string &name, uint32_t from, uint32_t to,
                    const std::vector<int64_t> &pairs = {}) {
  auto *channel = builder.manifest.add_channels();
  channel->set_name(name);
  channel->set_from(from);
  channel->set_to(to);
  channel->set_type(program::F32);
  channel->add_shape(4);
  for (int64_t position : pairs)
    channel->add_source_target(position);
  return builder.manifest.channels_size() - 1;
}

void send(ProgramBuilder::Body *body, uint32_t site, uint32_t channel, program::Buffer from,
          uint32_t location = 0) {
  auto *instruction = body->Add();
  instruction->set_location(location);
  instruction->mutable_send()->set_site(site);
  instruction->mutable_send()->set_channel(channel);
  *instruction->mutable_send()->mutable_from() = from;
}

void receive(ProgramBuilder::Body *body, uint32_t site, uint32_t channel, program::Buffer to,
             uint32_t location = 0) {
  auto *instruction = body->Add();
  instruction->set_location(location);
  instruction->mutable_receive()->set_site(site);
  instruction->mutable_receive()->set_channel(channel);
  *instruction->mutable_receive()->mutable_to() = to;
}

void startCopy(ProgramBuilder::Body *body, uint32_t site, program::Buffer from,
               program::Buffer to) {
  auto *copy = body->Add()->mutable_copy_start();
  copy->set_site(site);
  *copy->mutable_from() = from;
  *copy->mutable_to() = to;
}

// Of a part that begins `step` times what `index` holds.
void startPart(ProgramBuilder::Body *body, uint32_t site, program::Buffer from, program::Buffer to,
               program::Buffer index, uint64_t step) {
  startCopy(body, site, from, to);
  auto *copy = body->Mutable(body->size() - 1)->mutable_copy_start();
  *copy->mutable_index() = index;
  copy->set_step(step);
}

program::Buffer in(program::Buffer::Space space, uint64_t offset, uint64_t bytes = 16,
                   int index = 0) {
  return ProgramBuilder::buffer(space, index, offset, bytes);
}

// Stage 0 on devices 0 and 2 doubles its input and sends it, in a loop of 5; stage 1 on devices 1
// and 3 adds one to what comes, and at last reduces that over its devices.
ProgramBuilder stages(const std::vector<int64_t> &pairs) {
  ProgramBuilder first({2}), second({2});
  uint32_t add = first.addKernel("increment", increment), times = first.addKernel("twice", twice);
  uint32_t channel = addChannel(first, "activations", 0, 1, pairs);
  first.program.set_name("first");
  auto x = first.addInput(program::F32, {4});
  auto t = first.addArena(16);
  auto copy = first.body()->Add()->mutable_copy();
  *copy->mutable_from() = x;
  *copy->mutable_to() = t;
  auto *loop = ProgramBuilder::loop(first.body(), 5);
  ProgramBuilder::dispatch(loop->mutable_body(), times, {t, t});
  send(loop->mutable_body(), 7, channel, t, first.addLocation("model.py:3:1"));
  ProgramBuilder::wait(loop->mutable_body(), 7);
  for (int64_t device : {0, 2})
    first.program.mutable_mesh()->add_device_ids(device);

  second.program.set_name("second");
  auto y = second.addOutput(program::F32, {4}), sum = second.addOutput(program::F32, {4});
  auto received = second.addArena(16);
  auto *trips = ProgramBuilder::loop(second.body(), 5);
  receive(trips->mutable_body(), 0, channel, received, first.addLocation("model.py:4:1"));
  ProgramBuilder::wait(trips->mutable_body(), 0);
  ProgramBuilder::dispatch(trips->mutable_body(), add, {received, y});
  ProgramBuilder::start(second.body(), 1,
                        second.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, y, sum));
  ProgramBuilder::wait(second.body(), 1);
  for (int64_t device : {1, 3})
    second.program.mutable_mesh()->add_device_ids(device);
  first.more.push_back(second.program);
  return first;
}

TEST(ProgramsTest, OneSendsWhatAnotherComputesOn) {
  for (uint32_t workers : {1u, 2u, 4u}) {
    ProgramBuilder builder = stages({});
    auto session = builder.session(workers);
    ASSERT_TRUE(session);
    for (int step = 0; step < 20; ++step) {
      auto result = runOnce(*session, {bytesOf(std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2})});
      ASSERT_TRUE(result.ok()) << result.status().message();
      EXPECT_EQ(valuesOf<float>((*result)[0].bytes),
                (std::vector<float>{33, 33, 33, 33, 65, 65, 65, 65}));
      EXPECT_EQ(valuesOf<float>((*result)[1].bytes), std::vector<float>(8, 98));
    }
    // On the device that has most: 5 receives of 16 bytes and an all-reduce of 16.
    EXPECT_EQ(session->counters().collectives, 6u);
    EXPECT_EQ(session->counters().collectiveBytes, 96u);
  }
}

TEST(ProgramsTest, AChannelSaysWhoSendsToWhom) {
  ProgramBuilder crossed = stages({0, 1, 1, 0});
  auto result = runOnce(*crossed.session(2), {bytesOf(std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(valuesOf<float>((*result)[0].bytes),
            (std::vector<float>{65, 65, 65, 65, 33, 33, 33, 33}));
  ProgramBuilder both = stages({1, 1, 1, 0}); // device 0's sends go to nobody
  result = runOnce(*both.session(2), {bytesOf(std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(8, 65));
}

TEST(ProgramsTest, MovesAreCountedByTheText) {
  auto loaded = stages({}).load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  auto first = movesOf((*loaded)->programs()[0].decoded());
  EXPECT_EQ(first["send"].count, 5u);
  EXPECT_EQ(first["send"].sites, 1u);
  auto second = movesOf((*loaded)->programs()[1].decoded());
  EXPECT_EQ(second["receive"].bytes, 80u);
  EXPECT_EQ(second["all_reduce"].count, 1u);
  EXPECT_TRUE(second["receive"].known);
}

// What is sent first comes first, whichever side is faster; two in flight.
TEST(ProgramsTest, SendsComeInTheirOrder) {
  ProgramBuilder builder({});
  uint32_t channel = addChannel(builder, "both", 0, 1);
  auto a = builder.addInput(program::F32, {4}), b = builder.addInput(program::F32, {4});
  send(builder.body(), 0, channel, a);
  send(builder.body(), 1, channel, b);
  ProgramBuilder::wait(builder.body(), 1);
  ProgramBuilder::wait(builder.body(), 0);
  ProgramBuilder other({});
  other.program.mutable_mesh()->set_first_device(1);
  auto c = other.addOutput(program::F32, {4}), d = other.addOutput(program::F32, {4});
  receive(other.body(), 0, channel, c);
  receive(other.body(), 1, channel, d);
  ProgramBuilder::wait(other.body(), 0);
  ProgramBuilder::wait(other.body(), 1);
  builder.more.push_back(other.program);
  auto session = builder.session(2);
  for (int step = 0; step < 50; ++step) {
    auto result =
        runOnce(*session, {bytesOf(std::vector<float>(4, 3)), bytesOf(std::vector<float>(4, 5))});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(4, 3));
    EXPECT_EQ(valuesOf<float>((*result)[1].bytes), std::vector<float>(4, 5));
  }
}

TEST(ProgramsTest, AReceiveInVainIsNamed) {
  ProgramBuilder builder = stages({});
  builder.program.mutable_body(1)->mutable_loop()->set_trip_count(4);
  auto session = builder.session(2);
  auto result = runOnce(*session, {std::string(32, '\0')});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("waits for receive on channel 'activations' at "
                                           "model.py:4:1, whose other end is device"),
            std::string::npos)
      << result.status().message();
  // The step after it stalls as well, by itself: nothing of the last one is left.
  EXPECT_FALSE(runOnce(*session, {std::string(32, '\0')}).ok());
}

// f(x) -> y: y = x + 1, through the function's own bytes of the arena; g(x) -> y: f twice in a loop
// of 2. Called on different buffers, one after the other.
TEST(ProgramsTest, FunctionsRunOnWhatCallsGiveThem) {
  ProgramBuilder builder({2});
  auto x = builder.addInput(program::F32, {4}), y = builder.addOutput(program::F32, {4}),
       z = builder.addOutput(program::F32, {4});
  uint32_t add = builder.addKernel("increment", increment);
  auto t = builder.addArena(16), u = builder.addArena(16);
  auto first = in(program::Buffer::ARGUMENT, 0), second = in(program::Buffer::ARGUMENT, 0, 16, 1);
  auto addFunction = [&](const std::string &name) {
    auto *function = builder.program.add_functions();
    function->set_name(name);
    function->add_arguments()->set_bytes(16);
    auto *written = function->add_arguments();
    written->set_bytes(16);
    written->set_written(true);
    return function;
  };
  auto call = [](ProgramBuilder::Body *body, uint32_t function, program::Buffer a,
                 program::Buffer b) {
    auto *made = body->Add()->mutable_call();
    made->set_function(function);
    *made->add_operands() = a;
    *made->add_operands() = b;
  };
  auto *f = addFunction("f");
  ProgramBuilder::dispatch(f->mutable_body(), add, {first, t});
  ProgramBuilder::start(
      f->mutable_body(), 3,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, t, second));
  ProgramBuilder::wait(f->mutable_body(), 3);
  auto *g = addFunction("g");
  auto *loop = ProgramBuilder::loop(g->mutable_body(), 2);
  call(loop->mutable_body(), 0, first, u);
  call(loop->mutable_body(), 0, u, second);
  call(builder.body(), 1, x, y);
  call(builder.body(), 0, y, z);
  auto loaded = builder.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(movesOf((*loaded)->programs()[0].decoded())["all_reduce"].count, 5u);
  auto session = builder.session(2);
  for (int step = 0; step < 5; ++step) {
    auto result = runOnce(*session, {bytesOf(std::vector<float>{1, 1, 1, 1, 3, 3, 3, 3})});
    ASSERT_TRUE(result.ok()) << result.status().message();
    // 1 and 3 -> 2 + 4 = 6 -> 14, twice from the same x; 14 -> 30.
    EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(8, 14));
    EXPECT_EQ(valuesOf<float>((*result)[1].bytes), std::vector<float>(8, 30));
    EXPECT_EQ(session->counters().collectives, 5u);
  }
}

// Rows of the host's array: what is put at i and taken at j, each kept within the array.
TEST(ProgramsTest, PartsOfAnArrayOnTheHostAreWhereDataSays) {
  ProgramBuilder builder({1});
  auto x = builder.addInput(program::F32, {4}), h = builder.addInput(program::F32, {12});
  auto i = builder.addInput(program::I32, {}), j = builder.addInput(program::I32, {});
  auto y = builder.addOutput(program::F32, {4}), all = builder.addOutput(program::F32, {12});
  builder.program.mutable_inputs(1)->set_memory(program::HOST_MEMORY);
  builder.program.mutable_outputs(1)->set_memory(program::HOST_MEMORY);
  auto *copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = h;
  *copy->mutable_to() = all;
  startPart(builder.body(), 0, x, all, i, 16);
  ProgramBuilder::wait(builder.body(), 0);
  startPart(builder.body(), 0, all, y, j, 16);
  ProgramBuilder::wait(builder.body(), 0);
  auto session = builder.session(2);
  ASSERT_TRUE(session);
  auto row = [](int32_t index) { return size_t(std::clamp(index, 0, 2)); };
  for (int32_t put : {1, 0, 2, 3, -1, std::numeric_limits<int32_t>::max()})
    for (int32_t take : {1, 7, std::numeric_limits<int32_t>::min()}) {
      std::vector<float> host(12), part{100, 101, 102, 103};
      std::iota(host.begin(), host.end(), 0.0f);
      auto result = runOnce(*session, {bytesOf(part), bytesOf(host), bytesOf(std::vector{put}),
                                       bytesOf(std::vector{take})});
      ASSERT_TRUE(result.ok()) << result.status().message();
      std::copy(part.begin(), part.end(), host.begin() + 4 * row(put));
      auto taken = host.begin() + 4 * row(take);
      EXPECT_EQ(valuesOf<float>((*result)[1].bytes), host);
      EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(taken, taken + 4));
      Counters counters = session->counters();
      EXPECT_EQ(counters.transfers, 2u); // what stays on the host is none
      EXPECT_EQ(counters.transferBytes, 32u);
      EXPECT_EQ(counters.hostPeakBytes, 96u);
    }
}

TEST(ProgramsTest, BytesGoToTheHostAndAFileAndBack) {
  ProgramBuilder builder({3});
  auto x = builder.addInput(program::F32, {4}), y = builder.addOutput(program::F32, {4});
  uint32_t add = builder.addKernel("increment", increment);
  builder.program.set_host_bytes(80);
  builder.program.set_file_bytes(1 << 20);
  auto host = in(program::Buffer::HOST_ARENA, 64), file = in(program::Buffer::FILE_ARENA, 1 << 16);
  auto t = builder.addArena(16), u = builder.addArena(16);
  auto *copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = x;
  *copy->mutable_to() = host;
  startCopy(builder.body(), 2, host, t);
  ProgramBuilder::dispatch(builder.body(), add, {x, u});
  ProgramBuilder::wait(builder.body(), 2);
  startCopy(builder.body(), 4, t, file);
  startCopy(builder.body(), 2, u, host);
  ProgramBuilder::wait(builder.body(), 4);
  ProgramBuilder::wait(builder.body(), 2);
  startCopy(builder.body(), 4, file, u);
  ProgramBuilder::wait(builder.body(), 4);
  ProgramBuilder::dispatch(builder.body(), add, {u, y});
  auto session = builder.session(2);
  ASSERT_TRUE(session);
  for (float value : {1.0f, 5.0f, 7.0f}) {
    auto result = runOnce(*session, {bytesOf(std::vector<float>(12, value))});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(12, value + 1));
  }
}

TEST(ProgramsTest, ParametersLieOnTheHost) {
  ProgramBuilder builder({2});
  auto x = builder.addInput(program::F32, {4}), y = builder.addOutput(program::F32, {4});
  builder.program.mutable_inputs(0)->set_memory(program::HOST_MEMORY);
  builder.program.mutable_outputs(0)->set_memory(program::HOST_MEMORY);
  auto t = builder.addArena(16);
  auto copy = [&](program::Buffer from, program::Buffer to) {
    auto *made = builder.body()->Add()->mutable_copy();
    *made->mutable_from() = from;
    *made->mutable_to() = to;
  };
  copy(x, t);
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("increment", increment), {t, t});
  copy(t, y);
  auto result = runOnce(*builder.session(2), {bytesOf(std::vector<float>(8, 4))});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(8, 5));
}

// The best image that the machine can run, not the first; none that it can't.
TEST(ProgramsTest, TheBestImageIsTaken) {
  ProgramBuilder builder = accumulator({2}, false);
  auto image = [&](const std::string &section, const std::vector<std::string> &features) {
    auto *made = builder.manifest.add_images();
    made->set_target("cpu");
    made->set_section(section);
    for (const std::string &feature : features)
      made->add_features(feature);
  };
  image("plain", {});
  image("better", {"sse3"});
  image("unknown", {"amx-fp8-of-the-future", "sse3"});
  auto code = [](const std::string &factor) {
    return compiledCode(
        "int32_t add(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {\n"
        "  for (int i = 0; i < 3; ++i)\n    ((float *)args->buffers[2])[i] = " +
        factor + ";\n  return 0;\n}\n");
  };
  std::string plain = code("1"), better = code("2"), bytes = builder.serialized();
  using container::SectionKind;
  std::string file = container::write({{"manifest", SectionKind::Manifest, bytes},
                                       {"plain", SectionKind::Code, plain},
                                       {"better", SectionKind::Code, better},
                                       {"unknown", SectionKind::Code, "no elf"}});
  auto loaded = LoadedProgram::load(file, nullptr);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  SessionOptions options;
  options.workers = 1;
  auto session = Session::create(*loaded, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::string zeros(24, '\0');
  auto result = runOnce(**session, {zeros, zeros});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(6, 2));
}

TEST(ProgramsTest, AnImageMayHaveOtherGrids) {
  ProgramBuilder builder = accumulator({2}, false);
  auto *image = builder.manifest.add_images();
  image->set_target("cpu");
  image->add_grids(5);
  builder.kernels["add"] = [](const TesseraKernelArgs *, uint32_t begin, uint32_t end) -> int32_t {
    return begin == 0 && end == 5 ? 0 : 1;
  };
  std::string zeros(24, '\0');
  auto result = runOnce(*builder.session(1), {zeros, zeros});
  EXPECT_TRUE(result.ok()) << result.status().message();
  builder.manifest.mutable_images(0)->add_grids(5);
  EXPECT_EQ(builder.load().status().message(), "an image of code has 2 grids for 1 kernels");
}

TEST(ProgramsTest, OlderFilesAreRefusedInOneLine) {
  // The manifest of version 3 was the program itself: its name behind its version.
  std::string old("\x08\x03\x12\x04main\x1a\x00", 10);
  std::string file = container::write({{"manifest", container::SectionKind::Manifest, old}});
  auto status = LoadedProgram::load(file, nullptr).status();
  EXPECT_EQ(status.message(), "program version 3, this runtime runs 5: compile it again");
  EXPECT_EQ(status.code(), Code::FailedPrecondition);
}

// One thing of the stages is broken.
struct Broken {
  const char *message;
  std::function<void(ProgramBuilder &)> breakIt;
};

void expectRefused(std::initializer_list<Broken> cases) {
  for (const Broken &c : cases) {
    ProgramBuilder builder = stages({});
    c.breakIt(builder);
    auto loaded = builder.load();
    EXPECT_EQ(loaded.ok() ? "" : loaded.status().message(), c.message);
  }
}

program::Send *sendOf(ProgramBuilder &b) {
  return b.program.mutable_body(1)->mutable_loop()->mutable_body(1)->mutable_send();
}

program::Function *addFunction(ProgramBuilder &b) {
  auto *function = b.program.add_functions();
  function->set_name("f");
  return function;
}

TEST(ProgramsTest, BrokenDevicesAndChannelsAreRefused) {
  expectRefused({
      {"device 0 has two programs",
       [](auto &b) { b.more[0].mutable_mesh()->set_device_ids(0, 0); }},
      {"device 1 has no program", [](auto &b) { b.more[0].mutable_mesh()->set_device_ids(0, 4); }},
      {"a mesh's device ids name device 16777216",
       [](auto &b) { b.more[0].mutable_mesh()->set_device_ids(0, 1 << 24); }},
      {"channel 'activations' joins programs 0 and 2 of 2",
       [](auto &b) { b.manifest.mutable_channels(0)->set_to(2); }},
      {"channel 'activations' has 1 pairs for 2 devices that receive",
       [](auto &b) {
         for (int64_t p : {0, 1})
           b.manifest.mutable_channels(0)->add_source_target(p);
       }},
      {"channel 'activations' has two senders for position 1",
       [](auto &b) {
         for (int64_t p : {0, 1, 1, 1})
           b.manifest.mutable_channels(0)->add_source_target(p);
       }},
      {"channel 'activations' names a pair of positions 2, 0 that the meshes have not",
       [](auto &b) {
         for (int64_t p : {0, 1, 2, 0})
           b.manifest.mutable_channels(0)->add_source_target(p);
       }},
      {"channel 'activations' is for arrays of an impossible size",
       [](auto &b) { b.manifest.mutable_channels(0)->set_shape(0, INT64_MAX); }},
      {"model.py:3:1: channel 1 does not exist", [](auto &b) { sendOf(b)->set_channel(1); }},
      {"model.py:3:1: a buffer of 16 bytes where 20 are used",
       [](auto &b) { b.manifest.mutable_channels(0)->set_shape(0, 5); }},
      {"model.py:4:1: receives on channel 'activations', whose end is another program's",
       [](auto &b) { b.manifest.mutable_channels(0)->set_to(0); }},
      {"the program ends without waiting for site 7",
       [](auto &b) { b.program.mutable_body(1)->mutable_loop()->mutable_body()->RemoveLast(); }},
      {"site 1 is started in two kinds of instructions",
       [](auto &b) {
         b.more[0].mutable_body(0)->mutable_loop()->mutable_body(0)->mutable_receive()->set_site(1);
       }},
      {"kernel 'increment' is the runtime's and from outside at once",
       [](auto &b) {
         b.manifest.mutable_kernels(0)->set_outside("mine");
         b.manifest.mutable_kernels(0)->set_library("fft");
       }},
      {"the program was compiled for 'tpu', which this runtime has not: compile it for the cpu",
       [](auto &b) { b.manifest.add_images()->set_target("tpu"); }},
  });
}

TEST(ProgramsTest, BrokenTransfersAreRefused) {
  expectRefused({
      {"model.py:3:1: uses a buffer in the host's memory, which only copies reach",
       [](auto &b) {
         b.program.set_host_bytes(64);
         sendOf(b)->mutable_from()->set_space(program::Buffer::HOST_ARENA);
       }},
      {"instruction 0: bytes 0 to 16 of the host's arena, which has 0",
       [](auto &b) {
         b.program.mutable_body(0)->mutable_copy()->mutable_to()->set_space(
             program::Buffer::HOST_ARENA);
       }},
      {"instruction 0: uses a buffer in a file, which only copies that are waited for reach",
       [](auto &b) {
         b.program.set_file_bytes(64);
         b.program.mutable_body(0)->mutable_copy()->mutable_to()->set_space(
             program::Buffer::FILE_ARENA);
       }},
      {"instruction 6: copies from file to file",
       [](auto &b) {
         b.program.set_file_bytes(128);
         startCopy(b.body(), 3, in(program::Buffer::FILE_ARENA, 0),
                   in(program::Buffer::FILE_ARENA, 64));
         ProgramBuilder::wait(b.body(), 3);
       }},
      {"instruction 6: a buffer of 2 bytes where 4 are used",
       [](auto &b) {
         startPart(b.body(), 3, in(program::Buffer::ARENA, 0), in(program::Buffer::ARENA, 0, 4),
                   in(program::Buffer::ARENA, 0, 2), 4);
         ProgramBuilder::wait(b.body(), 3);
       }},
      {"instruction 6: copies a part that begins at an impossible place",
       [](auto &b) {
         startPart(b.body(), 3, in(program::Buffer::ARENA, 0), in(program::Buffer::ARENA, 0, 4),
                   in(program::Buffer::ARENA, 0, 4), ~0ull);
         ProgramBuilder::wait(b.body(), 3);
       }},
      {"an arena of the host of 18446744073709551615 bytes",
       [](auto &b) { b.program.set_host_bytes(~0ull); }},
      {"parameter 'in0': lies in no memory that a caller's arrays can have",
       [](auto &b) { b.program.mutable_inputs(0)->set_memory(program::FILE_MEMORY); }},
      {"two inputs have the name 'in0'",
       [](auto &b) { *b.program.add_inputs() = b.program.inputs(0); }},
  });
}

TEST(ProgramsTest, BrokenFunctionsAreRefused) {
  expectRefused({
      {"instruction 6: function 0 does not exist",
       [](auto &b) { b.body()->Add()->mutable_call(); }},
      {"instruction 6: function 'f' takes 1 operands, not 0",
       [](auto &b) {
         addFunction(b)->add_arguments();
         b.body()->Add()->mutable_call();
       }},
      {"instruction 7: a function calls itself or one behind it",
       [](auto &b) { addFunction(b)->add_body()->mutable_call(); }},
      {"instruction 7: argument 0 does not exist",
       [](auto &b) {
         ProgramBuilder::dispatch(
             addFunction(b)->mutable_body(), 0,
             {in(program::Buffer::ARGUMENT, 0), in(program::Buffer::ARENA, 0)});
       }},
      {"instruction 7: writes to argument 0, which the function only reads",
       [](auto &b) {
         auto *function = addFunction(b);
         function->add_arguments()->set_bytes(16);
         auto *copy = function->add_body()->mutable_copy();
         *copy->mutable_from() = *copy->mutable_to() = in(program::Buffer::ARGUMENT, 0);
       }},
      {"function 'f' ends without waiting for site 9",
       [](auto &b) {
         auto *copy = addFunction(b)->add_body()->mutable_copy_start();
         copy->set_site(9);
         *copy->mutable_from() = *copy->mutable_to() = in(program::Buffer::ARENA, 0);
       }},
      {"instruction 6: gives function 'f' a result over an operand",
       [](auto &b) {
         auto *function = addFunction(b);
         function->add_arguments()->set_bytes(16);
         function->add_arguments()->set_bytes(16);
         function->mutable_arguments(1)->set_written(true);
         auto *call = b.body()->Add()->mutable_call();
         *call->add_operands() = *call->add_operands() = in(program::Buffer::ARENA, 0);
       }},
  });
}

TEST(ProgramsTest, AFileHoldsAProgram) {
  program::File manifest;
  manifest.set_version(container::kProgramVersion);
  std::string bytes = manifest.SerializeAsString();
  std::string file = container::write({{"manifest", container::SectionKind::Manifest, bytes}});
  EXPECT_EQ(LoadedProgram::load(file, nullptr).status().message(),
            "altered: the file holds no program");
}

} // namespace
} // namespace tessera::runtime
