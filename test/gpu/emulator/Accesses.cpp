// Accesses to memory: checked, counted, and carried out.
#include "test/gpu/emulator/BlockRun.h"

#include <algorithm>
#include <cstring>

namespace tessera::emulator {

void BlockRun::load(Thread &thread, const Instruction &i, uint64_t address) {
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
      write(thread, to.index, bits);
  }
}

void BlockRun::store(Thread &thread, const Instruction &i) {
  unsigned each = bytesOf(i.type);
  uint8_t *to = place(thread, i, value(thread, i.a), each * i.width, /*isWrite=*/true);
  for (unsigned part = 0; part < i.width; ++part) {
    uint64_t bits =
        value(thread, i.b.kind == Operand::Vector ? kernel_.vectors[i.b.index + part] : i.b);
    std::memcpy(to + part * each, &bits, each);
  }
}

void BlockRun::startCopy(Thread &thread, const Instruction &i) {
  uint64_t to = value(thread, i.a), from = value(thread, i.b), bytes = value(thread, i.c);
  uint64_t read = i.d.kind == Operand::None ? bytes : value(thread, i.d);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || read > bytes)
    fail(thread, "a copy of " + std::to_string(bytes) + " bytes");
  Instruction access = i;
  access.space = Space::Shared;
  place(thread, access, to, static_cast<unsigned>(bytes), /*isWrite=*/true);
  if (from % bytes)
    fail(thread, "a copy from an address that is no multiple of its size");
  if (read)
    global(thread, from, static_cast<unsigned>(read), /*isWrite=*/false);
  std::fill_n(isUnderWay_.begin() + static_cast<int64_t>(to), bytes, 1);
  thread.copies.back().push_back(
      {to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(read)});
}

void BlockRun::finishCopies(Thread &thread, uint64_t left, bool all) {
  auto &groups = thread.copies;
  size_t done = all ? groups.size() : groups.size() - 1 - std::min(left, groups.size() - 1);
  for (size_t number = 0; number < done; ++number)
    for (const Thread::Copy &copy : groups[number]) {
      std::fill_n(isUnderWay_.begin() + static_cast<int64_t>(copy.to), copy.bytes, 0);
      for (unsigned byte = 0; byte < copy.bytes; ++byte)
        note(thread, sharedTraces_[copy.to + byte], /*isWrite=*/true);
      std::memset(shared_.data() + copy.to, 0, copy.bytes);
      size_t offset;
      if (Memory::Block *block = memory_.find(copy.from, copy.read, offset); block && copy.read)
        std::memcpy(shared_.data() + copy.to, block->bytes.get() + offset, copy.read);
    }
  groups.erase(groups.begin(), groups.begin() + static_cast<int64_t>(done));
  if (groups.empty())
    groups.emplace_back();
}

uint8_t *BlockRun::place(Thread &thread, const Instruction &i, uint64_t address, unsigned bytes,
                         bool isWrite) {
  if (address % bytes)
    fail(thread, "an access of " + std::to_string(bytes) +
                     " bytes at an address that is no multiple of them");
  Space space = i.space;
  if (space == Space::Generic) {
    space = address - kSharedWindow < kWindow  ? Space::Shared
            : address - kLocalWindow < kWindow ? Space::Local
            : address - kParamWindow < kWindow ? Space::Param
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
    for (unsigned byte = 0; byte < bytes; ++byte) {
      if (isUnderWay_[address + byte])
        fail(thread, "touches what a copy that is under way writes");
      note(thread, sharedTraces_[address + byte], isWrite);
    }
    if (proxies_)
      if (std::string problem = proxies_->touch(thread.number / kWarp, address, bytes, isWrite);
          !problem.empty())
        fail(thread, problem);
    if (notesBanks_ && i.code != Code::CpAsync)
      noteBanks(thread, address, bytes);
    return shared_.data() + address;
  default:
    return global(thread, address, bytes, isWrite);
  }
}

uint8_t *BlockRun::global(Thread &thread, uint64_t address, unsigned bytes, bool isWrite) {
  size_t offset;
  Memory::Block *block = memory_.find(address, bytes, offset);
  if (!block)
    fail(thread, std::string(isWrite ? "writes " : "reads ") + std::to_string(bytes) +
                     " bytes outside of what is allocated" +
                     (memory_.kernelOf ? " on its GPU" : ""));
  uint64_t fresh = 0;
  for (unsigned byte = 0; byte < bytes; ++byte)
    fresh += note(thread, block->traces[offset + byte], isWrite);
  (isWrite ? counts_.bytesWritten : counts_.bytesRead) += bytes;
  (isWrite ? counts_.leastWritten : counts_.leastRead) += fresh;
  uint64_t key =
      (uint64_t{thread.number / kWarp} << 52) | (uint64_t{thread.place} << 32) | turn(thread);
  for (uint64_t sector = address / 32; sector <= (address + bytes - 1) / 32; ++sector)
    (isWrite ? written_ : read_).emplace_back(key, sector);
  return block->bytes.get() + offset;
}

bool BlockRun::note(const Thread &thread, Trace &trace, bool isWrite) {
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

void BlockRun::countSectors() {
  for (auto *list : {&read_, &written_}) {
    std::sort(list->begin(), list->end());
    auto distinct = static_cast<uint64_t>(std::unique(list->begin(), list->end()) - list->begin());
    (list == &read_ ? counts_.sectorsRead : counts_.sectorsWritten) += distinct;
    auto bySector = [](const auto &x, const auto &y) { return x.second < y.second; };
    auto isSame = [](const auto &x, const auto &y) { return x.second == y.second; };
    std::sort(list->begin(), list->end(), bySector);
    list->erase(std::unique(list->begin(), list->end(), isSame), list->end());
    (list == &read_ ? counts_.blockSectorsRead : counts_.blockSectorsWritten) += list->size();
    for (auto &[key, sector] : *list)
      (list == &read_ ? sectors_.read : sectors_.written).insert(sector);
    list->clear();
  }
}

// A warp's access is carried out in parts that have 128 bytes at most: accesses of 16 bytes by eight
// lanes at a time, of 8 by sixteen.
void BlockRun::noteBanks(Thread &thread, uint64_t address, unsigned bytes) {
  uint64_t lane = thread.number % kWarp, part = bytes == 16 ? lane / 8 : bytes == 8 ? lane / 16 : 0;
  uint64_t key = uint64_t{thread.number / kWarp} << 54 | uint64_t{thread.place} << 34 |
                 uint64_t{turn(thread)} << 2 | part;
  noteWords(key, address, bytes);
}

void BlockRun::noteWords(uint64_t key, uint64_t address, unsigned bytes) {
  constexpr size_t kMost = size_t{1} << 22; // enough to tell
  if (banks_.size() > kMost)
    return;
  for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word)
    banks_.emplace_back(key, static_cast<uint32_t>(word));
}

void BlockRun::countBanks() {
  std::sort(banks_.begin(), banks_.end());
  banks_.erase(std::unique(banks_.begin(), banks_.end()), banks_.end());
  for (size_t i = 0; i < banks_.size();) {
    std::array<uint32_t, 32> words{};
    uint64_t key = banks_[i].first;
    for (; i < banks_.size() && banks_[i].first == key; ++i)
      ++words[banks_[i].second % 32];
    counts_.bankTurns += *std::max_element(words.begin(), words.end());
    ++counts_.leastBankTurns;
  }
}

} // namespace tessera::emulator
