#include "Placement.h"
#include <algorithm>
#include <map>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <set>

namespace tessera::python {

namespace {

std::string listText(const std::vector<int64_t> &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

std::string keyOf(const Placement &p) {
  std::string key =
      p.type->name + listText(p.shape) + listText(p.tile) + std::to_string(p.firstDevice);
  for (const auto &part : p.parts)
    key += listText(part.start) + listText(part.extent);
  return key;
}

void complete(Placement &p) {
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> seen;
  p.isWhole = p.tile == p.shape;
  for (size_t i = 0; i < p.parts.size(); ++i) {
    if (seen.emplace(p.parts[i].start, p.parts[i].extent).second)
      p.distinct.push_back(i);
    p.isWhole &= p.parts[i].extent == p.shape;
  }
  for (int64_t size : p.shape)
    p.elements *= static_cast<size_t>(size);
  nb::list sizes;
  for (int64_t size : p.shape)
    sizes.append(size);
  p.shapeTuple = nb::tuple(sizes);
}

} // namespace

std::shared_ptr<const Placement> intern(Placement placement) {
  static auto &known = *new std::map<std::string, std::weak_ptr<const Placement>>();
  auto &entry = known[keyOf(placement)];
  if (auto there = entry.lock())
    return there;
  complete(placement);
  auto made = std::make_shared<const Placement>(std::move(placement));
  entry = made;
  return made;
}

std::string describe(const Placement &p) {
  std::string text = nb::cast<std::string>(nb::str(p.type->dtype)) + listText(p.shape);
  return p.isWhole ? text : text + " in tiles " + listText(p.tile);
}

void bindPlacement(nb::module_ &m) {
  // Opaque: sharding.py makes them and hands them on.
  nb::class_<Placement>(m, "Placement");
  m.def(
      "placement",
      [](const std::string &type, std::vector<int64_t> shape, std::vector<int64_t> tile,
         const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> &parts,
         size_t firstDevice) {
        Placement made{&typeNamed(type), std::move(shape), std::move(tile), firstDevice};
        for (const auto &[start, extent] : parts)
          made.parts.push_back({start, extent});
        return std::const_pointer_cast<Placement>(intern(std::move(made)));
      },
      nb::arg("type"), nb::arg("shape"), nb::arg("tile"), nb::arg("parts"),
      nb::arg("first_device"));
}

} // namespace tessera::python
