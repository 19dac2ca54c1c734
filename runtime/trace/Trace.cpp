#include "runtime/trace/Trace.h"
#include "lib/text/Json.h"
#include "runtime/program/DeviceProgram.h"
#include <algorithm>
#include <cstdio>

namespace tessera::runtime {

const CollectivePlan *awaitedBy(const Decoded &decoded, const Instruction &instruction) {
  for (const auto *plans : {&decoded.collectives, &decoded.transfers})
    for (const CollectivePlan &plan : *plans)
      if (plan.site == instruction.a)
        return &plan;
  return nullptr;
}

std::string titleOf(const CollectivePlan &plan) {
  return nameOf(plan) + (plan.route ? " " + plan.route->name() : "");
}

namespace {

struct Description {
  std::string title;
  int64_t bytes = -1; // that it moves; none below 0
};

Description describe(const DeviceProgram &program, const Instruction &instruction) {
  const Decoded &decoded = program.decoded();
  switch (instruction.opcode) {
  case Opcode::Dispatch:
    return {program.kernels()[instruction.a].symbol};
  case Opcode::Start:
  case Opcode::Transfer: {
    const auto &plans =
        instruction.opcode == Opcode::Start ? decoded.collectives : decoded.transfers;
    return {"start " + titleOf(plans[instruction.a]), plans[instruction.a].bytes};
  }
  case Opcode::Wait: {
    const CollectivePlan *plan = awaitedBy(decoded, instruction);
    return plan ? Description{"wait " + titleOf(*plan), plan->bytes} : Description{"wait"};
  }
  case Opcode::StartCopy:
  case Opcode::CopyPart:
    return {"start copy", static_cast<int64_t>(instruction.c)};
  case Opcode::Land:
    return {"wait copy"};
  default:
    return {"copy", static_cast<int64_t>(instruction.c)};
  }
}

bool isCopy(const DeviceProgram &program, const TraceEvent &event) {
  Opcode opcode = program.decoded().code[event.instruction].opcode;
  return opcode == Opcode::Copy || opcode == Opcode::StartCopy || opcode == Opcode::CopyPart ||
         opcode == Opcode::Land;
}

class Writer {
public:
  Writer(const TraceSink &sink, const Timeline &timeline, bool isFirst)
      : sink_(sink), timeline_(timeline), left_(timeline.steps.size()),
        separator_(isFirst ? "\n" : ",\n") {}

  Status write() {
    int64_t last = 0; // row
    name("process_name", 0, "rank " + std::to_string(timeline_.rank));
    for (const TracedDevice &device : timeline_.devices) {
      int64_t number = device.program->mesh().deviceAt(device.position);
      last = std::max(last, number + 1);
      name("thread_name", number + 1, "device " + std::to_string(number));
      sort(number + 1, number);
    }
    for (const TracedDevice &device : timeline_.devices)
      for (const TraceEvent &event : *device.events)
        add(device, event);
    name("thread_name", last + 1, "steps");
    sort(last + 1, -1); // above the devices
    for (size_t i = 0; i < timeline_.steps.size(); ++i)
      slice("step " + std::to_string(i + 1), last + 1, timeline_.steps[i].begin,
            timeline_.steps[i].end, "\"copies_left_out\":" + std::to_string(left_[i]));
    return status_;
  }

private:
  void add(const TracedDevice &device, const TraceEvent &event) {
    const DeviceProgram &program = *device.program;
    auto after = std::upper_bound(timeline_.steps.begin(), timeline_.steps.end(), event.begin,
                                  [](int64_t time, const StepMark &s) { return time < s.begin; });
    if (after != timeline_.steps.begin() && isCopy(program, event)) {
      const StepMark &step = *std::prev(after);
      if ((event.end - event.begin) * 100 < step.end - step.begin) {
        ++left_[static_cast<size_t>(&step - timeline_.steps.data())];
        return;
      }
    }
    const Instruction &instruction = program.decoded().code[event.instruction];
    Description what = describe(program, instruction);
    std::string details = "\"location\":" + text::quoted(program.location(instruction.location));
    if (what.bytes >= 0)
      details += ",\"bytes\":" + std::to_string(what.bytes);
    slice(what.title, program.mesh().deviceAt(device.position) + 1, event.begin, event.end,
          details);
  }

  void slice(const std::string &title, int64_t row, int64_t begin, int64_t end,
             const std::string &details) {
    char times[96];
    std::snprintf(times, sizeof times, ",\"ts\":%.3f,\"dur\":%.3f",
                  static_cast<double>(begin - timeline_.start) / 1e3,
                  static_cast<double>(end - begin) / 1e3);
    put("{\"name\":" + text::quoted(title) + ",\"ph\":\"X\"" + place(row) + times + ",\"args\":{" +
        details + "}}");
  }

  void name(const std::string &kind, int64_t row, const std::string &text) {
    put("{\"name\":\"" + kind + "\",\"ph\":\"M\"" + place(row) +
        ",\"args\":{\"name\":" + text::quoted(text) + "}}");
  }

  void sort(int64_t row, int64_t index) {
    put("{\"name\":\"thread_sort_index\",\"ph\":\"M\"" + place(row) +
        ",\"args\":{\"sort_index\":" + std::to_string(index) + "}}");
  }

  // Process and thread 0 are the idle ones to who reads it: both are counted from 1.
  std::string place(int64_t row) const {
    return ",\"pid\":" + std::to_string(timeline_.rank + 1) + ",\"tid\":" + std::to_string(row);
  }

  void put(const std::string &event) {
    if (status_.ok())
      status_ = sink_(separator_ + event);
    separator_ = ",\n";
  }

  const TraceSink &sink_;
  const Timeline &timeline_;
  std::vector<uint64_t> left_; // copies of less than a hundredth of their step, by step
  const char *separator_;
  Status status_;
};

} // namespace

Status writeEvents(const TraceSink &sink, const Timeline &timeline, bool isFirst) {
  return Writer(sink, timeline, isFirst).write();
}

} // namespace tessera::runtime
