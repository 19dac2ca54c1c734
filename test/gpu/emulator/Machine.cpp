#include "test/gpu/emulator/Machine.h"
#include "test/gpu/emulator/Arithmetic.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace tessera::emulator {

namespace {

// Generic addresses of what is a block's and a thread's own.
constexpr uint64_t kSharedWindow = uint64_t{1} << 60,
                   kLocalWindow = kSharedWindow + (uint64_t{1} << 32), kWindow = uint64_t{1} << 32;
constexpr uint32_t kWarp = 32;

struct Wrong : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Thread {
  enum State : uint8_t { Ready, AtBarrier, AtShuffle, Ended } state = Ready;
  uint32_t number = 0, place = 0;
  std::vector<uint64_t> registers;
  std::vector<uint8_t> local;
  std::vector<uint32_t> visits; // of each access to global memory
};

// One block of a launch.
class BlockRun {
public:
  BlockRun(const Kernel &kernel, const Shape &shape, const uint8_t *parameters, uint32_t launch,
           uint32_t block, Memory &memory, const std::map<std::string, uint64_t> &globals,
           const Module &module, std::mt19937_64 &random, Counts &counts)
      : kernel_(kernel), shape_(shape), parameters_(parameters), launch_(launch), block_(block),
        memory_(memory), globals_(globals), module_(module), random_(random), counts_(counts),
        shared_(kernel.sharedBytes + shape.sharedBytes, 0xff), sharedTraces_(shared_.size()) {}

  void run() {
    threads_.resize(shape_.threads);
    std::vector<uint32_t> ready(shape_.threads);
    std::iota(ready.begin(), ready.end(), 0);
    for (uint32_t i : ready) {
      threads_[i].number = i;
      threads_[i].registers.assign(kernel_.registers, 0x7ff7fff7deadbeef);
      threads_[i].local.assign(kernel_.localBytes, 0xff);
      threads_[i].visits.assign(kernel_.instructions.size(), 0);
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
      if (thread.state == Thread::AtShuffle)
        exchange(thread, ready);
      if (ready.empty())
        release(ready);
    }
    countSectors();
  }

private:
  std::string where(const Thread &thread) const {
    return "line " +
           std::to_string(
               kernel_.instructions[std::min<size_t>(thread.place, kernel_.instructions.size() - 1)]
                   .line) +
           ", block " + std::to_string(block_) + ", thread " + std::to_string(thread.number);
  }
  [[noreturn]] void fail(const Thread &thread, const std::string &what) const {
    throw Wrong(where(thread) + ": " + what);
  }

