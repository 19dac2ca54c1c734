#include "runtime/array/Npz.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/array/NpyHeader.h"
#include <algorithm>
#include <charconv>
#include <cstring>

namespace tessera::runtime {

namespace {

// "<f4": float32. Of what numpy doesn't know itself, ml_dtypes' types, it stores the size: "<V2".
StoredType typeOf(const std::string &descr, int64_t size) {
  using namespace program;
  static const std::pair<const char *, ElementType> names[] = {
      {"|b1", I1},  {"|i1", I8},    {"|u1", U8},     {"<i2", I16},   {"<u2", U16}, {"<i4", I32},
      {"<u4", U32}, {"<i8", I64},   {"<u8", U64},    {"<f2", F16},   {"<f4", F32}, {"<f8", F64},
      {"<c8", C64}, {"<c16", C128}, {"<f1", F8E5M2}, {"|f1", F8E5M2}};
  for (auto &[key, type] : names)
    if (descr == key)
      return storedType(type);
  return {ELEMENT_INVALID, descr[1] == 'V' ? size : 0, "'" + descr + "'"};
}

int64_t itemSize(const std::string &descr) {
  int64_t size = 0;
  if (descr.size() >= 3)
    std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
  return size;
}

// Column-major to row-major.
std::string transposed(const std::string &data, const std::vector<int64_t> &shape, int64_t item) {
  std::string out(data.size(), '\0');
  std::vector<int64_t> index(shape.size(), 0), strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); stride *= shape[i++])
    strides[i] = stride;
  for (size_t at = 0; at < data.size(); at += item) {
    int64_t from = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      from += index[i] * strides[i];
    std::memcpy(out.data() + at, data.data() + from * item, item);
    for (size_t i = shape.size(); i-- > 0 && ++index[i] == shape[i];)
      index[i] = 0;
  }
  return out;
}

void swapBytes(std::string &data, int64_t item) {
  for (size_t at = 0; at + item <= data.size(); at += item)
    std::reverse(data.begin() + at, data.begin() + at + item);
}

} // namespace

Result<NpyArray> parseNpy(const std::string &name, std::string contents) {
  auto bad = [&](const std::string &what) {
    return invalidArgument("array '" + name + "': " + what);
  };
  if (contents.size() < 10 || contents.compare(0, 6, "\x93NUMPY") != 0)
    return bad("not in npy format");
  if (contents[6] < 1 || contents[6] > 3 || contents[7] != 0)
    return bad("its format is of another version than 1.0, 2.0 and 3.0");
  size_t sizeBytes = contents[6] == 1 ? 2 : 4, headerSize = 0;
  if (contents.size() < 8 + sizeBytes)
    return bad("truncated");
  std::memcpy(&headerSize, contents.data() + 8, sizeBytes);
  size_t start = 8 + sizeBytes + headerSize;
  if (start > contents.size())
    return bad("truncated");
  auto header = parseNpyHeader(std::string_view(contents).substr(8 + sizeBytes, headerSize));
  if (!header || header->descr.size() < 3)
    return bad("its header has no plain element type and shape");
  for (int64_t n : header->shape)
    if (n < 0 || n > (int64_t{1} << 40))
      return bad("impossible shape");
  NpyArray array{header->descr, header->shape, {}};
  int64_t item = itemSize(array.descr);
  if (item < 1 || item > 16)
    return bad("elements of type '" + array.descr + "' are not supported");
  uint64_t bytes = item;
  for (int64_t n : array.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(n), &bytes))
      return bad("impossible shape");
  if (contents.size() - start != bytes)
    return bad("has " + std::to_string(contents.size() - start) + " bytes of data for shape " +
               shapeText(array.shape));
  bool columnMajor = header->columnMajor && array.shape.size() > 1 && bytes > 0;
  contents.erase(0, start);
  if (array.descr[0] == '>') {
    bool complex = array.descr[1] == 'c';
    swapBytes(contents, complex ? item / 2 : item);
    array.descr[0] = item == 1 ? '|' : '<';
  }
  array.data = columnMajor ? transposed(contents, array.shape, item) : std::move(contents);
  return array;
}

std::string npyDescr(program::ElementType type) {
  using namespace program;
  switch (type) {
  case I1:
    return "|b1";
  case I2:
  case I4:
  case I8:
    return "|i1";
  case U2:
  case U4:
  case U8:
    return "|u1";
  case I16:
    return "<i2";
  case U16:
    return "<u2";
  case I32:
    return "<i4";
  case U32:
    return "<u4";
  case I64:
    return "<i8";
  case U64:
    return "<u8";
  case F64:
    return "<f8";
  case C64:
    return "<c8";
  case C128:
    return "<c16";
  default:
    return "<f4";
  }
}

Result<NpzReader> NpzReader::open(const std::string &path) {
  auto zip = ZipReader::open(path);
  if (!zip.ok())
    return zip.status();
  return NpzReader(path, std::move(*zip));
}

NpzReader::NpzReader(std::string path, ZipReader zip)
    : ArrayFile(std::move(path)), zip_(std::move(zip)) {
  for (size_t i = 0; i < zip_.members().size(); ++i) {
    std::string_view name = zip_.members()[i].name;
    if (name.ends_with(".npy"))
      name.remove_suffix(4);
    byName_[std::string(name)] = i;
  }
}

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const auto &[name, member] : byName_)
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<StoredArray> NpzReader::load(const std::string &name,
                                    const program::Parameter *expected) const {
  auto found = byName_.find(name);
  if (found == byName_.end())
    return invalidArgument(path_ + ": array '" + name + "' is missing");
  const ZipReader::Member *member = &zip_.members()[found->second];
  // A header has some hundred bytes; what is much larger is refused before it is unpacked.
  constexpr uint64_t header = 1 << 20, largestItem = 16;
  if (expected && member->size > header &&
      (member->size - header) / largestItem >
          static_cast<uint64_t>(elementCount(globalShape(*expected))))
    return invalidArgument(path_ + ": array '" + name + "' has " + std::to_string(member->size) +
                           " bytes, the program expects " + npyDescr(expected->type()) + " " +
                           shapeText(globalShape(*expected)));
  auto contents = zip_.read(*member);
  if (!contents.ok())
    return Status(Code::DataLoss, path_ + ": " + contents.status().message());
  auto npy = parseNpy(name, std::move(*contents));
  if (!npy.ok())
    return Status(npy.status().code(), path_ + ": " + npy.status().message());
  return StoredArray{typeOf(npy->descr, itemSize(npy->descr)), std::move(npy->shape),
                     std::move(npy->data)};
}

Status NpzWriter::add(const std::string &name, const HostArray &array) {
  std::string dictionary = "{'descr': '" + npyDescr(array.type) +
                           "', 'fortran_order': False, 'shape': " + shapeText(array.shape) + ", }";
  // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
  dictionary.append(63 - (10 + dictionary.size()) % 64, ' ').push_back('\n');
  std::string head("\x93NUMPY\x01\x00", 8);
  head.push_back(static_cast<char>(dictionary.size() & 0xff));
  head.push_back(static_cast<char>(dictionary.size() >> 8));
  head += dictionary;
  if (!isSmallFloat(array.type))
    return zip_.add(name + ".npy", head, array.bytes);
  int64_t count = elementCount(array.shape);
  std::string floats(count * sizeof(float), '\0');
  toFloat32(array.type, array.bytes.data(), reinterpret_cast<float *>(floats.data()), count);
  return zip_.add(name + ".npy", head, floats);
}

} // namespace tessera::runtime
