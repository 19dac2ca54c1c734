#include "runtime/tool/RunOptions.h"

namespace tessera::runtime {

std::vector<Fact> RunOptions::facts() const {
  auto given = [](const std::string &file) { return file.empty() ? "not given" : "given"; };
  return {{"--repeat", std::to_string(repeat ? repeat : 1)},
          {"--carry", carry.empty() ? "none" : carry},
          {"--show", show.empty() ? "nothing" : show + " every " + std::to_string(every)},
          {"--inputs", given(inputs)},
          {"--batches", given(batches)},
          {"--resume", given(resume)},
          {"--outputs", given(outputs)},
          {"--trace", given(trace)},
          {"--profile", profileRows ? "given" : "not given"}};
}

RunOptions readOptions(command::Arguments &arguments) {
  RunOptions options;
  options.program = arguments.operand();
  for (auto [name, into] : {std::pair("--inputs", &options.inputs),
                            {"--batches", &options.batches},
                            {"--resume", &options.resume},
                            {"--outputs", &options.outputs},
                            {"--carry", &options.carry},
                            {"--show", &options.show},
                            {"--comm", &options.comm},
                            {"--topology", &options.topology},
                            {"--report", &options.report},
                            {"--trace", &options.trace},
                            {"--sha256", &options.sha256}})
    *into = arguments.value(name, *into);
  options.repeat = arguments.number("--repeat", "steps", options.repeat);
  options.every = arguments.number("--every", "steps", options.every);
  options.profileRows = arguments.value("--profile") == "all"
                            ? SIZE_MAX
                            : arguments.number("--profile", "rows, or all", 0);
  options.timeLimit = arguments.positive("--time-limit", "seconds", options.timeLimit);
  options.named = arguments.has("--named");
  options.quiet = arguments.has("--quiet");
  if (options.comm.empty() && !options.topology.empty())
    options.comm = "local";
  if (options.comm != "local" && !options.topology.empty())
    arguments.fail("--topology simulates links in one process: it goes with --comm=local");
  if (arguments.has("--every") && options.show.empty())
    arguments.fail("--every says how often --show shows: there is no --show");
  if (options.named && options.outputs.empty())
    arguments.fail("--named is about --outputs, which is not given");
  return options;
}

} // namespace tessera::runtime
