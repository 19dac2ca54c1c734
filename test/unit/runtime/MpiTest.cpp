// One device a process over MPI: the same bits as in one process, and failures that every rank
// hears of.
#include "runtime/tool/RunCommand.h"
#include "test/unit/runtime/CompiledKernels.h"
#include "test/unit/runtime/WrittenArchive.h"

namespace tessera::runtime {
namespace {

using program::Collective;

std::string path(const std::string &name) { return temporaryFile(name); }

// The exit code of `program` in n processes, which have ten minutes; what they wrote is in `output`.
int runProcesses(int n, const std::string &arguments, std::string &output,
                 const std::string &environment = "", const std::string &program = TESSERA_RUN) {
  std::string command =
      environment +
      " TESSERA_CONNECT_TIMEOUT=120 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
      " TESSERA_PLUGIN_PATH=" TESSERA_PLUGINS " timeout -k 10 600 mpirun --oversubscribe -n " +
      std::to_string(n) + " " + program + " " + arguments + " > " + path("log") + " 2>&1";
  int status = std::system(command.c_str());
  output = readBytes(path("log"));
  return status;
}

// Every kind of collective over several groups of a 2 x 2 mesh, in some types, started early and
// waited for late. Operands have 4n rows of 12n elements.
std::string everyCollective(const std::vector<program::ElementType> &types, int64_t n) {
  ProgramBuilder builder({2, 2});
  for (int64_t d : {2, 0, 3, 1})
    builder.program.mutable_mesh()->add_device_ids(d);
  uint32_t site = 0;
  const std::vector<std::vector<int>> groups = {{0}, {1}, {0, 1}, {1, 0}, {}};
  for (auto type : types) {
    auto in = builder.addInput(type, {4 * n, 12 * n});
    for (const auto &axes : groups)
      for (int kind = 0; kind < 7; ++kind) {
        int64_t g = 1;
        for (int axis : axes)
          g *= builder.program.mesh().axes(axis).size();
        std::vector<int64_t> shape = {4 * n, 12 * n};
        if (kind == Collective::ALL_GATHER)
          shape[1] *= g;
        if (kind == Collective::REDUCE_SCATTER || kind == Collective::ALL_TO_ALL)
          shape[1] /= g;
        if (kind == Collective::ALL_TO_ALL)
          shape[0] *= g;
        auto out = builder.addOutput(type, shape);
        bool shift = kind == 6;
        auto c =
            builder.collective(static_cast<Collective::Kind>(shift ? Collective::PERMUTE : kind),
                               axes, type, {4 * n, 12 * n}, in, out);
        c.set_dim(1);
        c.set_concat_dim(0);
        if (shift)
          c.set_shift(1);
        else if (kind == Collective::PERMUTE)
          for (int64_t r : {g - 1, int64_t{0}})
            c.add_source_target(r);
        ProgramBuilder::start(builder.body(), site++, c);
      }
  }
  for (uint32_t s = site; s-- > 0;)
    ProgramBuilder::wait(builder.body(), s);
  return fileWithCode(builder, "");
}

// Two programs: the first sends its input, the second what all its devices got, all crossed. Sends and
// collectives are under way together, and end in another order than they began in.
std::string everyChannel() {
  ProgramBuilder first({2}), second({2});
  for (uint32_t from : {0u, 1u}) {
    auto *channel = first.manifest.add_channels();
    channel->set_name("c" + std::to_string(from));
    channel->set_from(from);
    channel->set_to(1 - from);
    channel->set_type(program::F32);
    channel->add_shape(500);
    for (int64_t position : {0, 1, 1, 0})
      channel->add_source_target(position);
  }
  auto send = [](ProgramBuilder &builder, uint32_t site, uint32_t channel, program::Buffer from) {
    auto *made = builder.body()->Add()->mutable_send();
    made->set_site(site);
    made->set_channel(channel);
    *made->mutable_from() = from;
  };
  auto receive = [](ProgramBuilder &builder, uint32_t site, uint32_t channel, program::Buffer to) {
    auto *made = builder.body()->Add()->mutable_receive();
    made->set_site(site);
    made->set_channel(channel);
    *made->mutable_to() = to;
  };
  auto in = first.addInput(program::F32, {500}), back = first.addOutput(program::F32, {500}),
       sum = first.addOutput(program::F32, {500});
  auto reduce = first.collective(Collective::ALL_REDUCE, {0}, program::F32, {500}, in, sum);
  receive(first, 3, 1, back);
  send(first, 1, 0, in);
  ProgramBuilder::start(first.body(), 2, reduce);
  send(first, 4, 0, in);
  ProgramBuilder::wait(first.body(), 4);
  ProgramBuilder::wait(first.body(), 3);
  ProgramBuilder::wait(first.body(), 2);
  ProgramBuilder::wait(first.body(), 1);
  auto once = second.addOutput(program::F32, {500}), all = second.addOutput(program::F32, {500});
  for (int i : {0, 1})
    second.program.mutable_outputs(i)->set_name("second" + std::to_string(i));
  receive(second, 0, 0, once);
  ProgramBuilder::wait(second.body(), 0);
  ProgramBuilder::start(
      second.body(), 5,
      second.collective(Collective::ALL_REDUCE, {0}, program::F32, {500}, once, all));
  receive(second, 0, 0, second.addArena(2000));
  ProgramBuilder::wait(second.body(), 5);
  send(second, 1, 1, all);
  ProgramBuilder::wait(second.body(), 1);
  ProgramBuilder::wait(second.body(), 0);
  for (auto [builder, devices] : {std::pair(&first, std::array{3, 0}), {&second, {2, 1}}})
    for (int device : devices)
      builder->program.mutable_mesh()->add_device_ids(device);
  first.more.push_back(second.program);
  return fileWithCode(first, "");
}

// Rank 0 waits for rank 1, which is in a loop that takes years.
TEST(MpiTest, TheTimeLimitEndsAllRanks) {
  ProgramBuilder builder({2});
  auto index = builder.addArena(4), from = builder.addArena(16), to = builder.addArena(16);
  auto reduce = builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {4}, from, to);
  auto *coordinate = builder.body()->Add()->mutable_coordinate();
  *coordinate->mutable_axes() = reduce.axes();
  *coordinate->mutable_to() = index;
  auto *branch = builder.body()->Add()->mutable_branch();
  *branch->mutable_index() = index;
  branch->add_blocks();
  ProgramBuilder::loop(branch->add_blocks()->mutable_body(), int64_t{1} << 62);
  ProgramBuilder::start(builder.body(), 0, reduce);
  ProgramBuilder::wait(builder.body(), 0);
  std::ofstream(path("endless.tsr"), std::ios::binary) << fileWithCode(builder, "");
  std::string output;
  EXPECT_NE(runProcesses(2, path("endless.tsr") + " --comm=mpi --time-limit=1", output), 0);
  EXPECT_NE(output.find("a step took longer than the time limit of 1 s: device "),
            std::string::npos)
      << output;
}

void expectTheSameBits(const std::string &file) {
  std::ofstream(path("p.tsr"), std::ios::binary) << file;
  std::string program = path("p.tsr"), local = "--outputs=" + path("local.npz"),
              repeat = "--repeat=2";
  const char *argv[] = {program.c_str(), local.c_str(), repeat.c_str()};
  ASSERT_EQ(runCommand(3, argv), 0);
  std::string want = readBytes(path("local.npz"));
  EXPECT_GT(want.size(), 8000u);
  // Shadow's buffers are none of the host's: they are copied to messages and back, also when there
  // is one worker for all. Large sums are made in each other's memory, or sent.
  for (const char *environment : {"", "TESSERA_PEER_MEMORY=off", "TESSERA_TARGET=shadow",
                                  "TESSERA_TARGET=shadow TESSERA_WORKERS=1"}) {
    std::string output;
    ASSERT_EQ(runProcesses(4,
                           program + " --comm=mpi --repeat=2 --outputs=" + path("mpi.npz") +
                               " --report=" + path("r.json"),
                           output, environment),
              0)
        << environment << output;
    EXPECT_TRUE(readBytes(path("mpi.npz")) == want) << environment;
    EXPECT_NE(readBytes(path("r.json")).find("{\"devices\":4,"), std::string::npos);
  }
}

TEST(MpiTest, CollectivesGiveTheSameBitsAsInOneProcess) {
  expectTheSameBits(everyCollective({program::F32, program::BF16, program::I64, program::F16}, 1));
}

// Their pieces travel apart, from the operand and into the result where these are not strided.
TEST(MpiTest, LargeCollectivesGiveTheSameBitsAsInOneProcess) {
  expectTheSameBits(everyCollective({program::F32, program::BF16}, 32));
}

// A kernel that ends when the all-reduce which was started before it has: somebody else goes on with
// that, also where the rank has one core and one worker.
TEST(MpiTest, ALargeCollectiveGoesOnWhileADeviceComputes) {
  constexpr int64_t elements = 1 << 20;
  ProgramBuilder builder({2});
  auto in = builder.addInput(program::F32, {elements}),
       out = builder.addOutput(program::F32, {elements});
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {elements}, in, out));
  ProgramBuilder::dispatch(builder.body(), builder.addKernel("await", nullptr), {out});
  ProgramBuilder::wait(builder.body(), 0);
  std::ofstream(path("await.tsr"), std::ios::binary) << fileWithCode(builder, R"(
int32_t await(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  const volatile float *sum = args->buffers[0];
  unsigned long long start = __builtin_ia32_rdtsc();
  while (sum[0] != 13.5f || sum[(1 << 20) - 1] != 13.5f)
    if (__builtin_ia32_rdtsc() - start > 100000000000ull) /* half a minute */
      return 7;
  return 0;
})");
  std::vector<float> halves(2 * elements, 6.75f);
  writeArchive(path("in.npz"), {{"in0", {program::F32, {2, elements}, bytesOf(halves)}}});
  std::string output;
  EXPECT_EQ(runProcesses(2, path("await.tsr") + " --comm=mpi --inputs=" + path("in.npz"), output,
                         "TESSERA_WORKERS=1"),
            0)
      << output;
}