  // Nobody can go on: all are at one barrier, or have ended.
  void release(std::vector<uint32_t> &ready) {
    const Thread *first = nullptr;
    size_t ended = 0;
    for (const Thread &thread : threads_) {
      if (thread.state == Thread::AtShuffle)
        fail(thread, "a shuffle to which not all of its lanes come");
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
    for (Thread &thread : threads_) {
      thread.state = Thread::Ready;
      ++thread.place;
      ready.push_back(thread.number);
    }
  }

  // All lanes of the mask have come: they read each other's values.
  void exchange(Thread &last, std::vector<uint32_t> &ready) {
    const Instruction &i = kernel_.instructions[last.place];
    auto mask = static_cast<uint32_t>(value(last, i.d));
    uint32_t warp = last.number / kWarp * kWarp;
    if (!(mask >> (last.number % kWarp) & 1))
      fail(last, "a shuffle of a lane that is not in its mask");
    std::vector<Thread *> lanes(kWarp, nullptr);
    for (uint32_t lane = 0; lane < kWarp; ++lane)
      if (mask >> lane & 1) {
        if (warp + lane >= threads_.size())
          fail(last, "a shuffle with lanes that the block has not");
        Thread &other = threads_[warp + lane];
        if (other.state != Thread::AtShuffle || other.place != last.place)
          return;
        lanes[lane] = &other;
      }
    std::vector<uint64_t> sent(kWarp), results(kWarp);
    std::vector<bool> inside(kWarp);
    for (uint32_t lane = 0; lane < kWarp; ++lane)
      if (lanes[lane])
        sent[lane] = value(*lanes[lane], i.a);
    for (uint32_t lane = 0; lane < kWarp; ++lane) {
      if (!lanes[lane])
        continue;
      auto by = static_cast<int32_t>(value(*lanes[lane], i.b) & 31);
      auto control = static_cast<uint32_t>(value(*lanes[lane], i.c));
      int32_t clamp = control & 31, segment = control >> 8 & 31,
              most = (lane & segment) | (clamp & ~segment), from = 0;
      int32_t least = lane & segment;
      auto own = static_cast<int32_t>(lane);
      switch (i.shuffle) {
      case Shuffle::Up:
        from = own - by;
        inside[lane] = from >= most;
        break;
      case Shuffle::Down:
        from = own + by;
        inside[lane] = from <= most;
        break;
      case Shuffle::Bfly:
        from = own ^ by;
        inside[lane] = from <= most;
        break;
      case Shuffle::Idx:
        from = least | (by & ~segment);
        inside[lane] = from <= most;
        break;
      }
      if (!inside[lane])
        from = own;
      if (!lanes[from])
        fail(*lanes[lane],
             "a shuffle from lane " + std::to_string(from) + ", which is not in its mask");
      results[lane] = sent[from];
    }
    for (uint32_t lane = 0; lane < kWarp; ++lane)
      if (lanes[lane]) {
        set(*lanes[lane], i.to, results[lane], Type::B32);
        set(*lanes[lane], i.also, inside[lane], Type::Pred);
        lanes[lane]->state = Thread::Ready;
        ++lanes[lane]->place;
        ready.push_back(warp + lane);
      }
  }

  uint64_t special(const Thread &thread, uint32_t which) const {
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

  uint64_t value(const Thread &thread, const Operand &operand) const {
    switch (operand.kind) {
    case Operand::Register:
      return (thread.registers[operand.index] ^ (operand.negated ? 1 : 0)) +
             static_cast<uint64_t>(operand.value);
    case Operand::Immediate:
      return static_cast<uint64_t>(operand.value);
    case Operand::SpecialRegister:
      return special(thread, operand.index);
    case Operand::Symbol: {
      if (operand.space != Space::Global)
        return static_cast<uint64_t>(operand.value);
      return globals_.at(module_.globalNames[operand.index]) + static_cast<uint64_t>(operand.value);
    }
    default:
      return 0;
    }
  }

  void set(Thread &thread, const Operand &to, uint64_t bits, Type type) {
    if (to.kind == Operand::Register)
      thread.registers[to.index] = masked(bits, type);
    else if (to.kind != Operand::None)
      fail(thread, "a result that is no register");
  }

  void step(Thread &thread) {
    if (thread.place >= kernel_.instructions.size()) { // the end of the body
      thread.state = Thread::Ended;
      return;
    }
    const Instruction &i = kernel_.instructions[thread.place];
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
      thread.state = Thread::AtShuffle;
      return;
    case Code::Trap:
      fail(thread, "trap");
    default:
      execute(thread, i);
      ++thread.place;
    }
  }

  void execute(Thread &thread, const Instruction &i) {
    uint64_t a = value(thread, i.a), result = 0;
    switch (i.code) {
    case Code::Ld:
      return load(thread, i, a);
    case Code::St:
      return store(thread, i);
    case Code::Mov:
      return set(thread, i.to, a, i.type);
    case Code::CvtaTo: // generic to a space
      return set(thread, i.to, a - windowOf(i.space), i.type);
    case Code::CvtaFrom:
      return set(thread, i.to, a + windowOf(i.space), i.type);
    case Code::Cvt:
      if (!convert(i, a, result))
        fail(thread, "a conversion that is not known");
      return set(thread, i.to, result, i.type);
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
          thread.registers[to.index] = (a >> bits * part) & ((uint64_t{1} << bits) - 1);
      return;
    }
    default:
      break;
    }
    if (!compute(i, a, value(thread, i.b), value(thread, i.c), result))
      fail(thread, "an instruction whose types or modifiers are not known");
    bool counts = i.code == Code::Popc || i.code == Code::Clz;
    bool widens = i.code == Code::MulWide || i.code == Code::MadWide;
    set(thread, i.to, result, counts ? Type::B32 : widens ? Type::B64 : i.type);
  }

  static uint64_t windowOf(Space space) {
    return space == Space::Shared ? kSharedWindow : space == Space::Local ? kLocalWindow : 0;
  }

