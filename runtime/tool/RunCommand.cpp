#include "runtime/tool/RunCommand.h"
#include "lib/command/Arguments.h"
#include "lib/files/OutputFile.h"
#include "lib/text/Quantity.h"
#include "runtime/array/ArrayFile.h"
#include "runtime/comm/LaunchedRank.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include "runtime/session/MergedTrace.h"
#include "runtime/session/Session.h"
#include "runtime/tool/Progress.h"
#include "runtime/tool/RunOptions.h"
#include "runtime/tool/ShownOutputs.h"
#include "runtime/tool/StepInputs.h"
#include "runtime/trace/Profile.h"
#include "runtime/trace/Report.h"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace tessera {

namespace {

using namespace runtime;

struct Totals {
  StepTimes steps;
  std::vector<StepMark> marks; // where there is a trace
  Counters most;
};

class RunCommand {
public:
  explicit RunCommand(RunOptions options) : options_(std::move(options)) {}

  // `arguments`: what was wrong with them. Until all ranks have agreed to begin, each hears of what
  // keeps another from it; afterwards a failure is announced.
  Status run(const Status &arguments) {
    if (!isOneProcess(options_.comm)) {
      deferTermination();
      auto opened = Transport::open(options_.comm);
      if (!opened.ok())
        return arguments.ok() ? opened.status()
                              : invalidArgument(comm::launchedAs() + arguments.message());
      transport_ = *opened;
    }
    SessionOptions options;
    options.transport = transport_;
    options.ownGpus = ownGpusOf(options_.comm);
    options.timeLimit = options_.timeLimit;
    options.facts = options_.facts();
    Status ready = arguments.ok() ? attempt([&] { return prepare(options); }) : arguments;
    if (!ready.ok())
      return transport_ ? agree(*transport_, {ready, {}}) : ready;
    auto session = Session::create(program_, options);
    if (!session.ok())
      return session.status();
    session_ = std::move(*session);
    ready = attempt([&] { return inputs_.read(options_, *program_); });
    if (transport_)
      ready =
          agree(*transport_, {ready, {{"steps", std::to_string(inputs_.countSteps(options_))}}});
    if (!ready.ok())
      return ready;
    Status status = attempt([&] { return runSteps(); });
    if (!status.ok() && transport_)
      transport_->announce(status.message());
    return status;
  }

private:
  // What is thrown as a status.
  template <class F> static Status attempt(F f) {
    try {
      return f();
    } catch (const std::bad_alloc &) {
      return {Code::ResourceExhausted, "no memory for the program's arrays"};
    } catch (const std::exception &e) {
      return {Code::Internal, e.what()};
    }
  }

  // mpirun ends all processes by SIGTERM as soon as one has ended badly, while the others still
  // have to say which one. The transport takes the signal when they have, or a moment later.
  static void deferTermination() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

  // What this process does before it is known whether the others can.
  Status prepare(SessionOptions &options) {
    auto program = LoadedProgram::loadFile(options_.program, options_.sha256);
    if (!program.ok())
      return program.status();
    program_ = *program;
    if (!options_.topology.empty()) {
      auto links = readTopology(options_.topology, *program_);
      if (!links.ok())
        return links.status();
      options.links = *links;
    }
    if (Status s = inputs_.findCarried(options_, *program_); !s.ok())
      return s;
    if (!options_.show.empty()) {
      auto shown = ShownOutputs::find(options_.show, *program_);
      if (!shown.ok())
        return shown.status();
      shown_ = std::move(*shown);
    }
    return openOutputs();
  }

  Status runSteps() {
    session_->setTracing(!options_.trace.empty() || profiles());
    steps_ = inputs_.countSteps(options_);
    sayCarried();
    if (!session_->note().empty() && speaks())
      std::fprintf(stderr, "note: %s\n", session_->note().c_str());
    if (const device::KernelCode *code = session_->code();
        code && !code->note().empty() && speaks())
      std::fprintf(stderr, "note: %s\n", code->note().c_str());
    for (int64_t step = 0; step < steps_; ++step)
      if (Status s = runStep(step); !s.ok())
        return s;
    progress_.clear();
    if (Status s = writeOutputs(); !s.ok())
      return s;
    if (Status s = collectCounters(); !s.ok())
      return s;
    if (!options_.trace.empty())
      if (Status s = writeTrace(trace_, {session_->traced(), totals_.marks}, transport_.get());
          !s.ok())
        return s;
    std::string profile = makeProfile();
    if (report_.isOpen())
      if (Status s = fileStatus(report_.write(reportJson(session_->program(), totals_.steps,
                                                         totals_.most, profile, session_->code())));
          !s.ok())
        return s;
    Status written = fileStatus(files::commitTogether({&outputsFile_, &trace_, &report_}));
    if (written.ok() && speaks())
      std::fprintf(stderr, "%s\n",
                   summaryLine(*program_, steps_, totals_.steps, totals_.most).c_str());
    return written;
  }

  bool profiles() const { return options_.profileRows > 0; }

  // Prints it, and gives the report's member. Over MPI all measure at the same time, as all have
  // computed, and rank 0 says what its device did.
  std::string makeProfile() {
    if (!profiles())
      return "";
    uint32_t cores = session_->workers();
    Profile profile = profiler_.profile(*program_, cores, measureMachine(cores), session_->code());
    if (!isRoot())
      return "";
    auto steps = static_cast<size_t>(steps_);
    std::fputs(profileText(profile, *program_, steps, options_.profileRows).c_str(), asked());
    std::fflush(asked());
    return ",\"profile\":" + profileJson(profile, *program_);
  }