TEST(MpiTest, ChannelsGiveTheSameBitsAsInOneProcess) { expectTheSameBits(everyChannel()); }

// The accumulators' arguments, in.npz: all ones but for the 13 that device `marked` begins with.
void writeMarked(int64_t devices, int64_t marked) {
  std::vector<float> ones(3 * devices, 1), states = ones;
  states[3 * marked] = 13;
  writeArchive(path("in.npz"), {{"in0", {program::F32, {devices, 3}, bytesOf(states)}},
                                {"in1", {program::F32, {devices, 3}, bytesOf(ones)}}});
}

TEST(MpiTest, AFailedRankFailsEveryRank) {
  auto builder = accumulator({4}, false);
  std::ofstream(path("fail.tsr"), std::ios::binary) << fileWithCode(builder, accumulatorCode());
  writeMarked(4, 2);
  std::string output;
  EXPECT_NE(runProcesses(4, path("fail.tsr") + " --comm=mpi --repeat=3 --inputs=" + path("in.npz"),
                         output),
            0);
  size_t count = 0, at = 0;
  for (; (at = output.find("device 2: kernel 'add' failed with code 9 at model.py:8:3", at)) !=
         output.npos;
       ++at)
    ++count;
  EXPECT_EQ(count, 4u) << output;
}

