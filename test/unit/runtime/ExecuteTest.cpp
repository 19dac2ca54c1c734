// Control flow, shared grids, donation and failure.
#include "test/unit/runtime/ProgramBuilder.h"
#include <atomic>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <thread>

namespace tessera::runtime {
namespace {

using program::Collective;

// y = x + 1 on 4 floats; in place when both are one buffer.
int32_t increment(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  auto *x = static_cast<const float *>(args->buffers[0]);
  auto *y = static_cast<float *>(args->buffers[1]);
  for (int i = 0; i < 4; ++i)
    y[i] = x[i] + 1;
  return 0;
}

// predicate = x[0] < 10
int32_t below10(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  *static_cast<uint8_t *>(args->buffers[1]) = *static_cast<const float *>(args->buffers[0]) < 10;
  return 0;
}

// Cells of 256 floats: y = 2 x, with the cell's data going through scratch.
int32_t doubleCells(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  auto *x = static_cast<const float *>(args->buffers[0]);
  auto *y = static_cast<float *>(args->buffers[1]);
  auto *scratch = static_cast<float *>(args->scratch);
  for (uint32_t cell = begin; cell < end; ++cell) {
    for (int i = 0; i < 256; ++i)
      scratch[i] = 2 * x[256 * cell + i];
    for (int i = 0; i < 256; ++i)
      y[256 * cell + i] = scratch[i];
  }
  return 0;
}

int32_t failAt5(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  return *static_cast<const float *>(args->buffers[0]) == 5 ? 42 : 0;
}

TEST(ExecuteTest, NestedCountedLoops) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
  uint32_t kernel = builder.addKernel("increment", increment);
  ProgramBuilder::dispatch(builder.body(), kernel, {in, out});
  auto *outer = ProgramBuilder::loop(builder.body(), 3);
  auto *inner = ProgramBuilder::loop(outer->mutable_body(), 5);
  ProgramBuilder::dispatch(inner->mutable_body(), kernel, {out, out});
  auto *never = ProgramBuilder::loop(outer->mutable_body(), 0);
  ProgramBuilder::dispatch(never->mutable_body(), kernel, {out, out});
  auto result = runOnce(*builder.session(2), {bytesOf(std::vector<float>(8, 1))});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(8, 17));
}

TEST(ExecuteTest, DataDecidesALoopAndABranch) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {4}), index = builder.addInput(program::I32, {}),
       out = builder.addOutput(program::F32, {4});
  auto predicate = builder.addArena(1);
  uint32_t kernel = builder.addKernel("increment", increment),
           test = builder.addKernel("below10", below10);
  ProgramBuilder::dispatch(builder.body(), kernel, {in, out});
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  branch->add_blocks(); // block 0 does nothing
  ProgramBuilder::dispatch(branch->add_blocks()->mutable_body(), kernel, {out, out});
  auto *loop = ProgramBuilder::loop(branch->add_blocks()->mutable_body(), -1);
  ProgramBuilder::dispatch(loop->mutable_condition(), test, {out, predicate});
  *loop->mutable_predicate() = predicate;
  ProgramBuilder::dispatch(loop->mutable_body(), kernel, {out, out});
  auto session = builder.session(2);
  for (auto [block, want] : {std::pair(0, 1.0f), {1, 2.0f}, {2, 10.0f}, {7, 10.0f}, {-1, 10.0f}}) {
    auto result =
        runOnce(*session, {std::string(32, '\0'), bytesOf(std::vector<int32_t>(2, block))});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(8, want)) << block;
  }
}

