#include "runtime/device/shadow/ShadowBackend.h"
#include "runtime/HostMemory.h"
#include "runtime/device/shadow/ShadowQueue.h"
#include "runtime/device/shadow/Translation.h"
#include <cstring>
#include <new>

namespace tessera::runtime::device {

class ShadowBackend::Block final : public Memory {
public:
  Block(std::shared_ptr<ShadowBackend> backend, void *data, size_t bytes, Space space)
      : Memory(backend, Translation::ofProcess().add(data, bytes), bytes, space) {}
  ~Block() override {
    auto &shadow = static_cast<ShadowBackend &>(backend());
    void *data = Translation::ofProcess().remove(address());
    if (space() == Space::File)
      unmapFile(data, bytes());
    else
      shadow.blocks_.giveBack(data, bytes());
    shadow.used_ -= bytes();
  }
};

std::shared_ptr<Memory> ShadowBackend::allocate(Space space, size_t bytes) {
  bool isThere = used_.fetch_add(bytes) + bytes <= memory_;
  void *data = !isThere ? nullptr : space == Space::File ? mapFile(bytes) : blocks_.take(bytes);
  if (!data) {
    used_ -= bytes;
    return nullptr;
  }
  std::memset(data, 0xff, bytes);
  return std::make_shared<Block>(std::static_pointer_cast<ShadowBackend>(shared_from_this()), data,
                                 bytes, space);
}

Result<uint64_t> ShadowBackend::memoryFromEnvironment() {
  auto bytes = environmentNumber("TESSERA_SHADOW_MEMORY", 0, 1e15);
  if (!bytes.ok())
    return bytes.status();
  return *bytes ? static_cast<uint64_t>(**bytes) : UINT64_MAX;
}

uint64_t ShadowBackend::mostMemory() const { return runtime::mostMemory(); }

namespace {

struct Transfer {
  void *to;
  const void *from;
  size_t bytes;
  std::shared_ptr<Event> event;
  Timer timer = {};

  static void carryOut(Timer *timer) {
    std::unique_ptr<Transfer> transfer(static_cast<Transfer *>(timer->context));
    std::memmove(transfer->to, transfer->from, transfer->bytes);
    transfer->event->signal();
  }
};

} // namespace

// Always late, so that who does not wait finds nothing.
std::shared_ptr<Event> ShadowBackend::move(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return Event::past();
  auto event = std::make_shared<Event>();
  if (!to || !from) {
    event->signal({Code::Internal, "a copy from or to memory that nobody holds any more"});
    return event;
  }
  auto transfer = std::unique_ptr<Transfer>(new Transfer{to, from, bytes, event});
  transfer->timer = {Pool::now(), Transfer::carryOut, transfer.get()};
  if (delays_.most) {
    std::lock_guard lock(mutex_);
    transfer->timer.deadline += static_cast<int64_t>(dice_.roll(delays_.most));
  }
  if (pool_->isHere())
    pool_->add(&transfer.release()->timer);
  else // after a fork nobody is there to do it later
    Transfer::carryOut(&transfer.release()->timer);
  return event;
}

std::shared_ptr<Event> ShadowBackend::copyToHost(void *to, Address from, size_t bytes) {
  return move(to, Translation::ofProcess().translate(from), bytes);
}

std::shared_ptr<Event> ShadowBackend::copyFromHost(Address to, const void *from, size_t bytes) {
  return move(Translation::ofProcess().translate(to), from, bytes);
}

std::shared_ptr<Event> ShadowBackend::copy(Address to, Address from, size_t bytes) {
  return move(Translation::ofProcess().translate(to), Translation::ofProcess().translate(from),
              bytes);
}

std::unique_ptr<Queue> ShadowBackend::makeQueue(const Lane &lane) {
  return std::make_unique<ShadowQueue>(lane, delays_);
}

} // namespace tessera::runtime::device