TEST(MpiTest, ASilentRankFailsTheOthers) {
  auto builder = accumulator({3}, false);
  std::ofstream(path("silent.tsr"), std::ios::binary) << fileWithCode(builder, R"(
#include <signal.h>
int32_t add(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  if (((const float *)args->buffers[0])[0] == 13)
    raise(SIGSTOP);
  return 0;
}
)");
  writeMarked(3, 1);
  std::string output;
  EXPECT_NE(runProcesses(3,
                         path("silent.tsr") + " --comm=mpi --repeat=3 --inputs=" + path("in.npz"),
                         output, "TESSERA_COMM_TIMEOUT=1"),
            0);
  EXPECT_NE(output.find(
                "error: rank 1: has been silent for 1 s (waiting for all_reduce at model.py:7:3)"),
            std::string::npos)
      << output;
}

// Its heart beats all the while.
TEST(MpiTest, ARankThatComputesWithoutEndFailsTheOthers) {
  auto builder = accumulator({3}, false);
  std::ofstream(path("endless.tsr"), std::ios::binary) << fileWithCode(builder, R"(
#include <unistd.h>
int32_t add(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  while (((const float *)args->buffers[0])[0] == 13)
    usleep(1000);
  return 0;
}
)");
  writeMarked(3, 1);
  std::string output;
  EXPECT_NE(runProcesses(3,
                         path("endless.tsr") + " --comm=mpi --repeat=3 --inputs=" + path("in.npz"),
                         output, "TESSERA_COMM_TIMEOUT=30 TESSERA_PROGRESS_TIMEOUT=2"),
            0);
  for (const char *text :
       {"error: rank 1: its heart beats, but it has come to no collective for 2 s",
        "it is stuck in a kernel or a loop", "(waiting for all_reduce at model.py:7:3)"})
    EXPECT_NE(output.find(text), std::string::npos) << output;
}

