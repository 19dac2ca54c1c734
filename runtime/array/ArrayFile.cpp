#include "runtime/array/ArrayFile.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/array/Npz.h"
#include "runtime/array/Safetensors.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace tessera::runtime {

namespace {

using namespace program;

bool isSafetensors(const std::string &path) { return path.ends_with(".safetensors"); }

std::string numpyName(ElementType type) {
  static const std::pair<ElementType, const char *> names[] = {
      {I1, "bool"},     {I8, "int8"},     {U8, "uint8"},      {I16, "int16"},      {U16, "uint16"},
      {I32, "int32"},   {U32, "uint32"},  {I64, "int64"},     {U64, "uint64"},     {F16, "float16"},
      {F32, "float32"}, {F64, "float64"}, {C64, "complex64"}, {C128, "complex128"}};
  for (auto &[key, name] : names)
    if (type == key)
      return name;
  return std::string(nameOf(type));
}

bool isNarrowInteger(ElementType type) {
  return type == I2 || type == I4 || type == U2 || type == U4;
}

// What arrays of a type travel as in files that don't know it.
ElementType carrierOf(ElementType type) {
  if (isSmallFloat(type))
    return F32;
  if (isNarrowInteger(type))
    return type == I2 || type == I4 ? I8 : U8;
  return type;
}

// Whether the file has the very bytes of the type, though it may not say which type that is: ml_dtypes
// stores so what numpy doesn't know.
bool holds(const StoredType &stored, ElementType type) {
  bool isOpaque = stored.type == ELEMENT_INVALID && stored.size == byteSize(type) &&
                  (isNarrowInteger(type) || (isSmallFloat(type) && type != F16));
  return stored.type == type || isOpaque;
}

int bitsOf(ElementType type) {
  switch (type) {
  case I1:
    return 1;
  case I2:
  case U2:
    return 2;
  case I4:
  case U4:
  case F4E2M1FN:
    return 4;
  case F6E2M3FN:
  case F6E3M2FN:
    return 6;
  default:
    return 8;
  }
}

// Whether bytes hold values of a type that is narrower than they: truth values are 0 and 1.
bool areValuesOf(ElementType type, const std::string &bytes) {
  int bits = bitsOf(type);
  bool isSigned = type == I2 || type == I4;
  int least = isSigned ? -(1 << (bits - 1)) : 0, most = (1 << (isSigned ? bits - 1 : bits)) - 1;
  return bits == 8 || std::all_of(bytes.begin(), bytes.end(), [&](char c) {
           int value = isSigned ? static_cast<signed char>(c) : static_cast<unsigned char>(c);
           return value >= least && value <= most;
         });
}

// ml_dtypes has zeros above the sign of a narrow integer, where we have the sign.
void extendSigns(ElementType type, std::string &bytes) {
  int bits = bitsOf(type);
  for (char &c : bytes)
    if (auto value = static_cast<unsigned char>(c); value < 1 << bits && value >> (bits - 1))
      c = static_cast<char>(value - (1 << bits));
}

// Whole bytes of numbers with or without a sign: what Python's int may have become in a file.
bool isInteger(ElementType type) {
  return (type >= I8 && type <= I64) || (type >= U8 && type <= U64);
}
bool isSigned(ElementType type) { return type >= I2 && type <= I64; }

// Elements of `size` bytes; nothing where one of them cannot be held by the other type.
std::optional<std::string> resized(const std::string &bytes, ElementType from, ElementType to) {
  auto size = static_cast<size_t>(byteSize(from)), wanted = static_cast<size_t>(byteSize(to));
  std::string out(bytes.size() / size * wanted, '\0');
  for (size_t at = 0, into = 0; at < bytes.size(); at += size, into += wanted) {
    uint64_t value = 0; // with the sign in front
    bool isNegative = isSigned(from) && bytes[at + size - 1] < 0;
    if (isNegative)
      value = ~uint64_t{0};
    std::memcpy(&value, bytes.data() + at, size);
    uint64_t above = wanted == 8 ? 0 : value >> (8 * wanted);
    bool isTop = value >> (8 * wanted - 1) & 1; // of what is kept
    bool fits = isNegative ? isSigned(to) && isTop &&
                                 above == (wanted == 8 ? 0 : ~uint64_t{0} >> (8 * wanted))
                           : above == 0 && !(isSigned(to) && isTop);
    if (!fits)
      return std::nullopt;
    std::memcpy(out.data() + into, &value, wanted);
  }
  return out;
}

std::vector<int64_t> withoutFirst(const std::vector<int64_t> &shape) {
  return {shape.begin() + !shape.empty(), shape.end()};
}

} // namespace

