// `tessera run` as scripts see it: files in, files out, one error line.
#include "runtime/tool/RunCommand.h"
#include "runtime/trace/Report.h"
#include "test/unit/runtime/CompiledKernels.h"
#include "test/unit/runtime/WrittenArchive.h"
#include <filesystem>
#include <sys/stat.h>

namespace tessera {
namespace {

using namespace runtime;

class RunCommandTest : public testing::Test {
protected:
  void SetUp() override {
    auto builder = accumulator({2, 2}, true);
    std::ofstream(path("p.tsr"), std::ios::binary) << fileWithCode(builder, accumulatorCode());
  }
  static std::string path(const std::string &name) { return temporaryFile(name); }

  // The exit code; what it wrote to standard error is in `error`.
  int run(const std::vector<std::string> &arguments) {
    std::vector<const char *> argv;
    for (const std::string &argument : arguments)
      argv.push_back(argument.c_str());
    testing::internal::CaptureStderr();
    int code = runCommand(static_cast<int>(argv.size()), argv.data());
    error = testing::internal::GetCapturedStderr();
    return code;
  }

  // `first`: the state of device 0, where it differs.
  void writeInputs(float state, float step, float first = 0) {
    std::vector<float> states(12, state);
    if (first)
      states[0] = first;
    writeArchive(path("in.npz"),
                 {{"in0", {program::F32, {4, 3}, bytesOf(states)}},
                  {"in1", {program::F32, {4, 3}, bytesOf(std::vector<float>(12, step))}}});
  }

  std::vector<float> output() {
    auto builder = accumulator({2, 2}, true);
    auto array = NpzReader::open(path("out.npz"))->read("out0", builder.program.outputs(0));
    EXPECT_TRUE(array.ok()) << array.status().message();
    return array.ok() ? valuesOf<float>(array->bytes) : std::vector<float>();
  }