// Each worker has scratch of its own; the one that runs the program perhaps in the arena.
TEST(ExecuteTest, LargeGridsAreShared) {
  constexpr uint32_t cells = 4096;
  for (auto [workers, isInArena] :
       {std::pair(1u, false), {2u, false}, {4u, false}, {1u, true}, {4u, true}}) {
    ProgramBuilder builder({3});
    auto in = builder.addInput(program::F32, {256 * cells}),
         out = builder.addOutput(program::F32, {256 * cells});
    uint32_t kernel = builder.addKernel("doubleCells", doubleCells, cells);
    builder.manifest.mutable_kernels(0)->set_scratch_bytes(1024);
    auto *loop = ProgramBuilder::loop(builder.body(), 10);
    ProgramBuilder::dispatch(loop->mutable_body(), kernel, {in, out});
    if (isInArena)
      *loop->mutable_body(0)->mutable_dispatch()->mutable_scratch() = builder.addArena(1024);
    std::vector<float> x(3 * 256 * cells), want(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      want[i] = 2 * (x[i] = static_cast<float>(i % 1000));
    auto result = runOnce(*builder.session(workers), {bytesOf(x)});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ((*result)[0].bytes, bytesOf(want));
  }
}

TEST(ExecuteTest, CoordinatesFollowThePermutationOfDevices) {
  ProgramBuilder builder({2, 3});
  auto out = builder.addOutput(program::I32, {}), minor = builder.addOutput(program::I32, {});
  for (int64_t d : {5, 4, 3, 2, 1, 0})
    builder.program.mutable_mesh()->add_device_ids(d);
  for (auto [axes, to] : {std::pair(std::vector<int>{1, 0}, out), {std::vector<int>{1}, minor}}) {
    auto *coordinate = builder.body()->Add()->mutable_coordinate();
    *coordinate->mutable_axes() = builder.collective({}, axes, program::I32, {}, out, out).axes();
    *coordinate->mutable_to() = to;
  }
  auto result = runOnce(*builder.session(2), {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(valuesOf<int32_t>((*result)[0].bytes), (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(valuesOf<int32_t>((*result)[1].bytes), (std::vector<int32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(ExecuteTest, ShardsOfUnevenSizesComeBack) {
  // 7 rows in tiles of 2 along an axis of 4, columns along one of 2: the last tiles are padded.
  ProgramBuilder builder({4, 2});
  for (auto *p : {builder.program.add_inputs(), builder.program.add_outputs()}) {
    p->set_type(program::I16);
    for (int dim = 0; dim < 2; ++dim) {
      p->add_global_shape(dim ? 5 : 7);
      auto *layout = p->add_layout();
      layout->set_tile(dim ? 3 : 2);
      auto *ref = layout->add_axes();
      ref->set_axis(dim);
      ref->set_pre_size(1);
      ref->set_size(dim ? 2 : 4);
    }
  }
  auto *copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = ProgramBuilder::buffer(program::Buffer::INPUT, 0, 0, 12);
  *copy->mutable_to() = ProgramBuilder::buffer(program::Buffer::OUTPUT, 0, 0, 12);
  std::vector<int16_t> x(35);
  for (int i = 0; i < 35; ++i)
    x[i] = static_cast<int16_t>(i + 1);
  auto result = runOnce(*builder.session(2), {bytesOf(x)});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(valuesOf<int16_t>((*result)[0].bytes), x);
}

TEST(ExecuteTest, DonatedInputsAreTakenOverAndInvalid) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {4});
  auto out = builder.addOutput(program::F32, {4});
  builder.program.mutable_inputs(0)->set_donated(true);
  builder.program.mutable_outputs(0)->set_alias(1);
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("increment", increment), {in, out});
  auto session = builder.session(2);
  std::vector<float> zeros(8);
  auto state = *session->place(session->program().inputs()[0], zeros.data());
  device::Address address = state->tiles[0]->address();
  for (int step = 1; step <= 3; ++step) {
    auto old = state;
    auto outputs = session->execute({state});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    state = (*outputs)[0];
    EXPECT_EQ(state->tiles[0]->address(), address);
    EXPECT_FALSE(old->valid);
    EXPECT_EQ(session->execute({old}).status().message(),
              "input 0 ('in0') was donated to an earlier step and is no longer valid");
    EXPECT_EQ(valuesOf<float>(session->fetch(*state)->bytes),
              std::vector<float>(8, static_cast<float>(step)));
  }
  EXPECT_EQ(session->counters().peakBytes, 16u); // input and output are one
}

TEST(ExecuteTest, AFailingKernelFailsTheStepAndNamesDeviceAndPlace) {
  ProgramBuilder builder({8});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
  uint32_t fail = builder.addKernel("failAt5", failAt5);
  auto *loop = ProgramBuilder::loop(builder.body(), 100);
  ProgramBuilder::dispatch(loop->mutable_body(), fail, {in}, builder.addLocation("model.py:12:3"));
  ProgramBuilder::start(
      loop->mutable_body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, in, out));
  ProgramBuilder::wait(loop->mutable_body(), 0);
  auto session = builder.session(2);
  std::vector<float> good(32, 1), bad = good;
  bad[12] = 5;
  for (int i = 0; i < 20; ++i) {
    auto result = runOnce(*session, {bytesOf(bad)});
    ASSERT_EQ(result.status().message(),
              "device 3: kernel 'failAt5' failed with code 42 at model.py:12:3");
    result = runOnce(*session, {bytesOf(good)}); // the session goes on
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_EQ(valuesOf<float>((*result)[0].bytes), std::vector<float>(32, 8));
  }
}

// Devices whose predicates differ go different ways.
TEST(ExecuteTest, DifferentCollectivesAreAnErrorNamingBoth) {
  ProgramBuilder builder({4});
  auto in = builder.addInput(program::F32, {4}), index = builder.addInput(program::I32, {}),
       out = builder.addOutput(program::F32, {4});
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  for (auto kind : {Collective::ALL_REDUCE, Collective::BROADCAST}) {
    auto *body = branch->add_blocks()->mutable_body();
    uint32_t location =
        builder.addLocation(kind == Collective::ALL_REDUCE ? "model.py:1:1" : "model.py:2:1");
    ProgramBuilder::start(body, kind, builder.collective(kind, {0}, program::F32, {4}, in, out),
                          location);
    ProgramBuilder::wait(body, kind);
  }
  auto session = builder.session(2);
  auto result =
      runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>{0, 0, 1, 0})});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("all_reduce at model.py:1:1"), std::string::npos)
      << result.status().message();
  EXPECT_NE(result.status().message().find("broadcast at model.py:2:1"), std::string::npos);
  EXPECT_TRUE(
      runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>{1, 1, 1, 1})}).ok());
}

