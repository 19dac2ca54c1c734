#include "Array.h"
#include "HostArray.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tessera::python {

uint64_t Contents::nextNumber() {
  static uint64_t last = 0;
  return ++last;
}

const std::shared_ptr<Contents> &Array::use() const {
  if (!contents)
    throwPrecondition("the array has been deleted");
  if (contents->isTaken)
    throwPrecondition("the array was donated to a step, and is no longer valid");
  return contents;
}

bool isReady(const Contents &contents) {
  return !contents.step || contents.step->isOver || contents.step->done.ready();
}

void waitFor(Contents &contents) {
  if (contents.step)
    waitFor(*contents.client, *contents.step);
}

std::vector<int64_t> denseStrides(const Placement &placement) {
  std::vector<int64_t> strides(placement.shape.size());
  auto bytes = static_cast<int64_t>(placement.type->bytes);
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = bytes;
    bytes *= placement.shape[i];
  }
  return strides;
}

static int64_t offsetOf(const Placement::Part &part, const std::vector<int64_t> &strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i)
    offset += part.start[i] * strides[i];
  return offset;
}

std::shared_ptr<Contents> place(std::shared_ptr<ClientState> client,
                                std::shared_ptr<const Placement> placement, const char *data,
                                const std::vector<int64_t> &strides) {
  auto contents = std::make_shared<Contents>();
  contents->number = Contents::nextNumber();
  const Placement &p = *placement;
  constexpr size_t small = 1 << 16; // bytes that are copied faster than the GIL changes hands
  std::unique_ptr<nb::gil_scoped_release> unlocked;
  if (p.bytes() * p.parts.size() > small)
    unlocked = std::make_unique<nb::gil_scoped_release>();
  for (size_t d = 0; d < p.parts.size(); ++d)
    contents->tiles.push_back(tessera::Buffer::fromPart(
        client->client, static_cast<uint32_t>(p.firstDevice + d), p.type->name, p.tile,
        data + offsetOf(p.parts[d], strides), strides, p.parts[d].extent));
  unlocked.reset();
  contents->client = std::move(client);
  contents->placement = std::move(placement);
  return contents;
}

std::shared_ptr<Contents> placeObject(std::shared_ptr<ClientState> client,
                                      std::shared_ptr<const Placement> placement, nb::handle value,
                                      const std::string &who) {
  HostArray host(value, *placement, who);
  return place(std::move(client), std::move(placement), host.data(), host.strides());
}

void gather(Contents &contents, char *data) {
  waitFor(contents);
  const Placement &p = *contents.placement;
  if (contents.client->client.processCount() > 1 && !p.isWhole)
    throwPrecondition("parts of the array lie in other processes: read its shards");
  std::vector<int64_t> strides = denseStrides(p);
  nb::gil_scoped_release unlocked;
  for (size_t d : p.distinct)
    contents.tiles[d].readPart(data + offsetOf(p.parts[d], strides), strides, p.parts[d].extent);
}

std::shared_ptr<Contents> replace(Contents &contents, std::shared_ptr<ClientState> client,
                                  std::shared_ptr<const Placement> placement) {
  std::unique_ptr<char[]> host(new char[contents.placement->bytes()]);
  gather(contents, host.get());
  std::vector<int64_t> strides = denseStrides(*placement);
  return place(std::move(client), std::move(placement), host.get(), strides);
}

namespace {

// A part of an array on one device.
struct Shard {
  std::shared_ptr<Contents> contents;
  size_t number;

  const Placement::Part &part() const { return contents->placement->parts[number]; }
};

nb::list shardsOf(const Array &array) {
  nb::list list;
  for (size_t i = 0; i < array.placement->parts.size(); ++i)
    list.append(Shard{array.use(), i});
  return list;
}

nb::object indexOf(const Shard &shard) {
  nb::list slices;
  for (size_t i = 0; i < shard.part().start.size(); ++i)
    slices.append(nb::slice(shard.part().start[i], shard.part().start[i] + shard.part().extent[i]));
  return nb::tuple(slices);
}

void readShard(const Shard &shard, nb::handle into) {
  if (shard.contents->isTaken)
    throwPrecondition("the array was donated to a step, and is no longer valid");
  waitFor(*shard.contents);
  WritableBytes bytes(into);
  const Placement &p = *shard.contents->placement;
  std::vector<int64_t> strides(p.shape.size());
  auto step = static_cast<int64_t>(p.type->bytes);
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = step;
    step *= shard.part().extent[i];
  }
  if (static_cast<size_t>(step) != bytes.size())
    throwInvalid("the shard has another number of bytes");
  nb::gil_scoped_release unlocked;
  shard.contents->tiles[shard.number].readPart(bytes.data(), strides, shard.part().extent);
}

} // namespace

void bindArray(nb::module_ &m) {
  nb::class_<Shard>(m, "NativeShard")
      .def_prop_ro("index", &indexOf)
      .def_prop_ro("extent", [](const Shard &s) { return s.part().extent; })
      .def("read", &readShard, nb::arg("into"));

  nb::class_<Array> array(m, "Array", nb::is_weak_referenceable(),
                          "A global array, cut into parts that stay on the devices.\n\nWhat a step "
                          "gives is there later: "
                          "reading it waits. NumPy reads it (np.asarray), as a view where one "
                          "device has the whole of it; "
                          "so do DLPack and arithmetic, which takes place on the host.");
  array.def_prop_ro("shape", [](const Array &a) { return a.placement->shapeTuple; })
      .def_prop_ro("dtype", [](const Array &a) { return a.placement->type->dtype; })
      .def_prop_ro("element_type", [](const Array &a) { return a.placement->type->name; })
      .def_prop_ro("ndim", [](const Array &a) { return a.placement->shape.size(); })
      .def_prop_ro("size", [](const Array &a) { return a.placement->elements; })
      .def_prop_ro("nbytes", [](const Array &a) { return a.placement->bytes(); })
      .def_ro("sharding", &Array::sharding)
      .def_rw("_kind", &Array::kind, nb::arg().none())
      .def_prop_ro("_shards", &shardsOf)
      .def_prop_ro("client", [](const Array &a) { return a.use()->client; })
      .def("is_deleted", &Array::isDeleted)
      .def("is_ready", [](const Array &a) { return isReady(*a.use()); })
      .def(
          "block_until_ready",
          [](nb::object self) {
            auto contents = nb::cast<Array &>(self).use();
            waitFor(*contents);
            return self;
          },
          "Waits; raises what went wrong in the step that makes it. Ctrl-C ends the wait.")
      .def("delete", [](Array &a) { a.contents.reset(); }, "Gives its memory back.");
  bindHostAccess(array, m);
  bindDlpack(array);
  m.def(
      "place",
      [](std::shared_ptr<ClientState> client, std::shared_ptr<Placement> placement,
         nb::object sharding, nb::handle value) {
        auto contents = placeObject(client, placement, value, "the value");
        return Array{contents, placement, sharding};
      },
      nb::arg("client"), nb::arg("placement"), nb::arg("sharding"), nb::arg("value"));
}

} // namespace tessera::python
