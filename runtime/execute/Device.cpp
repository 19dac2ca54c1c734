#include "runtime/execute/Device.h"
#include <cstring>
#include <new>

namespace tessera::runtime {

using Space = program::Buffer;

Device::Device(const LoadedProgram &program, uint32_t position, Run &run,
               Communicator &communicator)
    : program_(program), position_(position), run_(run), communicator_(communicator) {}

Result<std::unique_ptr<Device>> Device::make(const LoadedProgram &program, uint32_t position,
                                             Run &run, Communicator &communicator,
                                             BufferPool &memory) {
  std::unique_ptr<Device> device(new Device(program, position, run, communicator));
  const Decoded &decoded = program.decoded();
  device->arena_ = memory.allocate(program.manifest().arena_bytes());
  if (!device->arena_)
    return Status(Code::Failed, "no memory for an arena of " +
                                    std::to_string(program.manifest().arena_bytes()) + " bytes");
  device->slotsOfInput_.resize(program.manifest().inputs_size());
  device->slotsOfOutput_.resize(program.manifest().outputs_size());
  device->boundInputs_.resize(device->slotsOfInput_.size());
  device->boundOutputs_.resize(device->slotsOfOutput_.size());
  device->pointers_.resize(decoded.slots.size());
  for (uint32_t i = 0; i < decoded.slots.size(); ++i) {
    const Slot &slot = decoded.slots[i];
    if (slot.space == Space::ARENA)
      device->pointers_[i] = static_cast<char *>(device->arena_->data()) + slot.offset;
    else if (slot.space == Space::CONSTANT)
      device->pointers_[i] =
          const_cast<char *>(program.constants()) + slot.offset; // kernels only read it
    else
      (slot.space == Space::INPUT ? device->slotsOfInput_ : device->slotsOfOutput_)[slot.index]
          .push_back(i);
  }
  for (const AxisRefs &axes : decoded.coordinates)
    device->coordinates_.push_back(static_cast<int32_t>(program.mesh().indexAlong(position, axes)));
  device->counters_.resize(decoded.counters);
  return device;
}

void Device::bind(Space::Space space, const std::vector<void *> &addresses,
                  std::vector<void *> &bound) {
  const auto &slots = space == Space::INPUT ? slotsOfInput_ : slotsOfOutput_;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] == bound[i])
      continue;
    bound[i] = addresses[i];
    for (uint32_t slot : slots[i])
      pointers_[slot] = static_cast<char *>(addresses[i]) + program_.decoded().slots[slot].offset;
  }
}

void Device::prepare(const std::vector<void *> &inputs, const std::vector<void *> &outputs) {
  bind(Space::INPUT, inputs, boundInputs_);
  bind(Space::OUTPUT, outputs, boundOutputs_);
  pc_ = 0;
  ended_ = false;
  collectives_ = collectiveBytes_ = 0;
}

void Device::run(Worker &worker) {
  try {
    if (tracing)
      interpret<true>(worker);
    else
      interpret<false>(worker);
  } catch (const std::bad_alloc &) { // of a message or a trace: nobody has parked the device then
    run_.fail({Code::Failed, "out of memory"});
    end(pc_);
  }
}

void Device::end(uint32_t pc) {
  pc_ = pc;
  ended_ = true;
  run_.deviceEnded();
  run_.retire();
}

namespace {

struct GridJob {
  const Run &run;
  TesseraKernel function;
  void *const *buffers;
  size_t scratchBytes;
  const void *plan;
};

constexpr int32_t kNoScratch = INT32_MIN;   // a helper had no memory
constexpr int32_t kGivenUp = INT32_MIN + 1; // the run has failed meanwhile

int32_t runCells(void *context, Worker &worker, uint32_t begin, uint32_t end) {
  const GridJob &job = *static_cast<const GridJob *>(context);
  if (job.run.failed())
    return kGivenUp;
  TesseraKernelArgs args{job.buffers, worker.scratch(job.scratchBytes), job.plan};
  if (!args.scratch && job.scratchBytes)
    return kNoScratch;
  return job.function(&args, begin, end);
}

} // namespace

