#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/LaunchedRank.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sched.h>

namespace tessera::runtime {

// Opened by its name alone, a plug-in is found by the run path of the library or program that this is
// part of: beside it in a build, in lib/tessera of an installation.
static std::vector<std::string> candidates(const std::string &file) {
  std::vector<std::string> names;
  if (const char *path = std::getenv("TESSERA_PLUGIN_PATH"))
    names.push_back(std::string(path) + "/" + file);
  names.push_back(file);
  return names;
}

static Result<std::shared_ptr<Transport>> openPlugin(const std::string &name) {
  bool isForNccl = name == "nccl"; // which gets to know its peers by MPI
  std::string
      file = "libtessera_comm_" + (isForNccl ? "mpi" : name) + ".so",
      reason = "there is none; communicators are local, and mpi and nccl where the build found MPI";
  auto unsupported = [&](const std::string &what) {
    return Status(Code::Unimplemented, "communicator '" + name + "': " + what);
  };
  void *handle = nullptr;
  for (const std::string &path : candidates(file)) {
    // Global: Open MPI's own plug-ins look for its symbols there.
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle)
      break;
    std::string why = dlerror();
    if (why != path + ": cannot open shared object file: No such file or directory")
      reason = why; // it is there
  }
  if (!handle)
    return unsupported(file + ": " + reason);
  auto open = reinterpret_cast<TesseraTransportOpen>(dlsym(handle, TESSERA_TRANSPORT_OPEN));
  TesseraTransport plugin = {};
  if (!open)
    return unsupported(file + " is no communicator");
  if (const char *problem = open(&plugin))
    return unsupported(problem);
  if (plugin.abi != TESSERA_TRANSPORT_ABI)
    return unsupported(file + " was built for another version of the runtime");
  return std::make_shared<Transport>(plugin, isForNccl);
}

// The process's connections by name.
static std::map<std::string, std::shared_ptr<Transport>> &connections() {
  // They end with the process, also where a host has not freed its sessions.
  struct Connections {
    std::map<std::string, std::shared_ptr<Transport>> byName;
    ~Connections() {
      for (auto &[name, transport] : byName)
        transport->close();
    }
  };
  static Connections all;
  return all.byName;
}
static std::mutex connectionsMutex;

Result<std::shared_ptr<Transport>> Transport::open(const std::string &name) {
  std::lock_guard lock(connectionsMutex);
  auto it = connections().find(name);
  if (it != connections().end() && !it->second->isHere())
    return Status(Code::Unimplemented, "communicator '" + name +
                                           "': the process that this one was forked from has the "
                                           "connection");
  if (it != connections().end())
    return it->second;
  if (!connections().empty()) // MPI is begun once
    return Status(Code::Unimplemented, "communicator '" + name +
                                           "': this process is connected by '" +
                                           connections().begin()->first + "' already");
  auto opened = openPlugin(name);
  if (!opened.ok())
    return Status(opened.status().code(), comm::launchedAs() + opened.status().message());
  connections()[name] = *opened;
  return opened;
}

void Transport::closeAll() {
  std::lock_guard lock(connectionsMutex);
  for (auto &[name, transport] : connections())
    transport->close();
  connections().clear();
}

Transport::~Transport() {
  close();
  if (!isHere())
    background_.release(); // its thread is the parent's
}

void Transport::close() {
  if (!isHere() || closed_.exchange(true))
    return;
  background_->stop();
  plugin_.close(plugin_.state);
}

uint32_t Transport::sharers() const {
  uint32_t count = 1;
  for (int32_t peer = 0; peer < size(); ++peer)
    count += peer != rank() && processOf(peer) != 0;
  return count;
}

void *Transport::send(int32_t peer, int32_t tag, const void *data, size_t bytes) {
  return plugin_.send(plugin_.state, peer, tag, data, bytes);
}

void *Transport::receive(int32_t peer, int32_t tag, void *data, size_t bytes) {
  return plugin_.receive(plugin_.state, peer, tag, data, bytes);
}

Status Transport::health() const {
  char text[640];
  return plugin_.failure(plugin_.state, text, sizeof text) ? Status(Code::Unavailable, text)
                                                           : Status();
}

Status Transport::progress(std::vector<void *> &requests, bool waits) {
  bool broken = false;
  std::erase_if(requests, [&](void *request) {
    int32_t done = request ? plugin_.test(plugin_.state, request, waits) : -1;
    broken |= done < 0;
    return done != 0;
  });
  Status status = health();
  if (status.ok() && broken)
    return {Code::Unavailable, "a message between processes failed"};
  return status;
}

Status Transport::deliver(int32_t peer, int32_t tag, const void *data, size_t bytes,
                          const std::shared_ptr<const void> &owner) {
  Status status = finish({send(peer, tag, data, bytes)});
  if (!status.ok())
    bury(owner);
  return status;
}

Result<std::shared_ptr<std::vector<char>>> Transport::collect(int32_t peer, int32_t tag,
                                                              size_t bytes) {
  auto memory = std::make_shared<std::vector<char>>(bytes);
  Status status = finish({receive(peer, tag, memory->data(), bytes)});
  if (status.ok())
    return memory;
  bury(memory);
  return status;
}

Status Transport::finish(std::vector<void *> requests) {
  while (true) {
    if (Status s = progress(requests); !s.ok() || requests.empty())
      return s;
    sched_yield();
  }
}

} // namespace tessera::runtime
