#include "runtime/execute/Interpreter.h"
#include "runtime/device/cpu/CpuQueue.h"
#include <algorithm>
#include <new>
#include <type_traits>

namespace tessera::runtime {

using device::Address;
using Space = program::Buffer;

static constexpr uint32_t kMostRecorded = 1 << 14; // commands

Interpreter::Interpreter(const DeviceProgram &program, uint32_t position, Run &run,
                         Communicator &communicator, device::Backend &backend, DeviceMemory memory)
    : program_(program), kernels_(program.kernels().data()), position_(position), run_(run),
      memory_(std::move(memory)),
      queue_(backend.makeQueue({position, run, communicator, *this, program.decoded().scratchBytes,
                                program.decoded().sites + program.decoded().transferSites,
                                memory_.code.get()})),
      inlined_(dynamic_cast<device::CpuQueue *>(queue_.get()) != nullptr),
      goesOnBeside_(communicator.goesOnBeside()) {
  const Decoded &decoded = program.decoded();
  inputs_.resize(program.manifest().inputs_size());
  outputs_.resize(program.manifest().outputs_size());
  addresses_.resize(decoded.slots.size());
  for (uint32_t i = 0; i < decoded.slots.size(); ++i) {
    const Slot &slot = decoded.slots[i];
    switch (slot.space) {
    case Space::INPUT:
      inputs_[slot.index].slots.push_back(i);
      break;
    case Space::OUTPUT:
      outputs_[slot.index].slots.push_back(i);
      break;
    case Space::ARENA:
      addresses_[i] = memory_.arena->address() + slot.offset;
      break;
    case Space::CONSTANT:
      addresses_[i] = memory_.constants->address() + slot.offset; // kernels only read it
      break;
    case Space::HOST_ARENA:
      if (memory_.host) // or nobody has bytes there
        addresses_[i] = memory_.host->address() + slot.offset;
      break;
    case Space::FILE_ARENA:
      if (memory_.file)
        addresses_[i] = memory_.file->address() + slot.offset;
      break;
    default: // arguments, which calls bind
      break;
    }
  }
  for (const AxisRefs &axes : decoded.coordinates)
    coordinates_.push_back(static_cast<int32_t>(program.mesh().indexAlong(position, axes)));
  counters_.resize(decoded.counters);
  returns_.resize(decoded.functions.size());
  recordable_ = std::none_of(decoded.code.begin(), decoded.code.end(), [](const Instruction &i) {
    return i.opcode == Opcode::JumpIfFalse || i.opcode == Opcode::Switch ||
           i.opcode == Opcode::CopyPart;
  });
}

void Interpreter::bind(Binding &binding, Address address) {
  if (address == binding.address)
    return;
  binding.address = address;
  recording_.reset();
  for (uint32_t slot : binding.slots)
    addresses_[slot] = address + program_.decoded().slots[slot].offset;
}

// Binds the function's arguments to the operands of a call; where the function begins.
uint32_t Interpreter::call(uint32_t pc) {
  const Decoded &decoded = program_.decoded();
  const Instruction &instruction = decoded.code[pc];
  const FunctionPlan &function = decoded.functions[instruction.a];
  for (auto [slot, argument] : function.arguments)
    addresses_[slot] = addresses_[instruction.b + argument] + decoded.slots[slot].offset;
  returns_[instruction.a] = pc + 1;
  return function.entry;
}

void Interpreter::rewind() {
  pc_ = 0;
  ending_ = ended_ = false;
  begun_ = false;
  counted_ = {};
  queue_->reset();
}

// The loop is there twice: commands of the cpu are called directly.
void Interpreter::run(Worker &worker) {
  try {
    if (inlined_ && tracing)
      interpret<device::CpuQueue, true>(worker, static_cast<device::CpuQueue &>(*queue_));
    else if (inlined_)
      interpret<device::CpuQueue, false>(worker, static_cast<device::CpuQueue &>(*queue_));
    else if (!startRecorded(worker))
      interpret<device::Queue, false>(worker, *queue_); // which traces itself
  } catch (const std::bad_alloc &) { // of a message or a trace: nobody has parked it then
    run_.fail({Code::ResourceExhausted, "out of memory"});
    end(worker, pc_);
  }
}

// Of a queue that runs behind: gives the step as it was recorded, or else begins to record it.
bool Interpreter::startRecorded(Worker &worker) {
  if (begun_ || ending_ || !recordable_ || run_.failed())
    return false;
  begun_ = true;
  if (recording_) {
    counted_ = recordedCounts_;
    queue_->replay(worker, *recording_);
    end(worker, static_cast<uint32_t>(program_.decoded().code.size() - 1));
    return true;
  }
  isRecording_ = queue_->record();
  recordedCommands_ = 0;
  return false;
}

// Gives what has been recorded to the queue, which is empty.
device::Outcome Interpreter::endRecording(Worker &worker) {
  isRecording_ = false;
  recording_ = queue_->endRecord();
  recordedCounts_ = counted_;
  return queue_->replay(worker, *recording_);
}

// When the queue has come so far too.
void Interpreter::end(Worker &worker, uint32_t pc) {
  pc_ = pc;
  ending_ = true;
  if (isRecording_) { // the run has failed
    isRecording_ = false;
    queue_->endRecord();
  }
  if (queue_->finish(worker) == Outcome::Parked)
    return run_.retire();
  ended_ = true;
  run_.deviceEnded();
  run_.retire();
}

// Goes behind the devices that wait for a worker; another may take over at once.
void Interpreter::letOthersRun(uint32_t next) {
  Run &run = run_;
  pc_ = next;
  run.wake(this);
  run.retire();
}

std::string Interpreter::who() const {
  return "device " + std::to_string(program_.mesh().deviceAt(position_)) + ": ";
}

void Interpreter::kernelFailed(uint32_t tag, int32_t code) {
  const Instruction &instruction = program_.decoded().code[tag];
  std::string what = code == device::kNoScratch ? std::string("found no memory for its scratch")
                                                : "failed with code " + std::to_string(code);
  run_.fail({Code::Internal, who() + "kernel '" + program_.kernels()[instruction.a].symbol + "' " +
                                 what + " at " + program_.location(instruction.location)});
}

void Interpreter::commandFailed(uint32_t tag, const Status &status) {
  run_.fail(ofCommand(tag, status));
}

Status Interpreter::ofCommand(uint32_t tag, const Status &status) const {
  const Instruction &instruction = program_.decoded().code[tag];
  std::string what = instruction.opcode == Opcode::Dispatch
                         ? "kernel '" + program_.kernels()[instruction.a].symbol + "': "
                         : "";
  return {status.code(),
          who() + what + status.message() + " at " + program_.location(instruction.location)};
}

void Interpreter::executed(uint32_t tag, int64_t begin, int64_t end) {
  trace.push_back({tag, begin, end});
}

// A copy that went from the device's memory to the host's or back counts.
device::Outcome Interpreter::counted(const Instruction &instruction, Outcome outcome) {
  const Slot *slots = program_.decoded().slots.data() + instruction.b;
  auto from = slots[0].memory, to = slots[1].memory;
  bool isFile = from == program::FILE_MEMORY || to == program::FILE_MEMORY;
  if (outcome == Outcome::Done && from != to && !isFile) {
    ++counted_.transfers;
    counted_.transferBytes += instruction.c;
  }
  return outcome;
}

// A copy of a part that begins where data says.
template <class Queue>
device::Outcome Interpreter::copyPart(Worker &worker, Queue &queue, uint32_t pc) {
  const Instruction &instruction = program_.decoded().code[pc];
  const PartCopy &part = program_.decoded().parts[instruction.a];
  const Address *slots = addresses_.data() + instruction.b;
  uint32_t read;
  if (Outcome outcome = queue.read(worker, pc, slots[2], 4, read); outcome != Outcome::Done)
    return outcome;
  auto index = static_cast<uint64_t>(std::max<int32_t>(static_cast<int32_t>(read), 0));
  uint64_t begin = index < part.last / part.step ? index * part.step : part.last;
  Address from = slots[0], to = slots[1];
  (part.ofTarget ? to : from) = (part.ofTarget ? to : from) + begin;
  return counted(instruction, queue.startCopy(worker, pc, part.number, from, to, instruction.c));
}

// Instructions that move bytes within the device.
template <class Queue>
device::Outcome Interpreter::move(Worker &worker, Queue &queue, uint32_t pc) {
  const Instruction &instruction = program_.decoded().code[pc];
  const Address *slots = addresses_.data() + instruction.b;
  switch (instruction.opcode) {
  case Opcode::Copy:
    return counted(instruction, queue.copy(worker, pc, slots[0], slots[1], instruction.c));
  case Opcode::StartCopy:
    return counted(instruction,
                   queue.startCopy(worker, pc, instruction.a, slots[0], slots[1], instruction.c));
  case Opcode::CopyPart:
    return run_.failed() ? Outcome::Failed : copyPart(worker, queue, pc);
  case Opcode::Land:
    return queue.land(worker, pc, instruction.a);
  default: // Coordinate
    return queue.write(worker, pc, coordinates_[instruction.a], slots[0]);
  }
}

// Goes where data says.
template <class Queue>
device::Outcome Interpreter::decide(Worker &worker, Queue &queue, uint32_t &pc) {
  const Decoded &decoded = program_.decoded();
  const Instruction &instruction = decoded.code[pc];
  bool isSwitch = instruction.opcode == Opcode::Switch;
  uint32_t index;
  Outcome outcome = queue.read(worker, pc, addresses_[instruction.a], isSwitch ? 4 : 1, index);
  if (outcome != Outcome::Done)
    return outcome;
  if (!isSwitch) {
    pc = index ? pc + 1 : instruction.b;
  } else {
    auto last = static_cast<uint32_t>(instruction.c - 1);
    pc = decoded.targets[instruction.b + (index > last ? last : index)];
  }
  return Outcome::Done;
}

template <class Queue, bool traced> void Interpreter::interpret(Worker &worker, Queue &queue) {
  constexpr bool behind = !std::is_same_v<Queue, device::CpuQueue>;
  const Decoded &decoded = program_.decoded();
  const Instruction *code = decoded.code.data();
  const Address *addresses = addresses_.data();
  uint32_t pc = pc_;
  if (ending_ || run_.failed())
    return end(worker, pc);
  if constexpr (!behind)
    if (queue.enter(worker) == Outcome::Failed)
      return end(worker, pc);
  while (true) {
    const Instruction &instruction = code[pc];
    int64_t begin = traced ? Pool::now() : 0;
    Outcome outcome = Outcome::Done;
    // Once it is parked another worker may take over: of the cpu's commands only a wait parks it.
    if (behind || instruction.opcode == Opcode::Wait)
      pc_ = pc;
    switch (instruction.opcode) {
    case Opcode::Dispatch:
      if (run_.failed())
        return end(worker, pc);
      outcome = queue.launch(worker, pc, kernels_[instruction.a], addresses + instruction.b,
                             instruction.c);
      break;
    case Opcode::Start:
    case Opcode::Transfer: {
      const auto &plans =
          instruction.opcode == Opcode::Start ? decoded.collectives : decoded.transfers;
      const CollectivePlan &plan = plans[instruction.a];
      if (run_.failed())
        return end(worker, pc);
      outcome = queue.start(worker, pc, plan, addresses + instruction.b);
      if (outcome == Outcome::Done && plan.groupSize > 1) {
        ++counted_.collectives;
        counted_.bytes += plan.bytes;
      }
      break;
    }
    case Opcode::Wait:
      outcome = queue.wait(worker, pc, instruction.a);
      break;
    case Opcode::Copy:
    case Opcode::StartCopy:
    case Opcode::CopyPart:
    case Opcode::Land:
    case Opcode::Coordinate:
      outcome = move(worker, queue, pc);
      break;
    case Opcode::EnterLoop:
      counters_[instruction.a] = instruction.c;
      pc = instruction.c ? pc + 1 : instruction.b;
      continue;
    case Opcode::NextTrip:
      if (run_.failed())
        return end(worker, pc);
      pc = --counters_[instruction.a] ? instruction.b : pc + 1;
      continue;
    case Opcode::JumpIfFalse:
    case Opcode::Switch:
      if (run_.failed())
        return end(worker, pc);
      outcome = decide(worker, queue, pc);
      if (outcome != Outcome::Done)
        break;
      continue;
    case Opcode::Jump:
      pc = instruction.b;
      continue;
    case Opcode::Call:
      if (run_.failed())
        return end(worker, pc);
      pc = call(pc);
      continue;
    case Opcode::Return:
      pc = returns_[instruction.a];
      continue;
    case Opcode::End:
      if (behind && isRecording_)
        endRecording(worker);
      return end(worker, pc);
    }
    if (outcome == Outcome::Parked)
      return run_.retire();
    if (outcome == Outcome::Failed)
      return end(worker, pc);
    if constexpr (traced)
      if (instruction.opcode != Opcode::Coordinate)
        trace.push_back({pc, begin, Pool::now()});
    ++pc;
    if constexpr (!behind)
      if (instruction.opcode == Opcode::Start && goesOnBeside_)
        return letOthersRun(pc);
    if (behind && isRecording_ && ++recordedCommands_ == kMostRecorded) {
      recordable_ = false; // too long: from here on as it comes
      if (endRecording(worker) == Outcome::Failed)
        return end(worker, pc);
    }
  }
}

} // namespace tessera::runtime
