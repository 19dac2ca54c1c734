#include "runtime/array/Safetensors.h"
#include "lib/text/Json.h"
#include "runtime/FileStatus.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/array/SafetensorsHeader.h"
#include <algorithm>
#include <cstring>
#include <string_view>

namespace tessera::runtime {

namespace {

using namespace program;

constexpr std::pair<std::string_view, ElementType> kTypes[] = {
    {"BOOL", I1},       {"I8", I8},   {"U8", U8},   {"I16", I16}, {"U16", U16},
    {"I32", I32},       {"U32", U32}, {"I64", I64}, {"U64", U64}, {"BF16", BF16},
    {"F16", F16},       {"F32", F32}, {"F64", F64}, {"C64", C64}, {"F8_E4M3", F8E4M3FN},
    {"F8_E5M2", F8E5M2}};

// What the format calls a type, or the one that it travels as; empty where there is none.
std::string_view dtypeOf(ElementType type) {
  for (auto &[name, each] : kTypes)
    if (each == type)
      return name;
  if (isSmallFloat(type))
    return "F32";
  if (byteSize(type) == 1)
    return type == I2 || type == I4 ? "I8" : "U8";
  return "";
}

int64_t itemSize(ElementType type) { return dtypeOf(type) == "F32" ? 4 : byteSize(type); }

} // namespace

Result<SafetensorsReader> SafetensorsReader::open(const std::string &path) {
  std::string wrong;
  auto file = files::InputFile::open(path, wrong);
  if (!file)
    return cannotRead(path, wrong);
  SafetensorsReader reader(path, std::move(*file));
  if (Status s = reader.readHeader(); !s.ok())
    return s;
  return reader;
}

Status SafetensorsReader::readHeader() {
  auto bad = [&](const std::string &what) {
    return Status(Code::DataLoss, path_ + ": not a readable .safetensors file: " + what);
  };
  constexpr uint64_t mostHeader = 100'000'000; // as the format's own reader has it
  char size[8];
  if (file_.size() < sizeof size || !file_.read(0, size, sizeof size).empty())
    return bad("it is cut off");
  uint64_t bytes = 0;
  for (int i = 7; i >= 0; --i)
    bytes = bytes << 8 | static_cast<unsigned char>(size[i]);
  if (bytes > mostHeader || bytes > file_.size() - sizeof size)
    return bad("it is cut off, or its header has an impossible size");
  std::string text(bytes, '\0');
  if (!file_.read(sizeof size, text.data(), bytes).empty())
    return bad("it is cut off");
  auto entries = parseSafetensorsHeader(text);
  if (!entries)
    return bad("its header is no description of arrays");
  std::sort(entries->begin(), entries->end(), [](const auto &a, const auto &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t start = sizeof size + bytes, at = 0;
  for (const SafetensorsEntry &entry : *entries) {
    if (entry.begin != at || entry.end < entry.begin || entry.end > file_.size() - start)
      return bad("the bytes of array '" + entry.name + "' are not where they should be");
    at = entry.end;
    if (Status s = keep(entry.name, entry.dtype, entry.shape, entry.begin, entry.end, start);
        !s.ok())
      return bad(s.message());
  }
  return at == file_.size() - start ? Status() : bad("there are bytes that are no array's");
}

Status SafetensorsReader::keep(const std::string &name, const std::string &dtype,
                               const std::vector<int64_t> &shape, uint64_t begin, uint64_t end,
                               uint64_t start) {
  StoredType type{ELEMENT_INVALID, 0, dtype};
  for (auto &[known, each] : kTypes)
    if (dtype == known)
      type = storedType(each);
  uint64_t bytes = static_cast<uint64_t>(type.size);
  for (int64_t n : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(n), &bytes))
      return invalidArgument("array '" + name + "' has an impossible shape");
  if (type.size && bytes != end - begin)
    return invalidArgument("array '" + name + "' has " + std::to_string(end - begin) +
                           " bytes for shape " + shapeText(shape));
  if (!places_.emplace(name, Place{type, shape, start + begin, end - begin}).second)
    return invalidArgument("array '" + name + "' is there twice");
  return {};
}

std::vector<std::string> SafetensorsReader::names() const {
  std::vector<std::string> names;
  for (const auto &[name, place] : places_)
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<const SafetensorsReader::Place *> SafetensorsReader::find(const std::string &name) const {
  auto found = places_.find(name);
  if (found == places_.end())
    return invalidArgument(path_ + ": array '" + name + "' is missing");
  return &found->second;
}

Result<std::string> SafetensorsReader::readBytes(const std::string &name, uint64_t at,
                                                 uint64_t bytes) const {
  std::string data(bytes, '\0');
  if (!file_.read(at, data.data(), bytes).empty())
    return Status(Code::DataLoss, path_ + ": array '" + name + "' is cut off");
  return data;
}

// Of an array of another size than the program expects the bytes are not read.
Result<StoredArray> SafetensorsReader::load(const std::string &name,
                                            const Parameter *expected) const {
  auto place = find(name);
  if (!place.ok())
    return place.status();
  StoredArray array{(*place)->type, (*place)->shape, {}};
  if (expected && array.shape != globalShape(*expected))
    return array;
  auto data = readBytes(name, (*place)->at, (*place)->bytes);
  if (!data.ok())
    return data.status();
  array.data = std::move(*data);
  return array;
}

Result<StoredArray> SafetensorsReader::describe(const std::string &name) {
  auto place = find(name);
  if (!place.ok())
    return place.status();
  return StoredArray{(*place)->type, (*place)->shape, {}};
}

Result<std::string> SafetensorsReader::loadPart(const std::string &name, uint64_t begin,
                                                uint64_t bytes) {
  auto place = find(name);
  if (!place.ok())
    return place.status();
  return readBytes(name, (*place)->at + begin, bytes);
}

Result<std::unique_ptr<ArrayWriter>>
SafetensorsWriter::make(files::OutputFile &file, const std::vector<ArrayEntry> &entries) {
  std::string header = "{";
  uint64_t at = 0;
  for (const ArrayEntry &entry : entries) {
    std::string_view dtype = dtypeOf(entry.type);
    if (dtype.empty())
      return invalidArgument("array '" + entry.name + "' is " + std::string(nameOf(entry.type)) +
                             ", which .safetensors files have no type for; .npz files have");
    uint64_t end = at + static_cast<uint64_t>(elementCount(entry.shape) * itemSize(entry.type));
    header += (at || header.size() > 1 ? "," : "") + text::quoted(entry.name) + ":{\"dtype\":\"" +
              std::string(dtype) + "\",\"shape\":[";
    for (size_t i = 0; i < entry.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(entry.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' '); // the bytes begin at a multiple of 8
  std::string size;
  for (uint64_t rest = header.size(), i = 0; i < 8; ++i, rest >>= 8)
    size += static_cast<char>(rest & 0xff);
  if (std::string wrong = file.write(size + header); !wrong.empty())
    return Status(Code::Unavailable, wrong);
  return std::unique_ptr<ArrayWriter>(new SafetensorsWriter(file));
}

Status SafetensorsWriter::add(const std::string &, const HostArray &array) {
  std::string wrong;
  if (isSmallFloat(array.type) && dtypeOf(array.type) == "F32") {
    int64_t count = elementCount(array.shape);
    std::string floats(count * sizeof(float), '\0');
    toFloat32(array.type, array.bytes.data(), reinterpret_cast<float *>(floats.data()), count);
    wrong = file_.write(floats);
  } else {
    wrong = file_.write(array.bytes);
  }
  return wrong.empty() ? Status() : Status(Code::Unavailable, wrong);
}

} // namespace tessera::runtime
