// Messages between processes, by a plug-in that is opened at run time.
#pragma once

#include "runtime/Status.h"
#include "runtime/comm/exchange/TransportPlugin.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

class Transport {
public:
  // Opens the plug-in for "mpi": libtessera_comm_mpi.so in TESSERA_PLUGIN_PATH, beside this binary,
  // or in its ../lib. Once in a process: the connection lasts until closeAll or the end of the
  // process, and serves all sessions.
  static Result<std::shared_ptr<Transport>> open(const std::string &name);
  static void closeAll();
  explicit Transport(const TesseraTransport &plugin) : plugin_(plugin) {}
  ~Transport();
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  int32_t rank() const { return plugin_.rank; }
  int32_t size() const { return plugin_.size; }

  void *send(int32_t peer, int32_t tag, const void *data, size_t bytes);
  void *receive(int32_t peer, int32_t tag, void *data, size_t bytes);
  // Takes the requests that are done out of the list. Fails when one failed or a peer did.
  Status progress(std::vector<void *> &requests);
  Status finish(std::vector<void *> requests); // progress until the list is empty
  Status health() const;
  // Keeps memory that a message of a failed run may still use, until the connection is closed.
  void bury(std::shared_ptr<void> memory) { buried_.push_back(std::move(memory)); }
  void announce(const std::string &text) { plugin_.announce(plugin_.state, text.c_str()); }

private:
  TesseraTransport plugin_;
  std::vector<std::shared_ptr<void>> buried_;
};

// Tags. The first phase of a collective has one of its group set, in which the ranks' order of
// starts shows; the second phases of several collectives overtake each other, and have one of their
// site.
enum : int32_t { kFetchTag = 8, kFirstGroupTag = 16, kFirstSiteTag = 1 << 20 };

} // namespace tessera::runtime
