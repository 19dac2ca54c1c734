// A stand-in for libnccl.so.2, found through the library path: messages between ranks, each of which is
// a GPU of the emulator, in one process or several, over sockets of this machine. What a stream is given
// it carries out in its turn, late as everything there.
//
// Two ranks connect when the first of them gives the first message between them, and whoever gives waits
// for the other to do so, as NCCL does: ranks of one process that are not given together may wait for ever.
//
//   TESSERA_NCCL_FAIL=N     the connection breaks in group N of messages
//   TESSERA_NCCL_DIE=R:N    the process of rank R ends there
//   TESSERA_NCCL_SILENT=R:N it hangs there
//   TESSERA_NCCL_ERROR=R:N  its messages never come, which an asynchronous error says some moments later
//   TESSERA_NCCL_REFUSE=R:N the call is refused
//   TESSERA_NCCL_LAG=US     messages are late by up to so many microseconds
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <random>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Stream = struct StreamOfDriver *;

extern "C" {
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Stream stream);
int cuLaunchHostFunc(Stream stream, void (*function)(void *), void *data);
int cuCtxGetDevice(int *device);
int cuStreamGetDevice(Stream stream, int *device);
int tessera_emulator_wait(int device);
}

namespace {

enum Result : int {
  Success = 0,
  SystemError = 2,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6
};

struct UniqueId {
  char bytes[128];
};

struct Comm {
  int rank = 0, size = 0, device = 0;
  UniqueId id;
  std::vector<int> sockets;       // by rank
  std::vector<bool> hasConnected; // by rank
  std::atomic<int> error{Success};
  std::atomic<bool> aborted{false};
  std::atomic<int> groups{0};
};

struct Message {
  Comm *comm;
  int peer;
  bool isSend;
  uint64_t address;
  size_t bytes;
  Stream stream;
  // Of its way: a header that says the bytes, then those.
  std::vector<char> host;
  size_t done = 0;
};

constexpr size_t kHeader = sizeof(uint64_t);

struct Group {
  Comm *comm;
  int number;
  std::vector<std::unique_ptr<Message>> messages;
};

thread_local int depth = 0;
thread_local std::vector<std::unique_ptr<Message>> gathered;
// Ranks that are to be made when the group ends, all at once.
struct Birth {
  Comm **made;
  std::unique_ptr<Comm> comm;
};
thread_local std::vector<Birth> births;

// Of this process: which GPUs have a rank of which world.
std::mutex takenMutex;
std::set<std::pair<std::string, int>> taken;

// Whether "R:N" in a variable names this rank and group.
bool isNamed(const char *variable, const Comm &comm, int group) {
  const char *text = std::getenv(variable);
  int rank = 0, number = 0;
  return text && std::sscanf(text, "%d:%d", &rank, &number) == 2 && rank == comm.rank &&
         number == group;
}

// Goes on with a message: false when the peer is gone.
bool advance(Message &message) {
  int socket = message.comm->sockets[static_cast<size_t>(message.peer)];
  while (message.done < message.host.size()) {
    char *at = message.host.data() + message.done;
    size_t left = message.host.size() - message.done;
    ssize_t moved = message.isSend ? send(socket, at, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                   : recv(socket, at, left, MSG_DONTWAIT);
    if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
      return true;
    if (moved <= 0)
      return false;
    message.done += static_cast<size_t>(moved);
  }
  return true;
}

// On the stream: all messages of a group at once, those of a pair in their order.
void exchange(void *data) {
  auto &group = *static_cast<Group *>(data);
  Comm &comm = *group.comm;
  if (isNamed("TESSERA_NCCL_DIE", comm, group.number))
    _exit(9);
  if (const char *lag = std::getenv("TESSERA_NCCL_LAG"); lag && std::atoi(lag) > 0)
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::random_device()() % static_cast<unsigned>(std::atoi(lag))));
  bool isLost = isNamed("TESSERA_NCCL_ERROR", comm, group.number);
  while ((isLost || isNamed("TESSERA_NCCL_SILENT", comm, group.number)) && !comm.aborted) {
    std::this_thread::sleep_for(std::chrono::milliseconds(isLost ? 20 : 1));
    if (isLost)
      comm.error = SystemError;
  }
  if (const char *text = std::getenv("TESSERA_NCCL_FAIL"); text && std::atoi(text) == group.number)
    comm.error = SystemError;
  for (auto &message : group.messages)
    if (message->isSend) {
      uint64_t bytes = message->bytes;
      std::memcpy(message->host.data(), &bytes, kHeader);
    }
  while (!comm.aborted && comm.error == Success) {
    bool isOver = true;
    std::vector<std::pair<int, bool>> busy; // peers that an earlier message waits for
    for (auto &message : group.messages) {
      std::pair<int, bool> way(message->peer, message->isSend);
      bool isFirst = std::find(busy.begin(), busy.end(), way) == busy.end();
      if (isFirst && !advance(*message))
        comm.error = RemoteError;
      if (message->done < message->host.size()) {
        isOver = false;
        busy.push_back(way);
      }
    }
    if (isOver)
      break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  for (auto &message : group.messages) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, message->host.data(), kHeader);
    if (comm.error == Success && !comm.aborted && bytes != message->bytes) {
      std::fprintf(stderr, "nccl stand-in: a message of %llu bytes, where %llu were expected\n",
                   (unsigned long long)bytes, (unsigned long long)message->bytes);
      comm.error = InvalidUsage;
    }
  }
}

