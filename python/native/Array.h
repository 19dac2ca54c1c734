// Global arrays that stay on the devices.
#pragma once

#include "Steps.h"

namespace tessera::python {

// What the devices hold. Arrays, steps that read it, and views of the host share it: a step takes it
// over where nobody else does, and otherwise works on a copy.
struct Contents {
  std::shared_ptr<ClientState> client;
  std::shared_ptr<const Placement> placement;
  std::vector<tessera::Buffer> tiles; // by the placement's devices
  std::shared_ptr<Step> step;         // that makes it; null: it is there
  uint64_t number;                    // unlike that of all others
  bool isTaken = false;               // by a step
  uint64_t mark = 0;                  // of the execution that looked at it last

  static uint64_t nextNumber();
};

struct Array {
  std::shared_ptr<Contents> contents; // null: deleted
  std::shared_ptr<const Placement> placement;
  nb::object sharding;
  nb::object kind = nb::none(); // what tessera.jit knows of it

  bool isDeleted() const { return !contents || contents->isTaken; }
  // Throws where it is deleted.
  const std::shared_ptr<Contents> &use() const;
};

// Waits until the contents are there.
void waitFor(Contents &contents);
bool isReady(const Contents &contents);

// Places a host array, whose elements lie `strides` bytes apart, on the devices.
std::shared_ptr<Contents> place(std::shared_ptr<ClientState> client,
                                std::shared_ptr<const Placement> placement, const char *data,
                                const std::vector<int64_t> &strides);
// The same from anything that NumPy understands. `who` begins a message about it.
std::shared_ptr<Contents> placeObject(std::shared_ptr<ClientState> client,
                                      std::shared_ptr<const Placement> placement, nb::handle value,
                                      const std::string &who);
// Waits, and writes all of it to a dense array.
void gather(Contents &contents, char *data);
// The same contents placed otherwise, by way of the host.
std::shared_ptr<Contents> replace(Contents &contents, std::shared_ptr<ClientState> client,
                                  std::shared_ptr<const Placement> placement);

std::vector<int64_t> denseStrides(const Placement &placement);

void bindArray(nb::module_ &m);
void bindHostAccess(nb::class_<Array> &array, nb::module_ &m);
void bindDlpack(nb::class_<Array> &array);

} // namespace tessera::python
