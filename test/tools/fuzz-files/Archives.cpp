#include "test/tools/fuzz-files/Archives.h"
#include "runtime/array/Npz.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

namespace tessera::fuzz {

namespace {

using namespace runtime;

program::Parameter parameter(int i) {
  static const program::ElementType types[] = {program::F32, program::I64, program::BF16,
                                               program::C64, program::I1};
  static const std::vector<int64_t> shapes[] = {{3, 4}, {5}, {2, 2}, {}, {0, 3}};
  program::Parameter p;
  p.set_type(types[i]);
  for (int64_t n : shapes[i]) {
    p.add_global_shape(n);
    p.add_layout()->set_tile(n);
  }
  return p;
}
constexpr int kArrays = 5;

std::string npy(int i) {
  static const char *descr[] = {"<f4", "<i8", "<f4", "<c8", "|b1"};
  static const char *shape[] = {"(3, 4)", "(5,)", "(2, 2)", "()", "(0, 3)"};
  static const size_t bytes[] = {48, 40, 16, 8, 0};
  std::string text = std::string("{'descr': '") + descr[i] +
                     "', 'fortran_order': False, 'shape': " + shape[i] + ", }";
  text.append(63 - (10 + text.size()) % 64, ' ').push_back('\n');
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(text.size()));
  file.push_back(static_cast<char>(text.size() >> 8));
  file += text;
  for (size_t at = 0; at < bytes[i]; ++at)
    file.push_back(static_cast<char>(at * 37 + i));
  return file;
}

template <class T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string deflated(const std::string &bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// The header's text, or its length, or the data.
std::string mutateNpy(Random &random, std::string file) {
  static const std::vector<std::string> words = {"'descr': '>f4'",
                                                 "'descr': '<f8'",
                                                 "'descr': '|O'",
                                                 "'descr': '<f99999999999'",
                                                 "(3, 4",
                                                 "(-1,)",
                                                 "(4611686018427387904, 4)",
                                                 "True",
                                                 "(,)",
                                                 "((((",
                                                 "'shape': 5",
                                                 "'fortran_order': True",
                                                 "(1, 12)",
                                                 "(0,)",
                                                 "(18446744073709551616,)",
                                                 "{}",
                                                 "'",
                                                 ":"};
  switch (random.below(6)) {
  case 0:
    file[8 + random.below(2)] = static_cast<char>(random.next());
    return file;
  case 1:
    file[6] = static_cast<char>(random.below(5));
    return file;
  case 2:
  case 3: {
    const std::string &word = random.of(words);
    size_t at = 10 + random.below(60);
    return file.replace(at, random.once(2) ? word.size() : random.below(12), word);
  }
  default:
    return random.once(2) ? damaged(random, file)
                          : damaged(random, file.substr(0, 80)) + file.substr(80);
  }
}

} // namespace

Archives::Archives() : file_(memfd_create("archive", 0)) {
  path_ = "/proc/self/fd/" + std::to_string(file_);
  for (int i = 0; i < kArrays; ++i)
    arrays_.push_back(npy(i));
}

// Members, then their directory; with `mutate`, one of its fields or an array's contents are
// different.
std::string Archives::archive(Random &random, bool mutate) {
  uint64_t victim = mutate ? random.below(40) : ~0ull;
  std::string out, directory;
  auto field = [&](uint64_t number, uint64_t value) {
    return number == victim ? interesting(random, value) : value;
  };
  size_t changed = random.below(kArrays);
  for (size_t i = 0; i < kArrays; ++i) {
    bool here = i == changed;
    std::string contents =
        here && victim >= 16 && victim < 40 ? mutateNpy(random, arrays_[i]) : arrays_[i];
    bool packs = random.once(2), wide = random.once(3);
    std::string packed = packs ? deflated(contents) : contents;
    std::string name = "in" + std::to_string(here && victim == 15 ? random.below(kArrays) : i) +
                       (random.once(8) ? "" : ".npy");
    uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef *>(contents.data()), contents.size());
    uint64_t at = out.size(), size = contents.size(), packedSize = packed.size();
    auto mine = [&](uint64_t number, uint64_t value) {
      return here ? field(number, value) : value;
    };
    put<uint32_t>(out, static_cast<uint32_t>(mine(0, 0x04034b50)));
    put<uint32_t>(out, 20);
    put<uint16_t>(out, packs ? 8 : 0);
    put<uint32_t>(out, 0);
    put<uint32_t>(out, static_cast<uint32_t>(crc));
    put<uint32_t>(out, static_cast<uint32_t>(packedSize));
    put<uint32_t>(out, static_cast<uint32_t>(size));
    put<uint16_t>(out, static_cast<uint16_t>(mine(1, name.size())));
    put<uint16_t>(out, static_cast<uint16_t>(mine(2, 0)));
    out += name + packed;
    put<uint32_t>(directory, static_cast<uint32_t>(mine(3, 0x02014b50)));
    put<uint32_t>(directory, 20 << 16 | 45);
    put<uint16_t>(directory, 0);
    put<uint16_t>(directory, static_cast<uint16_t>(mine(4, packs ? 8 : 0)));
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, static_cast<uint32_t>(crc));
    put<uint32_t>(directory, wide ? 0xffffffff : static_cast<uint32_t>(mine(5, packedSize)));
    put<uint32_t>(directory, wide ? 0xffffffff : static_cast<uint32_t>(mine(6, size)));
    put<uint16_t>(directory, static_cast<uint16_t>(mine(7, name.size())));
    put<uint16_t>(directory, static_cast<uint16_t>(mine(8, wide ? 28 : 0)));
    put<uint16_t>(directory, static_cast<uint16_t>(mine(9, 0)));
    directory.append(8, '\0');
    put<uint32_t>(directory, wide ? 0xffffffff : static_cast<uint32_t>(mine(10, at)));
    directory += name;
    if (wide) {
      put<uint16_t>(directory, 1);
      put<uint16_t>(directory, 24);
      put<uint64_t>(directory, mine(6, size));
      put<uint64_t>(directory, mine(5, packedSize));
      put<uint64_t>(directory, mine(10, at));
    }
  }
  uint64_t start = out.size();
  out += directory;
  if (random.once(2)) {
    uint64_t end64 = out.size();
    put<uint32_t>(out, static_cast<uint32_t>(field(11, 0x06064b50)));
    put<uint64_t>(out, 44);
    out.append(12, '\0');
    put<uint64_t>(out, kArrays);
    put<uint64_t>(out, field(12, kArrays));
    put<uint64_t>(out, directory.size());
    put<uint64_t>(out, field(13, start));
    put<uint32_t>(out, 0x07064b50);
    put<uint32_t>(out, 0);
    put<uint64_t>(out, field(14, end64));
    put<uint32_t>(out, 1);
    start = 0xffffffff;
  }
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, kArrays);
  put<uint16_t>(out, static_cast<uint16_t>(field(12, kArrays)));
  put<uint32_t>(out, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(out, static_cast<uint32_t>(field(13, start)));
  put<uint16_t>(out, 0);
  return out;
}

