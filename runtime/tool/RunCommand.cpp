#include "runtime/tool/RunCommand.h"
#include "lib/command/Arguments.h"
#include "lib/files/OutputFile.h"
#include "runtime/array/Npz.h"
#include "runtime/array/ParameterNames.h"
#include "runtime/comm/LaunchedRank.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include "runtime/session/Session.h"
#include "runtime/tool/RandomInputs.h"
#include "runtime/trace/Report.h"
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

namespace tessera {

namespace {

using namespace runtime;

struct RunOptions {
  std::string program, inputs, outputs, comm = "local", topology, report, trace, sha256;
  int64_t repeat = 1;
  double timeLimit = 0;                   // seconds; 0: none
  std::vector<std::pair<int, int>> carry; // output, input
};

std::optional<int> parseIndex(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return std::nullopt;
  text.remove_prefix(prefix.size());
  int value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

Status parseCarry(std::string_view text, RunOptions &options) {
  while (!text.empty()) {
    std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    size_t colon = pair.find(':');
    auto out = parseIndex(pair.substr(0, colon), "out");
    auto in = colon == pair.npos ? std::nullopt : parseIndex(pair.substr(colon + 1), "in");
    if (!out || !in)
      return invalidArgument("--carry takes pairs outI:inJ, not '" + std::string(pair) + "'");
    options.carry.emplace_back(*out, *in);
  }
  return {};
}

// What is wrong is the arguments' own `wrong`.
RunOptions readOptions(command::Arguments &arguments) {
  RunOptions options;
  options.program = arguments.operand();
  for (auto [name, into] : {std::pair("--inputs", &options.inputs),
                            {"--outputs", &options.outputs},
                            {"--comm", &options.comm},
                            {"--topology", &options.topology},
                            {"--report", &options.report},
                            {"--trace", &options.trace},
                            {"--sha256", &options.sha256}})
    *into = arguments.value(name, *into);
  options.repeat = arguments.number("--repeat", "steps", options.repeat);
  options.timeLimit = arguments.positive("--time-limit", "seconds", options.timeLimit);
  if (Status s = parseCarry(arguments.value("--carry"), options); !s.ok())
    arguments.fail(s.message());
  if (options.comm != "local" && !options.topology.empty())
    arguments.fail("--topology simulates links in one process: it goes with --comm=local");
  return options;
}

struct Totals {
  StepTimes steps;
  Counters most;
};

class RunCommand {
public:
  explicit RunCommand(RunOptions options) : options_(std::move(options)) {}

  // `arguments`: what was wrong with them. Until all ranks have agreed to begin, each hears of what
  // keeps another from it; afterwards a failure is announced.
  Status run(const Status &arguments) {
    if (options_.comm != "local") {
      deferTermination();
      auto opened = Transport::open(options_.comm);
      if (!opened.ok())
        return arguments.ok() ? opened.status()
                              : invalidArgument(comm::launchedAs() + arguments.message());
      transport_ = *opened;
    }
    SessionOptions options;
    options.transport = transport_;
    options.timeLimit = options_.timeLimit;
    options.facts = {{"--repeat", std::to_string(options_.repeat)},
                     {"--carry", carryText()},
                     {"--inputs", options_.inputs.empty() ? "not given" : "given"},
                     {"--outputs", options_.outputs.empty() ? "not given" : "given"}};
    Status ready = arguments.ok() ? attempt([&] { return prepare(options); }) : arguments;
    if (!ready.ok())
      return transport_ ? agree(*transport_, {ready, {}}) : ready;
    auto session = Session::create(program_, options);
    if (!session.ok())
      return session.status();
    session_ = std::move(*session);
    ready = attempt([&] { return readInputs(); });
    if (transport_)
      ready = agree(*transport_, {ready, {}});
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

  std::string carryText() const {
    std::string text;
    for (auto [out, in] : options_.carry)
      text += (text.empty() ? "out" : ",out") + std::to_string(out) + ":in" + std::to_string(in);
    return text.empty() ? "none" : text;
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
    for (auto [out, in] : options_.carry)
      if (out >= static_cast<int>(program_->outputs().size()) ||
          in >= static_cast<int>(program_->inputs().size()))
        return invalidArgument("--carry=out" + std::to_string(out) + ":in" + std::to_string(in) +
                               ": the program has " + std::to_string(program_->inputs().size()) +
                               " inputs and " + std::to_string(program_->outputs().size()) +
                               " outputs");
    return openOutputs();
  }

  Status runSteps() {
    session_->setTracing(!options_.trace.empty());
    for (int64_t step = 0; step < options_.repeat; ++step)
      if (Status s = runStep(); !s.ok())
        return s;
    if (Status s = writeOutputs(); !s.ok())
      return s;
    if (Status s = collectCounters(); !s.ok())
      return s;
    if (trace_.isOpen())
      if (Status s = session_->writeTrace(trace_); !s.ok())
        return s;
    if (report_.isOpen())
      if (Status s = fileStatus(
              report_.write(reportJson(session_->program(), totals_.steps, totals_.most)));
          !s.ok())
        return s;
    return fileStatus(files::commitTogether({&outputsFile_, &trace_, &report_}));
  }

  static Status fileStatus(const std::string &wrong) {
    return wrong.empty() ? Status() : Status(Code::Unavailable, wrong);
  }

  // Before the work. Outputs and report are rank 0's; every rank has a trace.
  Status openOutputs() {
    int32_t rank = transport_ ? transport_->rank() : 0;
    if (rank != 0)
      return fileStatus(
          options_.trace.empty() ? "" : trace_.open(options_.trace + "." + std::to_string(rank)));
    return fileStatus(files::openTogether({{options_.outputs, &outputsFile_},
                                           {options_.trace, &trace_},
                                           {options_.report, &report_}}));
  }

  bool isRoot() const { return !transport_ || transport_->rank() == 0; }

  Status readInputs() {
    const auto &places = session_->program().inputs();
    std::optional<NpzReader> reader;
    std::vector<std::string> names;
    std::vector<size_t> order; // by parameter: its place among the names
    if (!options_.inputs.empty()) {
      auto opened = NpzReader::open(options_.inputs);
      if (!opened.ok())
        return opened.status();
      reader = std::move(*opened);
      names = reader->names();
      auto matched = matchNames(parametersOf(places), "in", names);
      if (!matched.ok())
        return Status(matched.status().code(), options_.inputs + ": " + matched.status().message());
      order = std::move(*matched);
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (!reader) {
        hosts_.push_back(randomInput(*places[i].parameter, static_cast<uint64_t>(i)));
        continue;
      }
      auto host = reader->read(names[order[i]], *places[i].parameter);
      if (!host.ok())
        return host.status();
      hosts_.push_back(std::move(*host));
    }
    arrays_.resize(places.size());
    return {};
  }

  // Inputs that the last step took over are placed anew; carried ones come from its outputs.
  Status prepareInputs() {
    const auto &places = session_->program().inputs();
    for (auto [out, in] : options_.carry) {
      if (outputs_.empty())
        break;
      auto array = session_->adopt(outputs_[out], places[in]);
      if (!array.ok())
        return invalidArgument("--carry=out" + std::to_string(out) + ":in" + std::to_string(in) +
                               ": " + array.status().message());
      arrays_[in] = *array;
    }
    outputs_.clear(); // their memory serves the next step
    for (size_t i = 0; i < places.size(); ++i) {
      if (arrays_[i] && arrays_[i]->valid)
        continue;
      auto array = session_->place(places[i], hosts_[i].bytes.data());
      if (!array.ok())
        return array.status();
      arrays_[i] = *array;
    }
    return {};
  }

  Status runStep() {
    if (Status s = prepareInputs(); !s.ok())
      return s;
    int64_t begin = Pool::now();
    auto outputs = session_->execute(arrays_);
    totals_.steps.add(static_cast<double>(Pool::now() - begin) * 1e-9);
    if (!outputs.ok())
      return outputs.status();
    outputs_ = std::move(*outputs);
    totals_.most = larger(totals_.most, session_->counters());
    return {};
  }

  Status writeOutputs() {
    if (options_.outputs.empty())
      return {};
    NpzWriter writer(outputsFile_);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      auto host = session_->fetch(*outputs_[i]);
      if (!host.ok())
        return host.status();
      if (outputsFile_.isOpen())
        if (Status s = writer.add("out" + std::to_string(i), *host); !s.ok())
          return s;
    }
    return outputsFile_.isOpen() ? writer.finish() : Status();
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
  std::vector<HostArray> hosts_;
  std::vector<std::shared_ptr<Array>> arrays_, outputs_;
  Totals totals_;
  files::OutputFile outputsFile_, trace_, report_;
};

} // namespace

int runCommand(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("run"), argc, argv);
  RunOptions options = readOptions(arguments); // with wrong ones, too, other ranks are told
  Status status = arguments.wrong().empty() ? Status() : invalidArgument(arguments.wrong());
  std::string who = options.comm == "local" ? "" : comm::launchedAs();
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