void release(void *data) { delete static_cast<Group *>(data); }

uint64_t pointer(const void *memory) { return reinterpret_cast<uintptr_t>(memory); }

// All that have messages for each other for the first time say so, and wait until the others do.
int connectAll(const std::vector<std::unique_ptr<Message>> &messages) {
  std::set<std::pair<Comm *, size_t>> fresh;
  for (const auto &message : messages)
    if (auto peer = static_cast<size_t>(message->peer); !message->comm->hasConnected[peer])
      fresh.emplace(message->comm, peer);
  for (auto [comm, peer] : fresh)
    if (send(comm->sockets[peer], "", 1, MSG_NOSIGNAL) != 1)
      return RemoteError;
  for (auto [comm, peer] : fresh) {
    char byte;
    if (recv(comm->sockets[peer], &byte, 1, 0) != 1)
      return RemoteError;
    comm->hasConnected[peer] = true;
  }
  return Success;
}

// Copies what is sent to the host, exchanges it, and copies what came to the GPU. `messages`: of one rank.
int give(std::vector<std::unique_ptr<Message>> messages) {
  Stream stream = messages.front()->stream;
  auto *group = new Group{messages.front()->comm, ++messages.front()->comm->groups, {}};
  if (isNamed("TESSERA_NCCL_REFUSE", *group->comm, group->number))
    return delete group, SystemError;
  for (auto &message : messages) {
    if (message->stream != stream)
      return InvalidUsage; // of the stand-in: one stream
    if (message->isSend)
      cuMemcpyAsync(pointer(message->host.data() + kHeader), message->address, message->bytes,
                    stream);
  }
  group->messages = std::move(messages);
  cuLaunchHostFunc(stream, exchange, group);
  for (auto &message : group->messages)
    if (!message->isSend)
      cuMemcpyAsync(message->address, pointer(message->host.data() + kHeader), message->bytes,
                    stream);
  cuLaunchHostFunc(stream, release, group);
  return Success;
}

// What was gathered, rank by rank.
int giveAll() {
  std::vector<std::unique_ptr<Message>> messages = std::move(gathered);
  gathered.clear();
  if (int code = connectAll(messages); code != Success)
    return code;
  std::map<Comm *, std::vector<std::unique_ptr<Message>>> byRank;
  for (auto &message : messages) {
    Comm *comm = message->comm;
    byRank[comm].push_back(std::move(message));
  }
  for (auto &[comm, own] : byRank)
    if (int code = give(std::move(own)); code != Success)
      return code;
  return Success;
}

int add(Comm *comm, int peer, bool isSend, uint64_t address, size_t bytes, int type,
        Stream stream) {
  if (!comm || comm->aborted || peer < 0 || peer >= comm->size || peer == comm->rank || type != 1)
    return InvalidArgument;
  int device = -1;
  if (cuStreamGetDevice(stream, &device) || device != comm->device)
    return InvalidUsage;
  auto message = std::make_unique<Message>();
  *message = {comm, peer, isSend, address, bytes, stream, std::vector<char>(kHeader + bytes), 0};
  gathered.push_back(std::move(message));
  return depth ? static_cast<int>(Success) : giveAll();
}

sockaddr_un addressOf(const UniqueId &id, int rank, socklen_t &bytes) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX; // of a name that no file has
  int length =
      std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s-%d", id.bytes, rank);
  bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