  std::string error;
};

TEST_F(RunCommandTest, RepeatsOnTheSameInputs) {
  writeInputs(1, 2);
  ASSERT_EQ(run({path("p.tsr"), "--inputs=" + path("in.npz"), "--outputs=" + path("out.npz"),
                 "--repeat=3", "--report=" + path("r.json")}),
            0)
      << error;
  EXPECT_EQ(output(), std::vector<float>(12, 9));
  std::string report = readBytes(path("r.json"));
  EXPECT_EQ(std::count(report.begin(), report.end(), ','), 11); // 3 steps among the members
  // Two inputs, of which one is the first output, the second output, and the arena.
  EXPECT_NE(report.find(
                "\"collectives\":{\"count\":1,\"bytes\":12},\"peak_bytes\":48,"
                "\"host_peak_bytes\":0,\"transfers\":{\"count\":0,\"bytes\":0},\"target\":\"cpu\""),
            std::string::npos)
      << report;
}

// A session of any number of steps keeps the times of the last ones.
TEST(StepTimesTest, TheLastOnes) {
  StepTimes times;
  for (size_t step = 0; step < StepTimes::kMost + 3; ++step)
    times.add(static_cast<double>(step));
  std::vector<double> list = times.list();
  ASSERT_EQ(list.size(), StepTimes::kMost);
  EXPECT_EQ(list.front(), 3);
  EXPECT_EQ(list.back(), StepTimes::kMost + 2);
}

TEST_F(RunCommandTest, CarriesState) {
  writeInputs(1, 2);
  ASSERT_EQ(run({path("p.tsr"), "--inputs=" + path("in.npz"), "--outputs=" + path("out.npz"),
                 "--repeat=3", "--carry=out0:in0,out1:in1", "--trace=" + path("t.json")}),
            0)
      << error;
  EXPECT_EQ(output(), std::vector<float>(12, 25));
  std::string trace = readBytes(path("t.json"));
  EXPECT_NE(trace.find("{\"name\":\"add\",\"ph\":\"X\",\"pid\":1,\"tid\":4,"), std::string::npos);
}

TEST_F(RunCommandTest, RandomInputs) {
  EXPECT_EQ(run({path("p.tsr"), "--outputs=" + path("out.npz")}), 0) << error;
}

TEST_F(RunCommandTest, SimulatesATopology) {
  std::ofstream(path("topology.json"))
      << R"({"name": "slow", "alpha": 2e-3, "axes": {"a1": {"alpha": 5e-3}}})";
  EXPECT_EQ(
      run({path("p.tsr"), "--topology=" + path("topology.json"), "--report=" + path("r.json")}), 0)
      << error;
  std::string report = readBytes(path("r.json"));
  double step = std::atof(report.c_str() + report.find("[") + 1);
  EXPECT_GE(step, 0.007); // a step over each axis
}

TEST_F(RunCommandTest, EveryErrorIsOneLine) {
  writeInputs(1, 2, 13);
  auto expectError = [&](const std::vector<std::string> &arguments, const std::string &message) {
    EXPECT_EQ(run(arguments), 1);
    EXPECT_EQ(error, "error: " + message + "\n");
  };
  std::string p = path("p.tsr");
  expectError({}, "no program: tessera run P.tsr; see tessera run --help");
  expectError({"/none.tsr"}, "/none.tsr: No such file or directory");
  expectError({p, "--bogus"}, "unknown option --bogus; see tessera run --help");
  expectError({p, "--repeat=0"}, "--repeat takes a number of steps, not '0'");
  expectError(
      {p, "--carry=in0:out0"},
      "--carry=in0:out0: there is no output 'in0': the program gives out0 f32[4,3], out1 f32[4,3]");
  expectError(
      {p, "--carry=out0:in9"},
      "--carry=out0:in9: there is no input 'in9': the program expects in0 f32[4,3], in1 f32[4,3]");
  expectError({p, "--carry=auto"},
              "argument in0 could go on from out0 or out1; say from which: --carry='out0:in0,..'");
  expectError({p, "--carry=out0"}, "--carry takes pairs OUT:IN, not 'out0'");
  expectError({p, "--repeat=2", "--every=2"},
              "--every says how often --show shows: there is no --show");
  expectError({p, "--inputs=/none.npz"}, "/none.npz: No such file or directory");
  expectError({p, "--outputs=/none/out.npz"},
              "/none/out.npz: cannot be written: No such file or directory");
  expectError({p, "--report=/dev/full"}, "/dev/full: cannot be written: No space left on device");
  expectError({p, "--inputs=" + path("in.npz")},
              "device 0: kernel 'add' failed with code 9 at model.py:8:3");
  std::string bytes = readBytes(p);
  std::ofstream(path("cut.tsr"), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  expectError({path("cut.tsr")}, path("cut.tsr") +
                                     ": truncated: " + std::to_string(bytes.size() / 2) +
                                     " bytes of " + std::to_string(bytes.size()));
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(path("cut.tsr"), std::ios::binary) << bytes;
  expectError({path("cut.tsr")},
              path("cut.tsr") + ": altered: the checksum of section 'code' is wrong");
}

// Before the steps, which fail here: no work is done for what can't be written.
TEST_F(RunCommandTest, OutputsAreCheckedFirst) {
  writeInputs(1, 2, 13);
  for (std::string option : {"--outputs=", "--report=", "--trace="}) {
    EXPECT_EQ(run({path("p.tsr"), "--inputs=" + path("in.npz"), option + "/none/file"}), 1);
    EXPECT_EQ(error, "error: /none/file: cannot be written: No such file or directory\n");
  }
}

TEST_F(RunCommandTest, TwoOutputsAreTwoFiles) {
  EXPECT_EQ(run({path("p.tsr"), "--outputs=" + path("o"), "--report=" + path("./o")}), 1);
  EXPECT_EQ(error, "error: " + path("./o") + ": two outputs in one file\n");
}

// What fails leaves the outputs of an earlier run as they were, and no other file.
TEST_F(RunCommandTest, AFailedRunLeavesTheOutputsOfTheLastOne) {
  std::string directory = path("outputs");
  ASSERT_TRUE(std::filesystem::create_directory(directory));
  auto arguments = [&](std::string report) {
    return std::vector<std::string>{path("p.tsr"), "--inputs=" + path("in.npz"),
                                    "--outputs=" + directory + "/out.npz", "--report=" + report};
  };
  writeInputs(1, 2);
  ASSERT_EQ(run(arguments(path("r.json"))), 0) << error;
  std::string before = readBytes(directory + "/out.npz");
  writeInputs(3, 4, 13);
  EXPECT_EQ(run(arguments(path("r.json"))), 1);
  EXPECT_EQ(readBytes(directory + "/out.npz"), before);
  writeInputs(3, 4); // outputs and report are seen together
  EXPECT_EQ(run(arguments("/dev/full")), 1);
  EXPECT_EQ(readBytes(directory + "/out.npz"), before);
  std::filesystem::directory_iterator files(directory);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// Mapped, the rest of the file would be gone while it runs (SIGBUS); read, it is no longer needed.
TEST_F(RunCommandTest, AProgramFileMayChangeWhileItRuns) {
  auto builder = accumulator({1}, true);
  builder.constants.assign(1 << 20, 7);
  std::ofstream(path("large.tsr"), std::ios::binary) << fileWithCode(builder, accumulatorCode());
  auto loaded = LoadedProgram::loadFile(path("large.tsr"));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  std::filesystem::resize_file(path("large.tsr"), 0);
  const char *constants = (*loaded)->programs().front().constants();
  EXPECT_EQ(std::count(constants, constants + (1 << 20), 7), 1 << 20);
}

TEST_F(RunCommandTest, InputsThatAreNoFiles) {
  std::string p = path("p.tsr"), pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const char *byPosition = ": is no regular file: a pipe or a device cannot be read by position\n";
  for (const std::string &file : {pipe, std::string("/dev/zero")}) {
    EXPECT_EQ(run({file}), 1);
    EXPECT_EQ(error, "error: " + file + byPosition);
    EXPECT_EQ(run({p, "--inputs=" + file}), 1);
    EXPECT_EQ(error, "error: " + file + byPosition);
  }
  EXPECT_EQ(run({p, "--topology=/dev/zero"}), 1);
  EXPECT_EQ(error, "error: /dev/zero: cannot be read: it is a device\n");
  for (const char *option : {"--inputs=/", "--topology=/"}) {
    EXPECT_EQ(run({p, option}), 1);
    EXPECT_NE(error.find("Is a directory"), std::string::npos) << error;
  }
}

} // namespace
} // namespace tessera