// What goes wrong on one before there are ranks: it says which one it is, and the others know it.
TEST(MpiTest, ErrorsBeforeRanksHaveConnectedNameTheRank) {
  std::ofstream(path("unconnected.tsr"), std::ios::binary) << everyCollective({program::F32}, 1);
  const std::string run = "exec " TESSERA_RUN " " + path("unconnected.tsr") + " --comm=mpi";
  std::string output;
  auto says = [&](const std::string &ofRank1, const std::string &text) {
    std::string line = "'[ $OMPI_COMM_WORLD_RANK = 1 ] || " + run + "; " + ofRank1 + "'";
    EXPECT_NE(runProcesses(2, line, output, "", "sh -c"), 0);
    EXPECT_NE(output.find(text), output.npos) << output;
  };
  const std::string survivor =
      "error: rank 0: communicator 'mpi': mpirun ends the processes before all have connected: ";
#if !__has_feature(address_sanitizer) // which takes more addresses than that
  says("ulimit -v 200000; " + run, survivor + "rank 1 ended: MPI needs at least 256 MiB");
  EXPECT_NE(output.find("error: rank 1: communicator 'mpi': MPI needs"), output.npos) << output;
#endif
  says("sleep 2; exit 1", survivor + "rank 1 has not begun to");
}

// Rank 0 comes when rank 1 has come and is stopped; the shell of rank 1 only waits for it.
TEST(MpiTest, ARankStoppedBeforeItConnectsIsNamed) {
  std::ofstream(path("stopped.tsr"), std::ios::binary) << everyCollective({program::F32}, 1);
  std::ofstream(path("stopped.sh")) << R"(
run="$1 $2 --comm=mpi"
if [ $OMPI_COMM_WORLD_RANK = 0 ]; then
  until [ -e $2.now ]; do sleep 0.05; done
  exec env TESSERA_CONNECT_TIMEOUT=1 $run
fi
$run &
until ls $PMIX_SERVER_TMPDIR/tessera-*-1 > $2.list 2>&1 && [ -s $(cat $2.list) ]; do sleep 0.01; done
kill -STOP $!
touch $2.now
wait
)";
  std::filesystem::remove(path("stopped.tsr.now"));
  std::string output;
  EXPECT_NE(runProcesses(2, path("stopped.sh") + " " TESSERA_RUN " " + path("stopped.tsr"), output,
                         "", "sh"),
            0);
  size_t at = output.find("error: rank 0: communicator 'mpi': not all processes of mpirun have "
                          "connected in time (TESSERA_CONNECT_TIMEOUT): rank 1 (process ");
  ASSERT_NE(at, output.npos) << output;
  EXPECT_NE(output.find(") is stopped\n", at), output.npos) << output;
}

TEST(MpiTest, TheEmbeddingExampleRuns) {
  auto builder = accumulator({2}, true);
  std::ofstream(path("embed.tsr"), std::ios::binary) << fileWithCode(builder, accumulatorCode());
  std::string output;
  EXPECT_EQ(runProcesses(2, path("embed.tsr") + " mpi", output, "", TESSERA_EMBED), 0);
  // MPI may say things of its own first.
  EXPECT_TRUE(output.ends_with("out0[0] = 0\nout1[0] = 0\n")) << output;
}

TEST(MpiTest, TheNumberOfProcessesMustFit) {
  auto builder = accumulator({4}, false);
  std::ofstream(path("fit.tsr"), std::ios::binary) << fileWithCode(builder, accumulatorCode());
  std::string output;
  EXPECT_NE(runProcesses(2, path("fit.tsr") + " --comm=mpi", output), 0);
  EXPECT_NE(
      output.find("error: the program is for 4 devices, there are 2 processes; `mpirun -n 4`"),
      std::string::npos)
      << output;
  EXPECT_NE(runProcesses(1, path("fit.tsr") + " --comm=mpi", output), 0);
  EXPECT_NE(output.find("there is 1 process; "), std::string::npos) << output;
}

} // namespace
} // namespace tessera::runtime
