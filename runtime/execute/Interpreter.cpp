#include "runtime/execute/Interpreter.h"
#include "runtime/device/cpu/CpuQueue.h"
#include <algorithm>
#include <new>
#include <type_traits>

namespace tessera::runtime {

using device::Address;
using Space = program::Buffer;

static constexpr uint32_t kMostRecorded = 1 << 14; // commands

Interpreter::Interpreter(const LoadedProgram &program, uint32_t position, Run &run,
                         Communicator &communicator, device::Backend &backend,
                         std::shared_ptr<device::Memory> arena,
                         std::shared_ptr<device::Memory> constants)
    : program_(program), position_(position), run_(run), arena_(std::move(arena)),
      constants_(std::move(constants)),
      queue_(backend.makeQueue({position, run, communicator, *this, program.decoded().scratchBytes,
                                program.decoded().sites})),
      inlined_(dynamic_cast<device::CpuQueue *>(queue_.get()) != nullptr) {
  const Decoded &decoded = program.decoded();
  inputs_.resize(program.manifest().inputs_size());
  outputs_.resize(program.manifest().outputs_size());
  addresses_.resize(decoded.slots.size());
  for (uint32_t i = 0; i < decoded.slots.size(); ++i) {
    const Slot &slot = decoded.slots[i];
    if (slot.space == Space::ARENA)
      addresses_[i] = arena_->address() + slot.offset;
    else if (slot.space == Space::CONSTANT)
      addresses_[i] = constants_->address() + slot.offset; // kernels only read it
    else
      (slot.space == Space::INPUT ? inputs_ : outputs_)[slot.index].slots.push_back(i);
  }
  for (const AxisRefs &axes : decoded.coordinates)
    coordinates_.push_back(static_cast<int32_t>(program.mesh().indexAlong(position, axes)));
  counters_.resize(decoded.counters);
  recordable_ = std::none_of(decoded.code.begin(), decoded.code.end(), [](const Instruction &i) {
    return i.opcode == Opcode::JumpIfFalse || i.opcode == Opcode::Switch;
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

std::string Interpreter::who() const {
  return "device " + std::to_string(program_.mesh().deviceAt(position_)) + ": ";
}

void Interpreter::kernelFailed(uint32_t tag, int32_t code) {
  const Instruction &instruction = program_.decoded().code[tag];
  std::string what = code == device::kNoScratch ? std::string("found no memory for its scratch")
                                                : "failed with code " + std::to_string(code);
  run_.fail({Code::Internal, who() + "kernel '" + program_.decoded().kernels[instruction.a].symbol +
                                 "' " + what + " at " + program_.location(instruction.location)});
}

void Interpreter::commandFailed(uint32_t tag, const Status &status) {
  run_.fail({status.code(), who() + status.message() + " at " +
                                program_.location(program_.decoded().code[tag].location)});
}

void Interpreter::executed(uint32_t tag, int64_t begin, int64_t end) {
  trace.push_back({tag, begin, end});
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
    // Another worker may take over as soon as this task is parked: of the cpu's commands only a wait
    // parks it.
    if (behind || instruction.opcode == Opcode::Wait)
      pc_ = pc;
    switch (instruction.opcode) {
    case Opcode::Dispatch:
      if (run_.failed())
        return end(worker, pc);
      outcome = queue.launch(worker, pc, decoded.kernels[instruction.a], addresses + instruction.b);
      break;
    case Opcode::Start: {
      const CollectivePlan &plan = decoded.collectives[instruction.a];
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
      outcome = queue.copy(worker, pc, addresses[instruction.b], addresses[instruction.b + 1],
                           instruction.c);
      break;
    case Opcode::Coordinate:
      outcome = queue.write(worker, pc, coordinates_[instruction.a], addresses[instruction.b]);
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
    case Opcode::JumpIfFalse: {
      if (run_.failed())
        return end(worker, pc);
      uint32_t predicate;
      outcome = queue.read(worker, pc, addresses[instruction.a], 1, predicate);
      if (outcome != Outcome::Done)
        break;
      pc = predicate ? pc + 1 : instruction.b;
      continue;
    }
    case Opcode::Jump:
      pc = instruction.b;
      continue;
    case Opcode::Switch: {
      uint32_t index, last = static_cast<uint32_t>(instruction.c - 1);
      outcome = queue.read(worker, pc, addresses[instruction.a], sizeof index, index);
      if (outcome != Outcome::Done)
        break;
      pc = decoded.targets[instruction.b + (index > last ? last : index)];
      continue;
    }
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
    if (behind && isRecording_ && ++recordedCommands_ == kMostRecorded) {
      recordable_ = false; // too long: from here on as it comes
      if (endRecording(worker) == Outcome::Failed)
        return end(worker, pc);
    }
  }
}

} // namespace tessera::runtime