// Connects the rank's sockets with those of all others, which do the same.
int meet(Comm &comm) {
  socklen_t bytes;
  sockaddr_un own = addressOf(comm.id, comm.rank, bytes);
  int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listening, reinterpret_cast<sockaddr *>(&own), bytes) || listen(listening, comm.size))
    return SystemError;
  for (int peer = 0; peer < comm.rank; ++peer) { // who comes later connects
    sockaddr_un address = addressOf(comm.id, peer, bytes);
    int connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(connected, reinterpret_cast<sockaddr *>(&address), bytes))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (write(connected, &comm.rank, sizeof comm.rank) != sizeof comm.rank)
      return SystemError;
    comm.sockets[static_cast<size_t>(peer)] = connected;
  }
  for (int count = comm.rank + 1; count < comm.size; ++count) {
    int accepted = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC), peer = -1;
    if (read(accepted, &peer, sizeof peer) != sizeof peer || peer <= comm.rank || peer >= comm.size)
      return SystemError;
    comm.sockets[static_cast<size_t>(peer)] = accepted;
  }
  close(listening);
  return Success;
}

int meetAll() {
  std::vector<Birth> ranks = std::move(births);
  births.clear();
  std::vector<int> codes(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] { codes[i] = meet(*ranks[i].comm); });
  for (std::thread &thread : threads)
    thread.join();
  for (Birth &birth : ranks)
    *birth.made = birth.comm.release();
  for (int code : codes)
    if (code != Success)
      return code;
  return Success;
}

void forget(const Comm &comm) {
  std::lock_guard lock(takenMutex);
  taken.erase({comm.id.bytes, comm.device});
}

} // namespace

#define API extern "C" __attribute__((visibility("default"))) int

API ncclGetVersion(int *version) { return *version = 22203, Success; }

API ncclGetUniqueId(UniqueId *id) {
  std::random_device random;
  std::snprintf(id->bytes, sizeof id->bytes, "tessera-nccl-%08x%08x", random(), random());
  return Success;
}

// Waits for all ranks of the world: where one process has several, they are made in a group.
API ncclCommInitRank(Comm **made, int size, UniqueId id, int rank) {
  auto comm = std::make_unique<Comm>();
  comm->rank = rank, comm->size = size, comm->id = id;
  comm->sockets.assign(static_cast<size_t>(size), -1);
  comm->hasConnected.assign(static_cast<size_t>(size), false);
  if (cuCtxGetDevice(&comm->device))
    return SystemError;
  {
    std::lock_guard lock(takenMutex);
    if (!taken.insert({id.bytes, comm->device}).second)
      return InvalidUsage; // a GPU has one rank
  }
  births.push_back({made, std::move(comm)});
  return depth ? static_cast<int>(Success) : meetAll();
}

// Both may wait for the GPU: nothing says that they don't.
API ncclCommAbort(Comm *comm) {
  tessera_emulator_wait(comm->device);
  comm->aborted = true;
  forget(*comm);
  for (int socket : comm->sockets)
    if (socket >= 0)
      shutdown(socket, SHUT_RDWR);
  return Success; // tasks of streams still look at it
}

API ncclCommDestroy(Comm *comm) {
  tessera_emulator_wait(comm->device);
  forget(*comm);
  for (int socket : comm->sockets)
    if (socket >= 0)
      close(socket);
  return delete comm, Success;
}

API ncclCommGetAsyncError(Comm *comm, int *error) { return *error = comm->error, Success; }
API ncclGroupStart() { return ++depth, Success; }
API ncclGroupEnd() {
  if (--depth)
    return Success;
  int made = meetAll();
  return made == Success ? giveAll() : made;
}
API ncclSend(const void *from, size_t count, int type, int peer, Comm *comm, Stream stream) {
  return add(comm, peer, true, pointer(from), count, type, stream);
}
API ncclRecv(void *to, size_t count, int type, int peer, Comm *comm, Stream stream) {
  return add(comm, peer, false, pointer(to), count, type, stream);
}
API ncclCommRegister(Comm *, void *buffer, size_t, void **handle) {
  return *handle = buffer, Success;
}
API ncclCommDeregister(Comm *, void *handle) { return handle ? Success : InvalidArgument; }

extern "C" __attribute__((visibility("default"))) const char *ncclGetErrorString(int code) {
  switch (code) {
  case Success:
    return "no error";
  case SystemError:
    return "unhandled system error";
  case InvalidArgument:
    return "invalid argument";
  case InvalidUsage:
    return "invalid usage";
  default:
    return "remote process exited or there was a network error";
  }
}
