#include "runtime/trace/Trace.h"
#include "runtime/program/DeviceProgram.h"
#include "runtime/trace/Json.h"
#include <algorithm>
#include <cstdio>

namespace tessera::runtime {

namespace {

std::string titleOf(const DeviceProgram &program, const Instruction &instruction) {
  const Decoded &decoded = program.decoded();
  switch (instruction.opcode) {
  case Opcode::Dispatch:
    return program.kernels()[instruction.a].symbol;
  case Opcode::Start:
    return std::string("start ") + nameOf(decoded.collectives[instruction.a].kind);
  case Opcode::Transfer:
    return std::string("start ") + nameOf(decoded.transfers[instruction.a]) + " " +
           decoded.transfers[instruction.a].route->name();
  case Opcode::StartCopy:
    return "start copy";
  case Opcode::Land:
    return "wait copy";
  case Opcode::Wait:
    for (const CollectivePlan &plan : decoded.collectives)
      if (plan.site == instruction.a)
        return std::string("wait ") + nameOf(plan.kind);
    for (const CollectivePlan &plan : decoded.transfers)
      if (plan.site == instruction.a)
        return std::string("wait ") + nameOf(plan) + " " + plan.route->name();
    return "wait";
  default:
    return "copy";
  }
}

} // namespace

Status writeTrace(files::OutputFile &file, const std::vector<TracedDevice> &devices) {
  int64_t start = INT64_MAX;
  for (const TracedDevice &device : devices)
    if (!device.events->empty())
      start = std::min(start, device.events->front().begin);
  std::string wrong = file.write("[");
  const char *separator = "\n";
  for (const TracedDevice &device : devices)
    for (const TraceEvent &event : *device.events) {
      const DeviceProgram &program = *device.program;
      const Instruction &instruction = program.decoded().code[event.instruction];
      char numbers[160];
      std::snprintf(numbers, sizeof numbers,
                    ",\"ph\":\"X\",\"pid\":0,\"tid\":%lld,\"ts\":%.3f,\"dur\":%.3f,",
                    static_cast<long long>(program.mesh().deviceAt(device.position)),
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