  void load(Thread &thread, const Instruction &i, uint64_t address) {
    unsigned each = bytesOf(i.type);
    const uint8_t *from = place(thread, i, address, each * i.width, /*isWrite=*/false);
    for (unsigned part = 0; part < i.width; ++part) {
      uint64_t bits = 0;
      std::memcpy(&bits, from + part * each, each);
      if (isSigned(i.type)) // registers may be wider
        bits =
            static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - 8 * each)) >> (64 - 8 * each));
      const Operand &to = i.to.kind == Operand::Vector ? kernel_.vectors[i.to.index + part] : i.to;
      if (to.kind == Operand::Register)
        thread.registers[to.index] = bits;
    }
  }

  void store(Thread &thread, const Instruction &i) {
    unsigned each = bytesOf(i.type);
    uint8_t *to = place(thread, i, value(thread, i.a), each * i.width, /*isWrite=*/true);
    for (unsigned part = 0; part < i.width; ++part) {
      uint64_t bits =
          value(thread, i.b.kind == Operand::Vector ? kernel_.vectors[i.b.index + part] : i.b);
      std::memcpy(to + part * each, &bits, each);
    }
  }

  // Where the bytes of an access lie, which is checked and counted.
  uint8_t *place(Thread &thread, const Instruction &i, uint64_t address, unsigned bytes,
                 bool isWrite) {
    if (address % bytes)
      fail(thread, "an access of " + std::to_string(bytes) +
                       " bytes at an address that is no multiple of them");
    Space space = i.space;
    if (space == Space::Generic) {
      space = address - kSharedWindow < kWindow  ? Space::Shared
              : address - kLocalWindow < kWindow ? Space::Local
                                                 : Space::Global;
      address -= windowOf(space);
    }
    switch (space) {
    case Space::Param:
      if (isWrite || address + bytes > kernel_.parameterBytes)
        fail(thread, "an access outside of the parameters");
      return const_cast<uint8_t *>(parameters_) + address;
    case Space::Local:
      if (address + bytes > thread.local.size())
        fail(thread, "an access outside of local memory");
      return thread.local.data() + address;
    case Space::Shared:
      if (address + bytes > shared_.size())
        fail(thread, "an access outside of shared memory");
      for (unsigned byte = 0; byte < bytes; ++byte)
        note(thread, sharedTraces_[address + byte], isWrite);
      return shared_.data() + address;
    default:
      return global(thread, address, bytes, isWrite);
    }
  }

  uint8_t *global(Thread &thread, uint64_t address, unsigned bytes, bool isWrite) {
    size_t offset;
    Memory::Block *block = memory_.find(address, bytes, offset);
    if (!block)
      fail(thread, std::string(isWrite ? "writes " : "reads ") + std::to_string(bytes) +
                       " bytes outside of what is allocated");
    if (block->traces.empty())
      block->traces.resize(block->size);
    uint64_t fresh = 0;
    for (unsigned byte = 0; byte < bytes; ++byte)
      fresh += note(thread, block->traces[offset + byte], isWrite);
    (isWrite ? counts_.bytesWritten : counts_.bytesRead) += bytes;
    (isWrite ? counts_.leastWritten : counts_.leastRead) += fresh;
    uint64_t key = (uint64_t{thread.number / kWarp} << 52) | (uint64_t{thread.place} << 32) |
                   thread.visits[thread.place]++;
    for (uint64_t sector = address / 32; sector <= (address + bytes - 1) / 32; ++sector)
      (isWrite ? written_ : read_).emplace_back(key, sector);
    return block->bytes.get() + offset;
  }

  // Whether it is the launch's first such access to the byte.
  bool note(const Thread &thread, Trace &trace, bool isWrite) {
    const Trace::Access now{launch_, block_, thread.number, epoch_};
    auto meets = [&](const Trace::Access &other) {
      if (other.launch != launch_) {
        if (other.launch && !memory_.isOver(other.launch))
          fail(thread, std::string(isWrite ? "writes" : "reads") + " what a command of another " +
                           "stream " + (&other == &trace.written ? "writes" : "reads") +
                           ", with no event between");
        return false;
      }
      return other.block != block_ || (other.epoch == epoch_ && other.thread != thread.number);
    };
    if (meets(trace.written))
      fail(thread, std::string(isWrite ? "writes" : "reads") + " what block " +
                       std::to_string(trace.written.block) + ", thread " +
                       std::to_string(trace.written.thread) + " writes, with no barrier between");
    if (isWrite && meets(trace.read))
      fail(thread, "writes what block " + std::to_string(trace.read.block) + ", thread " +
                       std::to_string(trace.read.thread) + " reads, with no barrier between");
    Trace::Access &own = isWrite ? trace.written : trace.read;
    bool isFirst = own.launch != launch_;
    if (isWrite || isFirst) {
      own = now;
    } else if (own.block != block_) {
      own.block = Trace::kSeveral;
    } else if (own.epoch != epoch_) {
      own = now;
    } else if (own.thread != thread.number) {
      own.thread = Trace::kSeveral;
    }
    return isFirst;
  }

  void countSectors() {
    for (auto *list : {&read_, &written_}) {
      std::sort(list->begin(), list->end());
      auto distinct =
          static_cast<uint64_t>(std::unique(list->begin(), list->end()) - list->begin());
      (list == &read_ ? counts_.sectorsRead : counts_.sectorsWritten) += distinct;
      list->clear();
    }
  }

  const Kernel &kernel_;
  const Shape &shape_;
  const uint8_t *parameters_;
  const uint32_t launch_, block_;
  Memory &memory_;
  const std::map<std::string, uint64_t> &globals_;
  const Module &module_;
  std::mt19937_64 &random_;
  Counts &counts_;
  std::vector<uint8_t> shared_;
  std::vector<Trace> sharedTraces_;
  std::vector<Thread> threads_;
  uint32_t epoch_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> read_, written_; // (warp, place, visit) and sector
};

} // namespace

std::string Machine::run(const Kernel &kernel, const Shape &shape, const uint8_t *parameters,
                         uint32_t launch, Counts &counts) {
  ++counts.launches;
  std::vector<uint32_t> blocks(shape.blocks);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random_);
  try {
    for (uint32_t block : blocks)
      BlockRun(kernel, shape, parameters, launch, block, memory_, globals_, module_, random_,
               counts)
          .run();
  } catch (const Wrong &wrong) {
    return "kernel " + kernel.name + ", " + wrong.what();
  }
  return "";
}

} // namespace tessera::emulator