int32_t Device::dispatch(Worker &worker, const KernelEntry &kernel, void *const *buffers,
                         void *scratch) {
  if (kernel.chunk >= kernel.grid) {
    TesseraKernelArgs args{buffers, scratch, kernel.plan.get()};
    return kernel.function(&args, 0, kernel.grid);
  }
  GridJob job{run_, kernel.function, buffers, program_.decoded().scratchBytes, kernel.plan.get()};
  return worker.runJob(runCells, &job, kernel.grid, kernel.chunk, kernel.wakes);
}

void Device::failKernel(const Instruction &instruction, int32_t code) {
  std::string who = "device " + std::to_string(program_.mesh().deviceAt(position_)) + ": kernel '" +
                    program_.decoded().kernels[instruction.a].symbol + "' ";
  run_.fail({Code::Failed, who +
                               (code == kNoScratch ? std::string("found no memory for its scratch")
                                                   : "failed with code " + std::to_string(code)) +
                               " at " + program_.location(instruction.location)});
}

template <bool traced> void Device::interpret(Worker &worker) {
  const Decoded &decoded = program_.decoded();
  const Instruction *code = decoded.code.data();
  void *const *pointers = pointers_.data();
  void *scratch = worker.scratch(decoded.scratchBytes);
  if (!scratch && decoded.scratchBytes) {
    run_.fail({Code::Failed,
               "no memory for " + std::to_string(decoded.scratchBytes) + " bytes of scratch"});
    return end(pc_);
  }
  uint32_t pc = pc_;
  if (run_.failed())
    return end(pc);
  while (true) {
    const Instruction &instruction = code[pc];
    int64_t begin = traced ? Pool::now() : 0;
    switch (instruction.opcode) {
    case Opcode::Dispatch:
      if (run_.failed())
        return end(pc);
      if (int32_t failure =
              dispatch(worker, decoded.kernels[instruction.a], pointers + instruction.b, scratch)) {
        failKernel(instruction, failure);
        return end(pc);
      }
      ++pc;
      break;
    case Opcode::Start: {
      const CollectivePlan &plan = decoded.collectives[instruction.a];
      if (run_.failed())
        return end(pc);
      if (Status s = communicator_.start(worker, position_, plan, pointers + instruction.b);
          !s.ok()) {
        run_.fail(std::move(s));
        return end(pc);
      }
      if (plan.groupSize > 1) {
        ++collectives_;
        collectiveBytes_ += plan.bytes;
      }
      ++pc;
      break;
    }
    case Opcode::Wait: {
      pc_ = pc; // another worker may take over as soon as this device is parked
      auto outcome = communicator_.wait(worker, *this, position_, instruction.a);
      if (outcome == Communicator::Outcome::Parked)
        return run_.retire();
      if (outcome == Communicator::Outcome::Failed)
        return end(pc);
      ++pc;
      break;
    }
    case Opcode::Copy:
      std::memmove(pointers[instruction.b + 1], pointers[instruction.b], instruction.c);
      ++pc;
      break;
    case Opcode::Coordinate:
      std::memcpy(pointers[instruction.b], &coordinates_[instruction.a], sizeof(int32_t));
      ++pc;
      continue;
    case Opcode::EnterLoop:
      counters_[instruction.a] = instruction.c;
      pc = instruction.c ? pc + 1 : instruction.b;
      continue;
    case Opcode::NextTrip:
      if (run_.failed())
        return end(pc);
      pc = --counters_[instruction.a] ? instruction.b : pc + 1;
      continue;
    case Opcode::JumpIfFalse:
      if (run_.failed())
        return end(pc);
      pc = *static_cast<const uint8_t *>(pointers[instruction.a]) ? pc + 1 : instruction.b;
      continue;
    case Opcode::Jump:
      pc = instruction.b;
      continue;
    case Opcode::Switch: {
      int32_t index;
      std::memcpy(&index, pointers[instruction.a], sizeof index);
      auto last = static_cast<uint32_t>(instruction.c - 1);
      pc =
          decoded
              .targets[instruction.b +
                       (static_cast<uint32_t>(index) > last ? last : static_cast<uint32_t>(index))];
      continue;
    }
    case Opcode::End:
      return end(pc);
    }
    if constexpr (traced)
      trace.push_back({static_cast<uint32_t>(&instruction - code), begin, Pool::now()});
  }
}

} // namespace tessera::runtime
