// Threads, one instruction after the other, and what they wait for.
#include "test/gpu/emulator/BlockRun.h"

#include <numeric>

namespace tessera::emulator {

void BlockRun::run() {
  threads_.resize(shape_.threads);
  std::vector<uint32_t> ready(shape_.threads);
  std::iota(ready.begin(), ready.end(), 0);
  for (uint32_t i : ready) {
    threads_[i].number = i;
    threads_[i].registers.assign(kernel_.registers, 0x7ff7fff7deadbeef);
    threads_[i].local.assign(kernel_.localBytes, 0xff);
    threads_[i].turns.assign(kernel_.loops.parent.size(), 0);
    threads_[i].visits.assign(kernel_.instructions.size(), 0);
    if (kernel_.usesProxies) {
      threads_[i].written.assign(kernel_.registers, 0);
      threads_[i].isAddedTo.assign(kernel_.registers, 0);
    }
  }
  if (kernel_.usesProxies) {
    uint32_t warps = (shape_.threads + kWarp - 1) / kWarp;
    proxies_ = std::make_unique<Proxies>(warps, shared_.size());
    warpgroups_.resize((warps + kWarpgroup - 1) / kWarpgroup);
    haste_ = random_() % 2 ? random_() % 32 : 0;
  }
  while (!ready.empty()) {
    size_t which = random_() % ready.size();
    Thread &thread = threads_[ready[which]];
    for (uint64_t burst = random_() % 256 + 1; burst && thread.state == Thread::Ready; --burst)
      step(thread);
    if (thread.state == Thread::Ready)
      continue;
    ready[which] = ready.back();
    ready.pop_back();
    if (thread.state == Thread::AtWarp)
      meet(thread, ready);
    if (!tensorCopies_.empty() && random_() % 256 < haste_)
      landTensorCopy();
    while (ready.empty() && !tensorCopies_.empty()) {
      landTensorCopy();
      wakeAtPhases(ready);
    }
    wakeAtPhases(ready);
    if (ready.empty())
      release(ready);
  }
  checkProductsAtEnd();
  countSectors();
  countBanks();
}

void BlockRun::release(std::vector<uint32_t> &ready) {
  const Thread *first = nullptr;
  size_t ended = 0;
  for (const Thread &thread : threads_) {
    if (thread.state == Thread::AtWarp)
      fail(thread, "an instruction of a warp (a shuffle, say) to which not all of its lanes come");
    if (thread.state == Thread::AtPhase)
      fail(thread,
           "waits for a phase that never ends: " +
               proxies_->stateOf(sharedAddress(thread, kernel_.instructions[thread.place].a)));
    ended += thread.state == Thread::Ended;
    if (thread.state == Thread::AtBarrier && !first)
      first = &thread;
    if (thread.state == Thread::AtBarrier && thread.place != first->place)
      fail(thread, "a barrier while thread " + std::to_string(first->number) +
                       " is at another, of line " +
                       std::to_string(kernel_.instructions[first->place].line));
  }
  if (!first)
    return;
  if (ended)
    fail(*first,
         "a barrier to which " + std::to_string(ended) + " threads do not come: they have ended");
  ++epoch_;
  ++counts_.barriers;
  if (proxies_)
    proxies_->meet();
  for (Thread &thread : threads_) {
    thread.state = Thread::Ready;
    ++thread.place;
    ready.push_back(thread.number);
  }
}

uint64_t BlockRun::special(const Thread &thread, uint32_t which) const {
  switch (static_cast<Special>(which)) {
  case Special::TidX:
    return thread.number;
  case Special::NtidX:
    return shape_.threads;
  case Special::CtaidX:
    return block_;
  case Special::NctaidX:
    return shape_.blocks;
  case Special::LaneId:
    return thread.number % kWarp;
  case Special::WarpSize:
    return kWarp;
  case Special::NtidY:
  case Special::NtidZ:
  case Special::NctaidY:
  case Special::NctaidZ:
    return 1;
  default:
    return 0;
  }
}

void BlockRun::countTurn(Thread &thread) {
  const Loops &loops = kernel_.loops;
  uint32_t loop = loops.begins[thread.place];
  if (loop != Loops::kNone && thread.before != thread.place)
    thread.turns[loop] = loops.contains(loop, thread.before) ? thread.turns[loop] + 1 : 0;
  thread.before = thread.place;
}

// The same number for the accesses of a place that a warp's lanes make together.
uint32_t BlockRun::turn(const Thread &thread) const {
  const Loops &loops = kernel_.loops;
  uint32_t number = 0;
  for (uint32_t at = loops.around[thread.place]; at != Loops::kNone; at = loops.parent[at])
    number = number * 0x9e3779b1 + thread.turns[at];
  return number;
}

void BlockRun::step(Thread &thread) {
  if (thread.place >= kernel_.instructions.size()) { // the end of the body
    thread.state = Thread::Ended;
    return;
  }
  const Instruction &i = kernel_.instructions[thread.place];
  countTurn(thread);
  ++counts_.instructions;
  if (i.guard >= 0 && ((thread.registers[i.guard] & 1) != 0) == i.guardNegated) {
    ++thread.place;
    return;
  }
  switch (i.code) {
  case Code::Bra:
    thread.place = i.target;
    return;
  case Code::Ret:
    thread.state = Thread::Ended;
    return;
  case Code::Bar:
    thread.state = Thread::AtBarrier;
    return;
  case Code::Shfl:
  case Code::LdMatrix:
  case Code::Mma:
  case Code::WgmmaFence:
  case Code::Wgmma:
  case Code::WgmmaCommit:
  case Code::WgmmaWait:
    thread.state = Thread::AtWarp;
    return;
  case Code::MBarrierTryWait:
    if (!atBarrierOfBytes(thread, i))
      return;
    ++thread.place;
    return;
  case Code::Trap:
    fail(thread, "trap");
  default:
    execute(thread, i);
    ++thread.place;
  }
}

void BlockRun::execute(Thread &thread, const Instruction &i) {
  uint64_t a = value(thread, i.a), result = 0;
  switch (i.code) {
  case Code::Ld:
    return load(thread, i, a);
  case Code::St:
    return store(thread, i);
  case Code::CpAsync:
    return startCopy(thread, i);
  case Code::CpAsyncCommit:
    thread.copies.emplace_back();
    return;
  case Code::MBarrierInit:
  case Code::MBarrierArrive:
    atBarrierOfBytes(thread, i);
    return;
  case Code::FenceBarriers:
  case Code::FenceProxy:
    return proxies_->fence(thread.number / kWarp, i.code == Code::FenceBarriers);
  case Code::CopyTensor:
    return startTensorCopy(thread, i);
  case Code::CpAsyncWait:
    return finishCopies(thread, i.waitsForAll ? 0 : a, i.waitsForAll);
  case Code::Mov:
    return set(thread, i.to, a, i.type);
  case Code::CvtaTo: // generic to a space
    return set(thread, i.to, a - windowOf(i.space), i.type);
  case Code::CvtaFrom:
    return set(thread, i.to, a + windowOf(i.space), i.type);
  case Code::Cvt:
    if (!convert(i, a, result))
      fail(thread, "a conversion that is not known");
    if (i.width == 2) { // the first number is the upper half
      uint64_t low = 0;
      convert(i, value(thread, i.b), low);
      return set(thread, i.to, result << 16 | low, Type::B32);
    }
    return set(thread, i.to, result, isSigned(i.type) ? Type::B64 : i.type);
  case Code::Setp: {
    bool holds = false;
    if (!compare(i, a, value(thread, i.b), holds))
      fail(thread, "a comparison that is not known");
    if (i.c.kind != Operand::None)
      fail(thread, "a comparison combined with a predicate is not known");
    set(thread, i.to, holds, Type::Pred);
    return set(thread, i.also, !holds, Type::Pred);
  }
  case Code::Bfi: { // a into b, `d` bits from `c` on
    uint64_t first = value(thread, i.c) & 0xff, length = value(thread, i.d) & 0xff;
    uint64_t field = length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    if (first >= 8 * bytesOf(i.type))
      return set(thread, i.to, value(thread, i.b), i.type);
    return set(thread, i.to, (value(thread, i.b) & ~(field << first)) | (a & field) << first,
               i.type);
  }
  case Code::Selp:
    return set(thread, i.to, value(thread, i.c) & 1 ? a : value(thread, i.b), i.type);
  case Code::Pack: {
    unsigned bits = 8 * bytesOf(i.type) / i.width;
    for (unsigned part = 0; part < i.width; ++part)
      result |= (value(thread, kernel_.vectors[i.a.index + part]) &
                 (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1))
                << bits * part;
    return set(thread, i.to, result, i.type);
  }
  case Code::Unpack: {
    unsigned bits = 8 * bytesOf(i.type) / i.width;
    for (unsigned part = 0; part < i.width; ++part)
      if (const Operand &to = kernel_.vectors[i.to.index + part]; to.kind == Operand::Register)
        write(thread, to.index, (a >> bits * part) & ((uint64_t{1} << bits) - 1));
    return;
  }
  default:
    break;
  }
  bool isKnown = i.takesCarry || i.givesCarry
                     ? computeWithCarry(i, a, value(thread, i.b), thread.carry, result)
                     : compute(i, a, value(thread, i.b), value(thread, i.c), result);
  if (!isKnown)
    fail(thread, "an instruction whose types or modifiers are not known");
  bool is32 = i.code == Code::Popc || i.code == Code::Clz || i.isOfPairs;
  bool widens = i.code == Code::MulWide || i.code == Code::MadWide;
  set(thread, i.to, result, is32 ? Type::B32 : widens ? Type::B64 : i.type);
}

} // namespace tessera::emulator