// Guards against results that are right by luck: the same collectives, in another order.
TEST(ExecuteTest, AnotherOrderOfStartsIsAnError) {
  ProgramBuilder builder({4});
  auto in = builder.addInput(program::F32, {4}), index = builder.addInput(program::I32, {}),
       out = builder.addOutput(program::F32, {4}), other = builder.addOutput(program::F32, {4});
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  uint32_t location = builder.addLocation("model.py:1:1");
  for (int first : {0, 1}) {
    auto *body = branch->add_blocks()->mutable_body();
    for (int site : {first, 1 - first})
      ProgramBuilder::start(body, site,
                            builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, in,
                                               site ? other : out),
                            location);
    for (int site : {0, 1})
      ProgramBuilder::wait(body, site);
  }
  auto session = builder.session(2);
  auto result =
      runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>{0, 0, 1, 0})});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("of its group on device 0 and collective"),
            std::string::npos)
      << result.status().message();
  EXPECT_NE(result.status().message().find("on device 2: the devices took different ways"),
            std::string::npos);
  EXPECT_TRUE(runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>(4, 1))}).ok());
}

TEST(ExecuteTest, WaitingInVainIsAnError) {
  ProgramBuilder builder({4});
  auto in = builder.addInput(program::F32, {4}), index = builder.addInput(program::I32, {}),
       out = builder.addOutput(program::F32, {4});
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  auto *body = branch->add_blocks()->mutable_body();
  ProgramBuilder::start(body, 0,
                        builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, in, out),
                        builder.addLocation("model.py:1:1"));
  ProgramBuilder::wait(body, 0);
  branch->add_blocks();
  auto session = builder.session(2);
  auto result =
      runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>{0, 0, 1, 0})});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find(
                "device 0 waits for all_reduce at model.py:1:1, which device 2 has not started"),
            std::string::npos)
      << result.status().message();
  EXPECT_TRUE(runOnce(*session, {std::string(64, '\0'), bytesOf(std::vector<int32_t>(4, 0))}).ok());
}

int32_t alwaysTrue(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  *static_cast<uint8_t *>(args->buffers[0]) = 1;
  return 0;
}

std::string endAfter(ProgramBuilder &builder, double seconds) {
  auto loaded = builder.load();
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  SessionOptions options;
  options.workers = 2;
  options.timeLimit = seconds;
  auto session = Session::create(*loaded, options);
  EXPECT_TRUE(session.ok());
  auto result = runOnce(**session, {});
  EXPECT_NE(result.status().code(), Code::Cancelled);
  // Whatever ended, the session can start again, and ends again.
  EXPECT_EQ(runOnce(**session, {}).status().message(), result.status().message());
  return result.status().message();
}

