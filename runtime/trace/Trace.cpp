#include "runtime/trace/Trace.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <cstdio>

namespace tessera::runtime {

namespace {

std::string titleOf(const LoadedProgram &program, const Instruction &instruction) {
  const Decoded &decoded = program.decoded();
  switch (instruction.opcode) {
  case Opcode::Dispatch:
    return decoded.kernels[instruction.a].symbol;
  case Opcode::Start:
    return std::string("start ") + nameOf(decoded.collectives[instruction.a].kind);
  case Opcode::Wait:
    for (const CollectivePlan &plan : decoded.collectives)
      if (plan.site == instruction.a)
        return std::string("wait ") + nameOf(plan.kind);
    return "wait";
  default:
    return "copy";
  }
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + '"';
}

} // namespace

Status writeTrace(files::OutputFile &file, const LoadedProgram &program,
                  const std::vector<uint32_t> &positions,
                  const std::vector<std::vector<TraceEvent>> &events) {
  int64_t start = INT64_MAX;
  for (const auto &list : events)
    if (!list.empty())
      start = std::min(start, list.front().begin);
  std::string wrong = file.write("[");
  const char *separator = "\n";
  for (size_t d = 0; d < events.size(); ++d)
    for (const TraceEvent &event : events[d]) {
      const Instruction &instruction = program.decoded().code[event.instruction];
      char numbers[160];
      std::snprintf(numbers, sizeof numbers,
                    ",\"ph\":\"X\",\"pid\":0,\"tid\":%lld,\"ts\":%.3f,\"dur\":%.3f,",
                    static_cast<long long>(program.mesh().deviceAt(positions[d])),
                    static_cast<double>(event.begin - start) / 1e3,
                    static_cast<double>(event.end - event.begin) / 1e3);
      if (wrong.empty())
        wrong = file.write(
            separator + ("{\"name\":" + quoted(titleOf(program, instruction))) + numbers +
            "\"args\":{\"location\":" + quoted(program.location(instruction.location)) + "}}");
      separator = ",\n";
    }
  if (wrong.empty())
    wrong = file.write("\n]\n");
  return wrong.empty() ? Status() : Status(Code::Unavailable, wrong);
}

} // namespace tessera::runtime
