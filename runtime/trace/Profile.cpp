#include "runtime/trace/Profile.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::runtime {

namespace {

bool isWait(const Instruction &instruction) {
  return instruction.opcode == Opcode::Wait || instruction.opcode == Opcode::Land;
}

const CollectivePlan *startedBy(const Decoded &decoded, const Instruction &instruction) {
  if (instruction.opcode == Opcode::Start)
    return &decoded.collectives[instruction.a];
  return instruction.opcode == Opcode::Transfer ? &decoded.transfers[instruction.a] : nullptr;
}

// Where what a wait waits for was started.
uint32_t locationOf(const Decoded &decoded, const Instruction &wait) {
  for (const Instruction &each : decoded.code)
    if (const CollectivePlan *plan = startedBy(decoded, each); plan && plan->site == wait.a)
      return each.location;
  return wait.location;
}

// A row's identity, and what one execution of the instruction adds to it.
ProfileRow rowOf(const DeviceProgram &program, const Instruction &instruction,
                 const MachineSpeed &speed, const device::KernelCode *code) {
  const Decoded &decoded = program.decoded();
  ProfileRow row{ProfileRow::Copy, "copy", program.location(instruction.location)};
  if (instruction.opcode == Opcode::Dispatch) {
    const program::Kernel &kernel =
        program.file().manifest().kernels(static_cast<int>(instruction.a));
    row.kind = ProfileRow::Kernel;
    row.name = kernel.symbol();
    if (std::string library = code ? code->libraryOf(instruction.a) : ""; !library.empty())
      row.name += " (" + library + ")";
    row.bytes = kernel.bytes_read() + kernel.bytes_written();
    if (row.bytes == 0) // of an earlier compiler
      for (const program::KernelOperand &operand : kernel.operands())
        row.bytes += static_cast<double>(operand.bytes());
    row.flops = kernel.flops();
    row.leastSeconds = speed.leastSeconds(kernel.product_type(), row.flops, row.bytes);
    row.predictedSeconds = kernel.predicted_seconds();
    row.calls = 1;
  } else if (const CollectivePlan *plan = startedBy(decoded, instruction)) {
    row = {ProfileRow::Collective, titleOf(*plan), row.location};
    row.bytes = static_cast<double>(plan->bytes);
    row.calls = 1;
  } else if (instruction.opcode == Opcode::Wait) {
    const CollectivePlan *awaited = awaitedBy(decoded, instruction);
    row.kind = ProfileRow::Collective;
    row.name = awaited ? titleOf(*awaited) : "wait";
    row.location = program.location(locationOf(decoded, instruction));
  } else if (instruction.opcode != Opcode::Land) {
    row.bytes = static_cast<double>(instruction.c);
    row.calls = 1;
  }
  return row;
}

ProfileRow waiting(const char *what, int64_t nanoseconds, double atOnce) {
  ProfileRow row{ProfileRow::Waiting, what, ""};
  row.seconds = static_cast<double>(nanoseconds) * 1e-9 / atOnce;
  return row;
}

} // namespace

StepProfiler::ProgramSums &StepProfiler::sumsOf(const DeviceProgram *program) {
  for (ProgramSums &sums : programs_)
    if (sums.program == program)
      return sums;
  programs_.push_back({program, std::vector<Sum>(program->decoded().code.size())});
  return programs_.back();
}

void StepProfiler::add(std::span<const TracedDevice> devices, const StepMark &step) {
  ++shown_;
  if (step.end - step.begin >= least_)
    return;
  least_ = step.end - step.begin;
  step_ = shown_;
  devices_ = devices.size();
  programs_.clear();
  between_ = atEnd_ = waited_ = 0;
  for (const TracedDevice &device : devices) {
    ProgramSums &sums = sumsOf(device.program);
    const std::vector<TraceEvent> &events = *device.events;
    int64_t at = step.begin;
    auto first = std::partition_point(events.begin(), events.end(), [&](const TraceEvent &event) {
      return event.begin < step.begin;
    });
    for (; first != events.end(); ++first) {
      Sum &sum = sums.instructions[first->instruction];
      int64_t gap = std::max<int64_t>(first->begin - at, 0);
      bool waits = isWait(device.program->decoded().code[first->instruction]);
      (waits ? waited_ : between_) += gap;
      sum.nanoseconds += first->end - first->begin + (waits ? gap : 0);
      ++sum.count;
      at = first->end;
    }
    atEnd_ += std::max<int64_t>(step.end - at, 0);
  }
}

Profile StepProfiler::profile(const LoadedProgram &file, uint32_t cores, const MachineSpeed &speed,
                              const device::KernelCode *code) const {
  Profile profile;
  if (!shown_)
    return profile;
  profile.seconds = static_cast<double>(least_) * 1e-9;
  profile.step = step_;
  profile.devices = devices_;
  profile.cores = cores;
  profile.speed = speed;
  double atOnce = static_cast<double>(std::min<size_t>(devices_, cores));
  bool takeTurns = devices_ > cores;
  std::map<std::tuple<int, std::string, std::string>, ProfileRow> rows;
  double busy = 0;
  for (const ProgramSums &sums : programs_)
    for (size_t i = 0; i < sums.instructions.size(); ++i) {
      const Sum &sum = sums.instructions[i];
      const Instruction &instruction = sums.program->decoded().code[i];
      if (!sum.count || (takeTurns && isWait(instruction)))
        continue;
      ProfileRow one = rowOf(*sums.program, instruction, speed, code);
      ProfileRow &row =
          rows.try_emplace({one.kind, one.name, one.location}, one.kind, one.name, one.location)
              .first->second;
      auto times = static_cast<double>(sum.count);
      double seconds = static_cast<double>(sum.nanoseconds) * 1e-9 / atOnce;
      busy += seconds;
      row.seconds += seconds;
      row.calls += one.calls * sum.count;
      row.bytes += one.bytes * times;
      row.flops += one.flops * times;
      // Of a device's part of the cores.
      row.leastSeconds += one.leastSeconds * times;
      row.predictedSeconds += one.predictedSeconds * times / atOnce;
    }
  for (auto &[key, row] : rows)
    profile.rows.push_back(std::move(row));
  if (takeTurns) {
    ProfileRow row{ProfileRow::Waiting, "cores without work, and between kernels", ""};
    row.seconds = profile.seconds - busy;
    profile.rows.push_back(row);
  } else {
    profile.rows.push_back(waiting("between kernels", between_, atOnce));
    profile.rows.push_back(waiting("before the step's end", atEnd_, atOnce));
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [](const ProfileRow &a, const ProfileRow &b) {
    return std::tuple(-a.seconds, a.name, a.location) < std::tuple(-b.seconds, b.name, b.location);
  });
  return profile;
}

} // namespace tessera::runtime