// Loops that never end, alone, in each other, and with a device that waits for who is in one: the
// limit ends them, and the message says where.
TEST(ExecuteTest, TheTimeLimitNamesTheLoop) {
  const std::string start = "a step took longer than the time limit of 0.1 s: device ";
  auto endless = [](ProgramBuilder &builder, ProgramBuilder::Body *body, const char *where) {
    auto predicate = builder.addArena(1);
    uint32_t location = builder.addLocation(where);
    auto *loop = ProgramBuilder::loop(body, -1);
    body->rbegin()->set_location(location);
    ProgramBuilder::dispatch(loop->mutable_condition(), builder.addKernel("alwaysTrue", alwaysTrue),
                             {predicate}, builder.addLocation("model.py:90:1"));
    *loop->mutable_predicate() = predicate;
    return loop;
  };
  {
    ProgramBuilder builder({2});
    endless(builder, builder.body(), "model.py:9:1");
    EXPECT_EQ(endAfter(builder, 0.1), start + "0 was in the loop at model.py:9:1");
  }
  {
    ProgramBuilder builder({1}); // only the inner one ends, each time
    auto *loop = endless(builder, builder.body(), "model.py:9:1");
    ProgramBuilder::loop(loop->mutable_body(), 3);
    EXPECT_EQ(endAfter(builder, 0.1), start + "0 was in the loop at model.py:9:1");
  }
  {
    ProgramBuilder builder({1}); // trips that are counted, but too many
    ProgramBuilder::loop(builder.body(), int64_t{1} << 62);
    builder.body()->rbegin()->set_location(builder.addLocation("model.py:7:1"));
    EXPECT_EQ(endAfter(builder, 0.1), start + "0 was in the loop at model.py:7:1");
  }
  {
    // Device 0 waits for device 1, which never comes.
    ProgramBuilder builder({2});
    auto index = builder.addArena(4), from = builder.addArena(16), to = builder.addArena(16);
    auto *coordinate = builder.body()->Add()->mutable_coordinate();
    auto *axis = coordinate->add_axes();
    axis->set_pre_size(1);
    axis->set_size(2);
    *coordinate->mutable_to() = index;
    auto *branch = builder.body()->Add()->mutable_branch();
    *branch->mutable_index() = index;
    branch->add_blocks();
    endless(builder, branch->add_blocks()->mutable_body(), "model.py:5:1");
    ProgramBuilder::start(
        builder.body(), 0,
        builder.collective(program::Collective::ALL_REDUCE, {0}, program::F32, {4}, from, to));
    ProgramBuilder::wait(builder.body(), 0);
    EXPECT_EQ(endAfter(builder, 0.1), start + "1 was in the loop at model.py:5:1");
  }
}

// What is left of a grid is not run when the step is given up, or a cell has failed: these are
// hours.
TEST(ExecuteTest, TheTimeLimitEndsLargeGrids) {
  auto slow = [](const TesseraKernelArgs *, uint32_t, uint32_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(10));
    return 0;
  };
  for (uint32_t workers : {1u, 2u, 3u}) {
    ProgramBuilder builder({1});
    ProgramBuilder::dispatch(builder.body(), builder.addKernel("slow", slow, UINT32_MAX, 1e30), {},
                             builder.addLocation("model.py:9:1"));
    auto loaded = builder.load();
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    SessionOptions options;
    options.workers = workers;
    options.timeLimit = 0.05;
    auto session = Session::create(*loaded, options);
    int64_t begin = Pool::now();
    EXPECT_EQ(runOnce(**session, {}).status().message(),
              "a step took longer than the time limit of 0.05 s: device 0 was at model.py:9:1");
    EXPECT_LT(Pool::now() - begin, 10'000'000'000);
  }
  ProgramBuilder builder({1});
  auto failing = [](const TesseraKernelArgs *, uint32_t begin, uint32_t) {
    return begin > 100 ? 7 : 0;
  };
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("failing", failing, UINT32_MAX, 1e30),
                           {});
  EXPECT_EQ(runOnce(*builder.session(2), {}).status().message(),
            "device 0: kernel 'failing' failed with code 7 at an unknown place");
}

TEST(ExecuteTest, TheTimeLimitLetsOtherStepsBe) {
  ProgramBuilder builder({2});
  ProgramBuilder::loop(builder.body(), 1000);
  auto loaded = builder.load();
  SessionOptions options;
  options.timeLimit = 60;
  auto session = Session::create(*loaded, options);
  for (int step = 0; step < 100; ++step)
    EXPECT_TRUE(runOnce(**session, {}).ok());
  options.timeLimit = 1e300;
  session = Session::create(*loaded, options);
  EXPECT_TRUE(runOnce(**session, {}).ok());
  for (double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.timeLimit = wrong;
    EXPECT_EQ(Session::create(*loaded, options).status().code(), Code::InvalidArgument);
  }
}

