// What is said of a call: what it holds, where its devices are, and what they did.
#include "runtime/array/Placement.h"
#include "runtime/client/Call.h"
#include "runtime/client/LiveMemory.h"
#include <algorithm>
#include <cstdio>
#include <set>

namespace tessera::runtime {

// What takes memory, with the outputs that there are.
std::string Call::describeLive(const std::vector<Tiles> &outputs) const {
  std::vector<LiveArray> arrays;
  auto bytesOf = [](const Tiles &tiles) {
    uint64_t bytes = 0;
    for (const auto &tile : tiles)
      bytes += tile && tile->space() == device::Space::Device ? tile->bytes() : 0;
    return bytes;
  };
  Tiles arenas, constants;
  for (size_t d = 0; d < devices_.size(); ++d)
    arenas.push_back(arena_->memory(d, device::Space::Device));
  for (const Executable::Device &each : executable_->devices())
    if (std::find(constants.begin(), constants.end(), each.constants) == constants.end())
      constants.push_back(each.constants);
  arrays.push_back({"the arenas", bytesOf(arenas)});
  arrays.push_back({"the constants", bytesOf(constants)});
  for (const auto &input : program().inputs()) {
    auto [begin, end] = executable_->devicesOf(*input.program);
    if (spaceOf(*input.parameter) == device::Space::Device)
      arrays.push_back({"input '" + input.parameter->name() + "'",
                        static_cast<uint64_t>(localBytes(*input.parameter)) * (end - begin)});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (program().outputs()[i].alias < 0)
      arrays.push_back(
          {"output '" + program().outputs()[i].parameter->name() + "'", bytesOf(outputs[i])});
  // The one that has least left.
  const device::Backend *fullest = nullptr;
  auto left = [](const device::Backend &b) { return b.mostMemory() - b.takenMemory(); };
  for (const Executable::Device &each : executable_->devices())
    if (!fullest || (each.backend != fullest && left(*each.backend) < left(*fullest)))
      fullest = each.backend;
  return runtime::describeLive(std::move(arrays), fullest->takenMemory(), fullest->mostMemory()) +
         fullest->where();
}

uint64_t Call::peakBytes(program::Memory memory) const {
  uint64_t most = 0;
  for (const DeviceProgram &each : program().programs())
    most = std::max(most, peakBytes(each, memory));
  return most;
}

// All devices of a program hold as much.
uint64_t Call::peakBytes(const DeviceProgram &of, program::Memory memory) const {
  auto [begin, end] = executable_->devicesOf(of);
  if (begin == end)
    return 0;
  std::vector<std::pair<uint64_t, uint64_t>> arrays; // address, bytes
  const auto &manifest = of.manifest();
  for (int i = 0; i < manifest.inputs_size(); ++i)
    if (manifest.inputs(i).memory() == memory)
      arrays.emplace_back(devices_[begin]->inputAddress(i).number(),
                          localBytes(manifest.inputs(i)));
  std::sort(arrays.begin(), arrays.end());
  arrays.erase(std::unique(arrays.begin(), arrays.end(),
                           [](const auto &a, const auto &b) { return a.first == b.first; }),
               arrays.end());
  uint64_t bytes = memory == program::HOST_MEMORY
                       ? manifest.host_bytes()
                       : manifest.arena_bytes() + of.decoded().scratchBytes;
  for (const auto &[address, size] : arrays)
    bytes += size;
  for (const auto &output : manifest.outputs())
    bytes += output.alias() || output.memory() != memory ? 0 : localBytes(output);
  return bytes;
}

Status Call::describeStall() const {
  std::string text = "the devices wait for each other:";
  std::set<std::pair<uint32_t, uint32_t>> sites; // one device speaks for all that wait there
  for (const auto &device : devices_) {
    const DeviceProgram &of = device->program();
    if (!device->ended() && device->current().opcode == Opcode::Wait && sites.size() < 4 &&
        sites.emplace(of.index(), device->current().a).second)
      text += (sites.size() > 1 ? "; device " : " device ") +
              std::to_string(of.mesh().deviceAt(device->position())) + " waits for " +
              communicators_[of.index()]->describeWait(device->position(), device->current().a);
  }
  return {Code::Internal, text};
}

Status Call::describeLimit() const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", timeLimit_);
  std::string text = std::string("a step took longer than the time limit of ") + seconds + " s";
  for (const Executable::Device &device : executable_->devices())
    if (Status s = device.backend->health(); !s.ok())
      return {Code::DeadlineExceeded, text + ": " + s.message()};
  // A device that computes in a loop says more than one that waits for it.
  const Interpreter *best = nullptr;
  auto rank = [](const Interpreter &device) {
    return (device.currentLoop() ? 2 : 0) + (device.current().opcode != Opcode::Wait ? 1 : 0);
  };
  for (const auto &device : devices_)
    if (device->current().opcode != Opcode::End && (!best || rank(*device) > rank(*best)))
      best = device.get();
  if (!best)
    return {Code::DeadlineExceeded, text};
  const Instruction *loop = best->currentLoop();
  return {Code::DeadlineExceeded,
          text + ": device " + std::to_string(best->program().mesh().deviceAt(best->position())) +
              " was " + (loop ? "in the loop at " : "at ") +
              program().location(loop ? loop->location : best->current().location)};
}

void Call::setTracing(bool on) {
  for (auto &device : devices_)
    device->tracing = on;
}

void Call::forgetTraced() {
  for (auto &device : devices_)
    device->trace.clear();
}

std::vector<TracedDevice> Call::traced() const {
  std::vector<TracedDevice> traced;
  for (const auto &device : devices_)
    traced.push_back({&device->program(), device->position(), &device->trace});
  return traced;
}

} // namespace tessera::runtime
