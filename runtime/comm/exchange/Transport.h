// Messages between processes, by a plug-in that is opened at run time.
#pragma once

#include "runtime/Status.h"
#include "runtime/comm/exchange/Background.h"
#include "runtime/comm/exchange/TransportPlugin.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace tessera::runtime {

// Tags. The first phase of a collective has one of its group set, in which the ranks' order of
// starts shows; the second phases of several collectives overtake each other, and have one of their
// site. What is sent on a channel has one of the channel. Those of a session are moved to a range of its own (Transport::tagOf).
enum : int32_t {
  kFetchTag = 8,
  kAgreementTag = 9,
  kCountersTag = 10,
  kTraceTag = 11,
  kNcclTag = 12,
  kFirstGroupTag = 16,
  kFirstChannelTag = 1 << 19,
  kFirstSiteTag = 1 << 20,
  kTagsOfSession = 1 << 21
};

class Transport {
public:
  // Opens the plug-in for "mpi": libtessera_comm_mpi.so in TESSERA_PLUGIN_PATH, or where the run path
  // of this library leads. Once in a process: the connection lasts until closeAll or the end of the
  // process, and serves all sessions. It is not the child's of a fork. Errors name the rank that
  // this process would be.
  // "nccl" is the same for processes whose GPUs reach each other by NCCL.
  static Result<std::shared_ptr<Transport>> open(const std::string &name);
  static void closeAll();
  explicit Transport(const TesseraTransport &plugin, bool isForNccl = false)
      : plugin_(plugin), isForNccl_(isForNccl), process_(getpid()) {}
  ~Transport();
  // Nothing is sent over it any more.
  void close();
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  int32_t rank() const { return plugin_.rank; }
  int32_t size() const { return plugin_.size; }
  bool isForNccl() const { return isForNccl_; }
  bool isHere() const { return process_ == getpid(); }
  // A tag of a session: messages of two that execute at the same time don't meet. With more of them
  // than there are ranges they may, and find out.
  int32_t tagOf(uint32_t session, int32_t tag) const {
    int32_t ranges = static_cast<int32_t>((int64_t{plugin_.largest_tag} + 1) / kTagsOfSession);
    return ranges > 1
               ? static_cast<int32_t>(session % static_cast<uint32_t>(ranges)) * kTagsOfSession +
                     tag
               : tag;
  }
  // How many sessions have been made over it: the same number on all ranks.
  uint32_t nextSession() { return ++sessions_; }

  // Of a peer whose memory this process may read and write (PeerSum.h), and the other way round; or 0.
  int64_t processOf(int32_t peer) const { return plugin_.process(plugin_.state, peer); }

  // How many processes there are of the machine that reach each other's memory, this one included.
  uint32_t sharers() const;

  void *send(int32_t peer, int32_t tag, const void *data, size_t bytes);
  void *receive(int32_t peer, int32_t tag, void *data, size_t bytes);
  // Takes the requests that are done out of the list. Fails when one failed or a peer did. `waits`:
  // the caller has nothing else to do.
  Status progress(std::vector<void *> &requests, bool waits = true);
  Status finish(std::vector<void *> requests); // progress until the list is empty
  // One message, whole. Memory that a failed one may still use is kept: the sender's by its owner.
  Status deliver(int32_t peer, int32_t tag, const void *data, size_t bytes,
                 const std::shared_ptr<const void> &owner);
  Result<std::shared_ptr<std::vector<char>>> collect(int32_t peer, int32_t tag, size_t bytes);
  Status health() const;
  // This process has come to so many collectives, over the connection's time; whether it waits for peers
  // that do not answer to messages of this transport.
  void report(uint64_t collectives, bool waits) {
    plugin_.report(plugin_.state, collectives, waits);
  }
  void comeToCollective() { report(++collectives_, false); }
  // Keeps memory that a message of a failed run may still use, until the connection is closed.
  void bury(std::shared_ptr<const void> memory) {
    std::lock_guard lock(buriedMutex_);
    buried_.push_back(std::move(memory));
  }
  // The same for what a device computes with. Nothing is executed over the connection any more.
  void buryBuffers(std::shared_ptr<const void> memory) {
    isOver_ = true;
    bury(std::move(memory));
  }
  bool isOver() const { return isOver_; }
  void announce(const std::string &text) { plugin_.announce(plugin_.state, text.c_str()); }
  // Goes on with what is under way while those that started it compute.
  Background &background() { return *background_; }

private:
  TesseraTransport plugin_;
  const bool isForNccl_;
  const pid_t process_;
  std::unique_ptr<Background> background_ = std::make_unique<Background>();
  std::atomic<uint32_t> sessions_{0};
  std::atomic<uint64_t> collectives_{0};
  std::atomic<bool> closed_{false}, isOver_{false};
  std::mutex buriedMutex_;
  std::vector<std::shared_ptr<const void>> buried_;
};

} // namespace tessera::runtime