  // Where what is asked for goes that has no file.
  std::FILE *asked() const {
    bool isTaken =
        outputsFile_.isStandardOutput() || trace_.isStandardOutput() || report_.isStandardOutput();
    return isTaken ? stderr : stdout;
  }

  static Status fileStatus(const std::string &wrong) {
    return wrong.empty() ? Status() : Status(Code::Unavailable, wrong);
  }

  // Before the work. Files are rank 0's.
  Status openOutputs() {
    if (!isRoot())
      return {};
    return fileStatus(files::openTogether({{options_.outputs, &outputsFile_},
                                           {options_.trace, &trace_},
                                           {options_.report, &report_}}));
  }

  bool isRoot() const { return !transport_ || transport_->rank() == 0; }

  bool speaks() const { return isRoot() && !options_.quiet; }

  // carried: result[0] -> state (25 arrays)
  void sayCarried() const {
    if (!speaks() || inputs_.carried().empty())
      return;
    std::string text;
    for (const CarriedTree &tree : inputs_.carried())
      text +=
          (text.empty() ? "carried: " : ", ") + tree.from + " -> " + tree.to +
          (tree.leaves.size() > 1 ? " (" + text::counted(tree.leaves.size(), "array") + ")" : "");
    std::fprintf(stderr, "%s\n", text.c_str());
  }

  Status runStep(int64_t step) {
    auto arrays = inputs_.next(*session_, step, outputs_);
    if (!arrays.ok())
      return arrays.status();
    int64_t begin = Pool::now();
    auto outputs = session_->execute(**arrays);
    int64_t end = Pool::now();
    totals_.steps.add(static_cast<double>(end - begin) * 1e-9);
    if (!options_.trace.empty())
      totals_.marks.push_back({begin, end});
    if (profiles())
      profiler_.add(session_->traced(), {begin, end});
    if (options_.trace.empty())
      session_->forgetTraced();
    if (!outputs.ok())
      return outputs.status();
    outputs_ = std::move(*outputs);
    totals_.most = larger(totals_.most, session_->counters());
    if (speaks())
      progress_.show(step + 1, steps_);
    return showOutputs(step + 1);
  }

  // Of the first step, every Nth and the last.
  Status showOutputs(int64_t step) {
    if (shown_.empty() || (step != 1 && step != steps_ && step % options_.every != 0))
      return {};
    auto line = shown_.line(*session_, step, outputs_);
    if (!line.ok())
      return line.status();
    if (!isRoot())
      return {};
    progress_.clear();
    std::fprintf(asked(), "%s\n", line->c_str());
    std::fflush(stdout); // who follows the run through a pipe sees it now
    return {};
  }

  Status writeOutputs() {
    if (options_.outputs.empty())
      return {};
    std::unique_ptr<ArrayWriter> writer; // of the root
    std::vector<ArrayEntry> entries;
    Parameters parameters = parametersOf(program_->outputs());
    for (size_t i = 0; i < parameters.size(); ++i)
      entries.push_back({options_.named ? parameters[i]->name() : "out" + std::to_string(i),
                         parameters[i]->type(), globalShape(*parameters[i])});
    if (outputsFile_.isOpen()) {
      auto made = ArrayWriter::make(options_.outputs, outputsFile_, entries);
      if (!made.ok())
        return made.status();
      writer = std::move(*made);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      auto host = session_->fetch(*outputs_[i]);
      if (!host.ok())
        return host.status();
      if (writer)
        if (Status s = writer->add(entries[i].name, *host); !s.ok())
          return s;
    }
    return writer ? writer->finish() : Status();
  }

  // The device that has most may be another process's.
  Status collectCounters() {
    if (!transport_)
      return {};
    if (!isRoot()) {
      auto own = std::make_shared<Counters>(totals_.most);
      return transport_->deliver(0, kCountersTag, own.get(), sizeof *own, own);
    }
    for (int32_t peer = 1; peer < transport_->size(); ++peer) {
      Counters theirs;
      auto bytes = transport_->collect(peer, kCountersTag, sizeof theirs);
      if (!bytes.ok())
        return bytes.status();
      std::memcpy(&theirs, (*bytes)->data(), sizeof theirs);
      totals_.most = larger(totals_.most, theirs);
    }
    return {};
  }

  RunOptions options_;
  std::shared_ptr<Transport> transport_; // null: all devices are here
  std::shared_ptr<const LoadedProgram> program_;
  std::unique_ptr<Session> session_;
  StepInputs inputs_;
  ShownOutputs shown_;
  Arrays outputs_;
  int64_t steps_ = 0;
  Progress progress_;
  Totals totals_;
  StepProfiler profiler_;
  files::OutputFile outputsFile_, trace_, report_;
};

} // namespace

int runCommand(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("run"), argc, argv);
  RunOptions options = readOptions(arguments); // with wrong ones, too, other ranks are told
  Status status = arguments.wrong().empty() ? Status() : invalidArgument(arguments.wrong());
  std::string who = isOneProcess(options.comm) ? "" : comm::launchedAs();
  try {
    status = RunCommand(std::move(options)).run(status);
  } catch (const std::bad_alloc &) {
    status = {Code::ResourceExhausted, who + "out of memory"};
  } catch (const std::exception &e) {
    status = {Code::Internal, who + e.what()};
  }
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  Transport::closeAll();
  return status.ok() ? 0 : 1;
}

} // namespace tessera
