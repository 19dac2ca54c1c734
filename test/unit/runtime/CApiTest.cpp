// The C interface and the C++ over it, from the outside: libtessera_runtime.so and a file.
#include "include/tessera/runtime.h"
#include "runtime/program/Sha256.h"
#include "test/unit/runtime/CompiledKernels.h"
#include <array>

namespace tessera {
namespace {

using runtime::accumulator;
using runtime::accumulatorCode;
using runtime::fileWithCode;

std::string accumulatorFile(const std::vector<int64_t> &mesh, bool donate) {
  auto builder = accumulator(mesh, donate);
  return fileWithCode(builder, accumulatorCode());
}

TEST(CApiTest, StateStaysOnTheDevices) {
  Program program(accumulatorFile({2, 2}, true));
  EXPECT_EQ(program.devices(), 4);
  ASSERT_EQ(program.inputs().size(), 2u);
  EXPECT_EQ(program.inputs()[0].type, "f32");
  EXPECT_EQ(program.inputs()[0].shape, (std::vector<int64_t>{4, 3}));
  EXPECT_TRUE(program.inputs()[0].donated);
  EXPECT_FALSE(program.inputs()[1].donated);
  SessionSettings settings;
  settings.workers = 2;
  Session session(program, settings);
  std::vector<Array> arrays;
  arrays.push_back(session.place(0, std::vector<float>(12, 0)));
  arrays.push_back(session.place(1, std::vector<float>(12, 1)));
  for (int step = 1; step <= 5; ++step) {
    auto outputs = session.execute(arrays);
    EXPECT_FALSE(arrays[0].valid());
    EXPECT_TRUE(arrays[1].valid());
    arrays = std::move(outputs);
    EXPECT_EQ(arrays[0].read<float>(), std::vector<float>(12, 4.0f * static_cast<float>(step)));
  }
  EXPECT_EQ(session.counters().collectives, 1u);
  EXPECT_EQ(session.counters().collective_bytes, 12u);
  EXPECT_NE(session.report().find("\"devices\":4,\"steps\":["), std::string::npos);
  EXPECT_EQ(session.report().find("profile"), std::string::npos);
}

TEST(CApiTest, ASessionThatProfiles) {
  SessionSettings settings;
  settings.workers = 2;
  settings.profile = true;
  Session session(Program(accumulatorFile({2}, false)), settings);
  std::vector<Array> arrays;
  arrays.push_back(session.place(0, std::vector<float>(6, 0)));
  arrays.push_back(session.place(1, std::vector<float>(6, 1)));
  for (int step = 0; step < 3; ++step)
    session.execute(arrays);
  std::string report = session.report();
  EXPECT_NE(report.find("\"profile\":{\"step\":"), std::string::npos) << report;
  EXPECT_NE(report.find("{\"kind\":\"kernel\",\"name\":\"add\",\"location\":\"model.py:8:3\""),
            std::string::npos)
      << report;
}

// State made by one program is used by another, whose mesh has other axes and other order.
TEST(CApiTest, ArraysGoFromSessionToSession) {
  Session one(Program(accumulatorFile({4}, false))), other(Program(accumulatorFile({2, 2}, true)));
  auto permuted = accumulator({4}, false);
  for (int64_t d : {3, 1, 2, 0})
    permuted.program.mutable_mesh()->add_device_ids(d);
  Session third(Program(fileWithCode(permuted, accumulatorCode())));
  std::vector<float> rows = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
  std::vector<Array> arrays;
  arrays.push_back(one.place(0, std::vector<float>(12, 0)));
  arrays.push_back(one.place(1, rows));
  arrays = one.execute(arrays);
  EXPECT_EQ(arrays[0].read<float>(), std::vector<float>(12, 10));
  auto next = third.execute(arrays);
  EXPECT_EQ(next[1].read<float>(), rows);
  auto last = other.execute(next);
  EXPECT_EQ(last[0].read<float>(), std::vector<float>(12, 30));
  EXPECT_FALSE(next[0].valid()); // donated, though a copy may have been used
  EXPECT_EQ(last[1].read<float>(), rows);
}

// A machine that cannot execute a program can say what it is, and why it does not execute it.
TEST(CApiTest, ProgramsForOtherProcessorsAreLookedAt) {
  auto other = accumulator({2}, true);
  auto *image = other.manifest.add_images();
  image->set_target("cpu");
  image->set_section("code");
  image->set_cpu("another");
  image->add_features("avx-of-the-future");
  std::string bytes = fileWithCode(other, accumulatorCode());
  EXPECT_THROW(Program{bytes}, Error);
  Program program = Program::inspect(bytes);
  EXPECT_EQ(program.inputs().size(), Program(accumulatorFile({2}, true)).inputs().size());
  EXPECT_NE(program.info().find("another"), std::string_view::npos);
  try {
    Session session(program);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, TESSERA_FAILED_PRECONDITION);
    EXPECT_NE(std::string(error.what()).find("avx-of-the-future"), std::string::npos);
  }
  EXPECT_THROW(Session{Program::inspect(accumulatorFile({2}, true))},
               Error); // its code is not open
}

TEST(CApiTest, ErrorsAreCodesWithMessages) {
  EXPECT_THROW(Program("nonsense"), Error);
  EXPECT_STREQ(tessera_error_message(), "not a .tsr file");
  tessera_program *none = nullptr;
  EXPECT_EQ(tessera_program_load_file("/nonexistent.tsr", &none), TESSERA_NOT_FOUND);
  EXPECT_EQ(tessera_program_load(nullptr, 5, &none), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  Program program(accumulatorFile({2}, true));
  Session session(program);
  try {
    session.place(0, std::vector<float>(5));
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, TESSERA_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(),
                 "input 0 ('in0') is f32[2,3] in tiles [1,3] of 24 bytes, 20 are given");
  }
  std::vector<Array> arrays;
  arrays.push_back(session.place(0, std::vector<float>(6, 13)));
  using Five = std::array<char, 5>; // four are 20 bytes, and 24 would be written
  EXPECT_THROW(arrays[0].read<Five>(), Error);
  EXPECT_THROW(session.execute(arrays), Error);
  arrays.push_back(session.place(1, std::vector<float>(6, 1)));
  try {
    session.execute(arrays);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, TESSERA_INTERNAL);
    EXPECT_NE(std::string(error.what()).find("kernel 'add' failed with code 9 at model.py:8:3"),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(arrays[0].valid()); // donated to a step that failed
  EXPECT_THROW(arrays[0].read<float>(), Error);
  SessionSettings settings;
  settings.communicator = "pigeon";
  try {
    Session(program, settings);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, TESSERA_UNIMPLEMENTED);
  }
  settings = {};
  settings.topology = "{\"alpha\": -1}";
  EXPECT_THROW(Session(program, settings), Error);
}

TEST(CApiTest, AProgramIsTheOneThatIsNamedAndItsStepsEnd) {
  std::string path = runtime::temporaryFile("named.tsr"), file = accumulatorFile({2}, false);
  std::ofstream(path, std::ios::binary) << file;
  std::string digest = runtime::sha256(file), other = digest;
  other[0] = other[0] == '0' ? '1' : '0';
  EXPECT_THROW(Program::fromFile(path, other), Error);
  EXPECT_NE(std::string(tessera_error_message()).find("this is another file"), std::string::npos);
  Program program = Program::fromFile(path, digest);
  SessionSettings settings;
  settings.timeLimit = -1;
  EXPECT_THROW(Session(program, settings), Error);
  settings.timeLimit = 60;
  Session session(program, settings);
  // Options of a host that was compiled before there was a limit.
  tessera_session_options options{};
  options.struct_size = offsetof(tessera_session_options, time_limit);
  options.time_limit = -1;
  tessera_session *raw = nullptr;
  EXPECT_EQ(tessera_session_create(program.get(), &options, &raw), TESSERA_OK);
  tessera_session_free(raw);
}

TEST(CApiTest, TheEmbeddingExampleRuns) {
  std::string path = runtime::temporaryFile("embed.tsr");
  std::ofstream(path, std::ios::binary) << accumulatorFile({4}, true);
  std::string command = std::string(TESSERA_EMBED) + " " + path + " > " + path + ".out";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(runtime::readBytes(path + ".out"), "out0[0] = 0\nout1[0] = 0\n");
}

} // namespace
} // namespace tessera