std::string Archives::checkSeeds() {
  for (uint64_t number = 0; number < 32; ++number) {
    Random random(0, number);
    Outcome outcome = run(archive(random, false));
    if (outcome.end != End::Ran)
      return "a good archive: " + outcome.text;
  }
  return "";
}

std::string Archives::make(Random &random) {
  mended_ = random.below(3);
  std::string file = archive(random, mended_);
  return mended_ ? file : damaged(random, file);
}

Outcome Archives::run(const std::string &input) {
  if (ftruncate(file_, 0) != 0 ||
      pwrite(file_, input.data(), input.size(), 0) != static_cast<ssize_t>(input.size()))
    return {End::Bad, "no memory for the archive"};
  try {
    auto reader = NpzReader::open(path_);
    if (!reader.ok())
      return {End::Refused, reader.status().message()};
    std::string problem;
    for (int i = 0; i < kArrays; ++i) {
      auto array = (*reader).read("in" + std::to_string(i), parameter(i));
      if (!array.ok()) {
        problem = array.status().message();
        if (problem.empty())
          return {End::Bad, "an error without a message"};
        continue;
      }
      // Whatever else is damaged: what has its right checksum is what was written.
      if (!mended_ && i != 2 &&
          array->bytes != arrays_[i].substr(arrays_[i].size() - array->bytes.size()))
        return {End::Bad, "other values than were written in array " + std::to_string(i)};
    }
    return {problem.empty() ? End::Ran : End::Refused, problem};
  } catch (const std::exception &e) {
    return {End::Bad, std::string("an exception: ") + e.what()};
  }
}

} // namespace tessera::fuzz
