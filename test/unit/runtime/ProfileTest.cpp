// What `run --profile` makes of the events of a step: rows that add up to it.
#include "runtime/trace/Profile.h"
#include "test/unit/runtime/CompiledKernels.h"
#include <numeric>

namespace tessera::runtime {
namespace {

constexpr MachineSpeed kSpeed{1e9, 1e9, 4e9};

// Two devices: a collective, its wait, a kernel of 2,000 FLOPs and 500 bytes, a copy.
class ProfileTest : public testing::Test {
protected:
  void SetUp() override {
    ProgramBuilder builder = accumulator({2}, true);
    builder.kernels["add"] = [](const TesseraKernelArgs *, uint32_t, uint32_t) { return 0; };
    program::Kernel &kernel = *builder.manifest.mutable_kernels(0);
    kernel.set_flops(2000);
    kernel.set_bytes_read(400);
    kernel.set_bytes_written(100);
    kernel.set_predicted_seconds(1e-6);
    auto loaded = builder.load();
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    file = *loaded;
    const auto &code = file->programs()[0].decoded().code;
    for (uint32_t i = 0; i < code.size(); ++i)
      at[code[i].opcode] = i;
  }

  // Start 0..10, [gap] wait 30..40, kernel 45..60, copy 60..62; the step ends at 70 (in us).
  std::vector<TraceEvent> events(int64_t from) {
    auto event = [&](Opcode opcode, int64_t begin, int64_t end) {
      return TraceEvent{at[opcode], from + 1000 * begin, from + 1000 * end};
    };
    return {event(Opcode::Start, 0, 10), event(Opcode::Wait, 30, 40),
            event(Opcode::Dispatch, 45, 60), event(Opcode::Copy, 60, 62)};
  }

  Profile profileOf(uint32_t cores, int64_t stepEnd = 70000) {
    std::vector<TraceEvent> one = events(0), other = events(0);
    const DeviceProgram *program = file->programs().data();
    TracedDevice devices[] = {{program, 0, &one}, {program, 1, &other}};
    profiler.add(devices, {0, stepEnd});
    return profiler.profile(*file, cores, kSpeed);
  }

  static double sumOf(const Profile &profile) {
    return std::accumulate(profile.rows.begin(), profile.rows.end(), 0.0,
                           [](double sum, const ProfileRow &row) { return sum + row.seconds; });
  }
  static const ProfileRow *find(const Profile &profile, const std::string &name) {
    for (const ProfileRow &row : profile.rows)
      if (row.name == name)
        return &row;
    return nullptr;
  }

  std::shared_ptr<const LoadedProgram> file;
  std::map<Opcode, uint32_t> at;
  StepProfiler profiler;
};

TEST_F(ProfileTest, GapsBelongToWhatFollowsThem) {
  Profile profile = profileOf(2);
  ASSERT_EQ(profile.rows.size(), 5U);
  // Start, the gap before the wait, and the wait; where the collective was started.
  EXPECT_EQ(profile.rows[0].name, "all_reduce");
  EXPECT_EQ(profile.rows[0].location, "model.py:7:3");
  EXPECT_NEAR(profile.rows[0].seconds, 40e-6, 1e-12);
  EXPECT_EQ(profile.rows[0].calls, 2U);
  EXPECT_EQ(profile.rows[0].bytes, 24);
  const ProfileRow *kernel = find(profile, "add");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->location, "model.py:8:3");
  EXPECT_NEAR(kernel->seconds, 15e-6, 1e-12);
  EXPECT_EQ(kernel->calls, 2U);
  EXPECT_EQ(kernel->bytes, 1000);
  EXPECT_EQ(kernel->flops, 4000);
  EXPECT_NEAR(kernel->leastSeconds, 4e-6, 1e-12);     // both devices' operations on both cores
  EXPECT_NEAR(kernel->predictedSeconds, 1e-6, 1e-12); // each device beside the other
  EXPECT_NEAR(find(profile, "between kernels")->seconds, 5e-6, 1e-12);
  EXPECT_NEAR(find(profile, "before the step's end")->seconds, 8e-6, 1e-12);
  EXPECT_NEAR(sumOf(profile), 70e-6, 1e-12);
}

// On one core the time of both is the step's, and nobody knows what gaps wait for.
TEST_F(ProfileTest, DevicesThatTakeTurns) {
  Profile profile = profileOf(1);
  EXPECT_NEAR(find(profile, "add")->seconds, 30e-6, 1e-12);
  EXPECT_NEAR(find(profile, "all_reduce")->seconds, 20e-6, 1e-12); // what starts it
  EXPECT_NEAR(sumOf(profile), 70e-6, 1e-12);
}

TEST_F(ProfileTest, TheQuickestStepIsKept) {
  profileOf(2);
  EXPECT_EQ(profileOf(2, 90000).step, 1U);
  Profile last = profileOf(2, 65000);
  EXPECT_EQ(last.step, 3U);
  EXPECT_NEAR(last.seconds, 65e-6, 1e-12);
  EXPECT_NEAR(sumOf(last), 65e-6, 1e-12);
}

TEST_F(ProfileTest, ATableOfSomeRows) {
  Profile profile = profileOf(2);
  std::string two = profileText(profile, *file, 9, 2);
  EXPECT_NE(two.find("profile of the quickest of 9 steps, 70.0 us: 2 devices on 2 cores"),
            std::string::npos)
      << two;
  EXPECT_NE(two.find("15.0 us   21.4%        2 1,000 bytes    4.0 k       27%    1.0 us  add"),
            std::string::npos)
      << two;
  EXPECT_NE(two.find("3 other rows"), std::string::npos) << two;
  EXPECT_EQ(profileText(profile, *file, 9, SIZE_MAX).find("other"), std::string::npos);
}

// Whatever the processor has: numbers that a program can be set beside.
TEST(MachineSpeedTest, IsMeasured) {
  MachineSpeed speed = measureMachine(2);
  EXPECT_GT(speed.copiedBytes, 1e8);
  EXPECT_GT(speed.f32Flops, 1e8);
  EXPECT_GE(speed.bf16Flops, speed.f32Flops);
}

} // namespace
} // namespace tessera::runtime