StoredType storedType(ElementType type) { return {type, byteSize(type), numpyName(type)}; }

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Result<HostArray> converted(StoredArray array, const Parameter &expected, const std::string &who) {
  ElementType type = expected.type(), carrier = carrierOf(type);
  std::vector<int64_t> shape = globalShape(expected);
  bool isItself = holds(array.type, type), isCarried = array.type.type == carrier;
  if (!isItself && array.shape == shape && isInteger(type) && isInteger(array.type.type)) {
    auto bytes = resized(array.data, array.type.type, type);
    if (!bytes)
      return invalidArgument(who + " is " + array.type.name + " " + shapeText(shape) +
                             " with values that the program's " + numpyName(type) + " cannot hold");
    return HostArray{type, shape, std::move(*bytes)};
  }
  if (array.shape != shape || (!isItself && !isCarried))
    return invalidArgument(who + " is " + array.type.name + " " + shapeText(array.shape) +
                           ", the program expects " + numpyName(carrier) + " " + shapeText(shape) +
                           (type != carrier
                                ? " (its type " + std::string(nameOf(type)) + " travels as " +
                                      numpyName(carrier) + ", or as ml_dtypes stores it)"
                                : ""));
  HostArray host{type, shape, {}};
  if (isSmallFloat(type) && !isItself) {
    int64_t count = elementCount(shape);
    host.bytes.resize(count * byteSize(type));
    fromFloat32(type, reinterpret_cast<const float *>(array.data.data()), host.bytes.data(), count);
    return host;
  }
  if (array.type.type == ELEMENT_INVALID && (type == I2 || type == I4))
    extendSigns(type, array.data);
  if (!areValuesOf(type, array.data))
    return invalidArgument(who + " has values that are none of its type, " +
                           std::string(nameOf(type)));
  host.bytes = std::move(array.data);
  return host;
}

Result<std::unique_ptr<ArrayFile>> ArrayFile::open(const std::string &path) {
  if (isSafetensors(path)) {
    auto reader = SafetensorsReader::open(path);
    if (!reader.ok())
      return reader.status();
    return std::unique_ptr<ArrayFile>(std::make_unique<SafetensorsReader>(std::move(*reader)));
  }
  auto reader = NpzReader::open(path);
  if (!reader.ok())
    return reader.status();
  return std::unique_ptr<ArrayFile>(std::make_unique<NpzReader>(std::move(*reader)));
}

Result<HostArray> ArrayFile::read(const std::string &name, const Parameter &expected) const {
  auto stored = load(name, &expected);
  if (!stored.ok())
    return stored.status();
  return converted(std::move(*stored), expected, path_ + ": array '" + name + "'");
}

Result<StoredArray> ArrayFile::describe(const std::string &name) {
  auto found = whole_.find(name);
  if (found == whole_.end()) {
    auto stored = load(name, nullptr);
    if (!stored.ok())
      return stored.status();
    found = whole_.emplace(name, std::move(*stored)).first;
  }
  return StoredArray{found->second.type, found->second.shape, {}};
}

Result<std::string> ArrayFile::loadPart(const std::string &name, uint64_t begin, uint64_t bytes) {
  return whole_.at(name).data.substr(begin, bytes);
}

Result<int64_t> ArrayFile::countEntries(const std::string &name, const Parameter &expected) {
  auto stored = describe(name);
  if (!stored.ok())
    return stored.status();
  std::vector<int64_t> shape = globalShape(expected);
  if (stored->shape.size() != shape.size() + 1 || withoutFirst(stored->shape) != shape)
    return invalidArgument(
        path_ + ": array '" + name + "' is " + stored->type.name + " " + shapeText(stored->shape) +
        ", and a step takes one of the arrays along its first dimension, " + shapeText(shape));
  return stored->shape.front();
}

Result<HostArray> ArrayFile::readEntry(const std::string &name, const Parameter &expected,
                                       int64_t entry) {
  auto stored = describe(name);
  if (!stored.ok())
    return stored.status();
  StoredArray part{stored->type, withoutFirst(stored->shape), {}};
  uint64_t bytes = static_cast<uint64_t>(elementCount(part.shape) * part.type.size);
  auto data = loadPart(name, bytes * static_cast<uint64_t>(entry), bytes);
  if (!data.ok())
    return data.status();
  part.data = std::move(*data);
  return converted(std::move(part), expected, path_ + ": array '" + name + "'");
}

Result<std::unique_ptr<ArrayWriter>> ArrayWriter::make(const std::string &path,
                                                       files::OutputFile &file,
                                                       const std::vector<ArrayEntry> &entries) {
  if (isSafetensors(path))
    return SafetensorsWriter::make(file, entries);
  return std::unique_ptr<ArrayWriter>(std::make_unique<NpzWriter>(file));
}

} // namespace tessera::runtime