TEST(ExecuteTest, CancelEndsARunningStep) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
  auto *loop = ProgramBuilder::loop(builder.body(), int64_t{1} << 50);
  ProgramBuilder::dispatch(loop->mutable_body(), builder.addKernel("increment", increment),
                           {in, out});
  auto session = builder.session(2);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    session->cancel();
  });
  auto result = runOnce(*session, {std::string(32, '\0')});
  canceller.join();
  EXPECT_EQ(result.status().code(), Code::Cancelled);
}

constexpr int64_t kLong = 4 << 20; // elements of an all-reduce that takes some milliseconds
std::atomic<int> startedBeside{0};

int32_t marksTheEnd(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // workers without a device sleep
  static_cast<float *>(args->buffers[0])[kLong - 1] = -1;
  return 0;
}

int32_t looksAtTheEnd(const TesseraKernelArgs *args, uint32_t, uint32_t) {
  startedBeside += static_cast<const volatile float *>(args->buffers[0])[kLong - 1] == -1;
  return 0;
}

// Were it carried out by the last device to start it, that one would find it done.
TEST(ExecuteTest, AnIdleWorkerCarriesOutWhatDevicesComputeBeside) {
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {kLong}), out = builder.addOutput(program::F32, {kLong});
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("marks", marksTheEnd), {out});
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {kLong}, in, out));
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("looks", looksAtTheEnd), {out});
  ProgramBuilder::wait(builder.body(), 0);
  auto session = builder.session(4);
  std::vector<float> ones(2 * kLong, 1);
  bool isBeside = false; // a device may lose its core just when it looks
  for (int step = 0; step < 20 && !isBeside; ++step) {
    startedBeside = 0;
    auto outputs = runOnce(*session, {bytesOf(ones)});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    isBeside = startedBeside == 2;
    auto *sums = reinterpret_cast<const float *>((*outputs)[0].bytes.data());
    for (int64_t i : {int64_t{0}, kLong - 1, 2 * kLong - 1})
      EXPECT_EQ(sums[i], 2) << i;
  }
  EXPECT_TRUE(isBeside);
}

TEST(ExecuteTest, SimulatedLinksDelayWithoutACore) {
  ProgramBuilder builder({8});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
  auto *loop = ProgramBuilder::loop(builder.body(), 10);
  ProgramBuilder::start(loop->mutable_body(), 0,
                        builder.collective(Collective::ALL_GATHER, {}, program::F32, {4}, in, out));
  auto *c = loop->mutable_body(0)->mutable_start()->mutable_collective();
  c->set_kind(Collective::ALL_REDUCE);
  *c->mutable_axes() = builder.collective({}, {0}, program::F32, {4}, in, out).axes();
  ProgramBuilder::wait(loop->mutable_body(), 0);
  auto loaded = builder.load();
  SessionOptions options;
  options.workers = 2;
  options.links =
      std::make_shared<Links>(links::Network{{1e-3, 1e9}, {}, {}}, builder.program.mesh());
  auto session = std::move(*Session::create(*loaded, options));
  int64_t begin = Pool::now();
  ASSERT_TRUE(runOnce(*session, {std::string(128, '\0')}).ok());
  // 10 all-reduces of 3 steps of a millisecond, one after the other.
  EXPECT_GE(Pool::now() - begin, 30'000'000);
}

int32_t takes20ms(const TesseraKernelArgs *, uint32_t, uint32_t) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 0;
}

// Eight devices share a worker. Were one to compute before the others have started the collective,
// it would begin when only the last has anything left to hide it.
TEST(ExecuteTest, AllDevicesStartBeforeOneGoesOn) {
  if (const char *target = std::getenv("TESSERA_TARGET");
      target && std::string_view(target) == "shadow")
    GTEST_SKIP() << "commands of shadow are late on purpose";
  ProgramBuilder builder({8});
  auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4}),
       other = builder.addOutput(program::F32, {4});
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, in, out));
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("takes20ms", takes20ms), {in, other});
  ProgramBuilder::wait(builder.body(), 0);
  auto loaded = builder.load();
  SessionOptions options;
  options.workers = 1;
  options.links =
      std::make_shared<Links>(links::Network{{50e-3, 1e9}, {}, {}}, builder.program.mesh());
  auto session = std::move(*Session::create(*loaded, options));
  int64_t least = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    int64_t begin = Pool::now();
    ASSERT_TRUE(runOnce(*session, {std::string(128, '\0')}).ok());
    least = std::min(least, Pool::now() - begin);
  }
  // 160 ms of kernels beside 150 ms on the links; 290 ms where seven kernels came before.
  EXPECT_LT(least, 240'000'000);
}

} // namespace
} // namespace tessera::runtime
