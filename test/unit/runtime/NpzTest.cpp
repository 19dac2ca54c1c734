// Arrays to and from .npz, and what is said of files that do not fit.
#include "runtime/array/Npz.h"
#include "runtime/array/ElementType.h"
#include "test/unit/runtime/TemporaryFiles.h"
#include "test/unit/runtime/WrittenArchive.h"
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <gtest/gtest.h>
#include <zlib.h>

namespace tessera::runtime {
namespace {

std::string npyHeader(const std::string &dictionary) {
  std::string head("\x93NUMPY\x01\x00", 8);
  head.push_back(static_cast<char>(dictionary.size()));
  head.push_back(0);
  return head + dictionary;
}

TEST(NpzTest, RoundTrip) {
  std::string path = temporaryFile("round.npz");
  HostArray f32{program::F32, {2, 3}, std::string(24, '\0')},
      scalar{program::I64, {}, std::string(8, '\3')}, empty{program::U8, {0, 4}, ""},
      flags{program::I1, {3}, std::string("\1\0\1", 3)};
  float values[6] = {1, -2.5f, 3e30f, 0, INFINITY, -0.0f};
  std::memcpy(f32.bytes.data(), values, sizeof values);
  writeArchive(path, {{"in0", f32}, {"in1", scalar}, {"in2", empty}, {"in3", flags}});
  auto reader = NpzReader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  int i = 0;
  for (const HostArray *array : {&f32, &scalar, &empty, &flags}) {
    auto read = reader->read("in" + std::to_string(i++), parameter(array->type, array->shape));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->bytes, array->bytes);
  }
}

// What a program without results returns: numpy reads no archive that begins with a record of 64 bits.
TEST(NpzTest, NoArrays) {
  std::string path = temporaryFile("none.npz");
  writeArchive(path, {});
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(bytes, std::string("PK\5\6", 4) + std::string(18, '\0'));
  EXPECT_TRUE(NpzReader::open(path).ok());
}

// As many arrays as members: each is found without a look at all others.
TEST(NpzTest, ManyMembers) {
  constexpr int count = 20000;
  std::string path = temporaryFile("many.npz");
  std::vector<std::pair<std::string, HostArray>> arrays;
  for (int i = 0; i < count; ++i)
    arrays.emplace_back("in" + std::to_string(i),
                        HostArray{program::U8, {}, std::string(1, static_cast<char>(i))});
  writeArchive(path, arrays);
  clock_t begin = std::clock();
  auto reader = NpzReader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(reader->read("in" + std::to_string(i), parameter(program::U8, {}))->bytes,
              arrays[i].second.bytes);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 8);
}

// bf16 travels as float32: exact on the way out, rounded to nearest even on the way in.
TEST(NpzTest, SmallFloatsTravelAsFloat32) {
  std::string path = temporaryFile("bf16.npz");
  HostArray f32{program::F32, {3}, std::string(12, '\0')};
  float values[3] = {1.0f + 0x1p-8f, 1.0f + 0x1.8p-7f, -3.0f};
  std::memcpy(f32.bytes.data(), values, sizeof values);
  writeArchive(path, {{"x", f32}});
  auto read = NpzReader::open(path)->read("x", parameter(program::BF16, {3}));
  ASSERT_TRUE(read.ok()) << read.status().message();
  float back[3];
  toFloat32(program::BF16, read->bytes.data(), back, 3);
  EXPECT_EQ(back[0], 1.0f);
  EXPECT_EQ(back[1], 1.0f + 0x1p-6f);
  EXPECT_EQ(back[2], -3.0f);
}

// numpy knows no bf16: ml_dtypes' arrays have a type of two bytes in the file, an integer of 4 bits
// one of a byte, without its sign above.
TEST(NpzTest, TypesOfMlDtypes) {
  std::string path = temporaryFile("ml.npz");
  auto npy = [](const std::string &descr, const std::string &data) {
    return npyHeader("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }\n") +
           data;
  };
  files::OutputFile file;
  ASSERT_EQ(file.open(path), "");
  ZipWriter zip(file);
  ASSERT_TRUE(zip.add("b.npy", npy("<V2", ""), std::string("\x80\x3f\0\xc0", 4)).ok());
  ASSERT_TRUE(zip.add("i.npy", npy("<V1", ""), "\x01\x0f").ok());
  ASSERT_TRUE(zip.add("f.npy", npy("<f1", ""), "\x38\xb8").ok());
  ASSERT_TRUE(zip.add("h.npy", npy("<f2", ""), std::string("\0\x3c\0\xbc", 4)).ok());
  ASSERT_TRUE(zip.finish().ok());
  ASSERT_EQ(file.commit(), "");
  auto reader = NpzReader::open(path);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->read("b", parameter(program::BF16, {2}))->bytes,
            std::string("\x80\x3f\0\xc0", 4));
  EXPECT_EQ(reader->read("i", parameter(program::I4, {2}))->bytes, "\x01\xff");
  EXPECT_FALSE(reader->read("i", parameter(program::I2, {2})).ok()); // 15 is none of its values
  EXPECT_EQ(reader->read("f", parameter(program::F8E5M2, {2}))->bytes, "\x38\xb8");
  EXPECT_EQ(reader->read("h", parameter(program::F16, {2}))->bytes, std::string("\0\x3c\0\xbc", 4));
  EXPECT_EQ(reader->read("b", parameter(program::F16, {2})).status().message(),
            path + ": array 'b' is '<V2' (2,), the program expects float32 (2,) (its type f16 "
                   "travels as float32, or as ml_dtypes stores it)");
  EXPECT_FALSE(reader->read("i", parameter(program::U8, {2})).ok());
}

// Python's int is numpy's int64.
TEST(NpzTest, IntegersOfAnotherWidth) {
  std::string path = temporaryFile("integers.npz");
  auto text = [](auto... values) {
    std::string bytes;
    ((bytes.append(reinterpret_cast<const char *>(&values), sizeof values)), ...);
    return bytes;
  };
  writeArchive(path, {{"small", {program::I64, {2}, text(int64_t{-128}, int64_t{127})}},
                      {"large", {program::I64, {1}, text(int64_t{1} << 31)}},
                      {"least", {program::I64, {1}, text(-(int64_t{1} << 31) - 1)}},
                      {"top", {program::U64, {1}, text(~uint64_t{0})}},
                      {"bool", {program::I1, {1}, std::string(1, '\1')}}});
  auto reader = NpzReader::open(path);
  ASSERT_TRUE(reader.ok());
  auto read = [&](const std::string &name, program::ElementType type, int64_t size) {
    auto array = reader->read(name, parameter(type, {size}));
    return array.ok() ? array->bytes : array.status().message();
  };
  EXPECT_EQ(read("small", program::I8, 2), text(int8_t{-128}, int8_t{127}));
  EXPECT_EQ(read("small", program::I32, 2), text(int32_t{-128}, int32_t{127}));
  EXPECT_EQ(read("large", program::U32, 1), text(uint32_t{1} << 31));
  EXPECT_EQ(read("large", program::U64, 1), text(uint64_t{1} << 31));
  EXPECT_EQ(read("small", program::U8, 2),
            path +
                ": array 'small' is int64 (2,) with values that the program's uint8 cannot hold");
  for (const char *name : {"large", "least"})
    EXPECT_NE(read(name, program::I32, 1).find("cannot hold"), std::string::npos) << name;
  EXPECT_NE(read("top", program::I64, 1).find("cannot hold"), std::string::npos);
  EXPECT_NE(read("bool", program::I32, 1).find("is bool (1,), the program"), std::string::npos);
}

TEST(NpzTest, MismatchesNameArrayExpectedAndGiven) {
  std::string path = temporaryFile("bad.npz");
  writeArchive(path, {{"in0", {program::F64, {2}, std::string(16, '\0')}}});
  auto reader = NpzReader::open(path);
  EXPECT_EQ(reader->read("in0", parameter(program::F32, {2})).status().message(),
            path + ": array 'in0' is float64 (2,), the program expects float32 (2,)");
  EXPECT_EQ(reader->read("in0", parameter(program::F64, {2, 1})).status().message(),
            path + ": array 'in0' is float64 (2,), the program expects float64 (2, 1)");
  EXPECT_EQ(reader->read("in1", parameter(program::F64, {2})).status().message(),
            path + ": array 'in1' is missing");
  EXPECT_EQ(NpzReader::open("/nonexistent.npz").status().code(), Code::NotFound);
}

TEST(NpzTest, TruncatedAndAlteredFilesAreErrors) {
  std::string path = temporaryFile("cut.npz");
  writeArchive(path, {{"x", {program::F32, {64}, std::string(256, '\1')}}});
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  auto tryRead = [&](const std::string &contents) {
    std::ofstream(path, std::ios::binary) << contents;
    auto reader = NpzReader::open(path);
    return reader.ok() && reader->read("x", parameter(program::F32, {64})).ok();
  };
  EXPECT_TRUE(tryRead(bytes));
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_FALSE(tryRead(bytes.substr(0, size))) << size;
  for (size_t at = 200; at < 400; at += 13) {
    std::string altered = bytes;
    altered[at] ^= 4;
    EXPECT_FALSE(tryRead(altered)) << at;
  }
}

// The directory's place, as 64 bits, is the last byte that can be numbered.
TEST(NpzTest, DirectoryBeyondTheFileIsAnError) {
  std::string path = temporaryFile("beyond.npz");
  std::string locator = std::string("PK\6\7", 4) + std::string(4, '\0') + std::string(8, '\xff') +
                        std::string(4, '\0'),
              end = std::string("PK\5\6", 4) + std::string(4, '\0') + std::string(12, '\xff') +
                    std::string(2, '\0');
  std::ofstream(path, std::ios::binary) << locator << end;
  auto reader = NpzReader::open(path);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.status().message().find("64-bit directory is damaged"), std::string::npos);
}

TEST(NpzTest, MoreBytesThanTheProgramTakesAreNotRead) {
  std::string path = temporaryFile("large.npz");
  writeArchive(path, {{"in0", {program::U8, {4 << 20}, std::string(4 << 20, '\0')}}});
  auto read = NpzReader::open(path)->read("in0", parameter(program::U8, {4}));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("bytes, the program expects"), std::string::npos);
}

TEST(NpzTest, ValuesAreThoseOfTheType) {
  std::string path = temporaryFile("narrow.npz");
  writeArchive(path, {{"b", {program::I1, {2}, std::string("\1\2", 2)}},
                      {"s", {program::I4, {2}, std::string("\x07\xf8", 2)}},
                      {"t", {program::I4, {2}, std::string("\x08\xf8", 2)}}});
  auto reader = NpzReader::open(path);
  EXPECT_EQ(reader->read("b", parameter(program::I1, {2})).status().message(),
            path + ": array 'b' has values that are none of its type, i1");
  EXPECT_TRUE(reader->read("s", parameter(program::I4, {2})).ok());
  EXPECT_FALSE(reader->read("t", parameter(program::I4, {2})).ok());
}

// What is damaged is not taken for what it resembles: this was row-major.
TEST(NpzTest, HeadersAreReadAsAWhole) {
  auto read = [](const std::string &dictionary) {
    return parseNpy("x", std::string("\x93NUMPY\x01\x00", 8) +
                             static_cast<char>(dictionary.size()) + '\0' + dictionary +
                             std::string(6, '\0'))
        .ok();
  };
  EXPECT_TRUE(read("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n"));
  EXPECT_TRUE(read("{\"shape\":(6,),\"descr\":\"|u1\",\"fortran_order\":False}"));
  for (const char *damaged :
       {"{'descr': '|u1', 'fortran_order':\xfeTrue, 'shape': (2, 3), }",
        "{'descr': '|u1', 'fortran_order': Tru, 'shape': (2, 3), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2x3), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2 3), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (06,), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (6), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), } x",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), 'shape': (6,)}",
        "{'descr': '|u1', 'shape': (2, 3), }", "'descr': '|u1', 'fortran_order': True", "{", ""})
    EXPECT_FALSE(read(damaged)) << damaged;
}

TEST(NpzTest, FortranOrderAndByteOrder) {
  // Columns of [[1,2,3],[4,5,6]].
  std::string data("\1\4\2\5\3\6", 6);
  auto array = parseNpy(
      "x", npyHeader("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n") + data);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->data, std::string("\1\2\3\4\5\6", 6));
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  array = parseNpy("x", npyHeader("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }\n") +
                            std::string("\1\2", 2));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->data, std::string("\2\1", 2));
  EXPECT_EQ(array->descr, "<i2");
  EXPECT_FALSE(
      parseNpy("x",
               npyHeader("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n") + "12345678")
          .ok());
  EXPECT_FALSE(
      parseNpy("x",
               npyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n") + "1234")
          .ok());
}

TEST(ElementTypeTest, EveryCodeOfASmallFloatComesBack) {
  using namespace program;
  for (auto type :
       {F16, F8E4M3FN, F8E5M2, F8E4M3B11FNUZ, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3, F8E3M4, F8E8M0FNU})
    for (uint32_t code = 0; code < (type == F16 ? 65536u : 256u); ++code) {
      float value;
      uint16_t back = 0;
      toFloat32(type, &code, &value, 1);
      fromFloat32(type, &value, &back, 1);
      if (!std::isnan(value)) {
        ASSERT_EQ(back, code) << nameOf(type);
      }
    }
}

TEST(ElementTypeTest, RoundingAndOverflow) {
  auto through = [](program::ElementType type, float value) {
    uint16_t bits = 0;
    fromFloat32(type, &value, &bits, 1);
    toFloat32(type, &bits, &value, 1);
    return value;
  };
  EXPECT_EQ(through(program::F16, 1.0f + 0x1p-11f), 1.0f); // ties to even
  EXPECT_EQ(through(program::F16, 1.0f + 0x1.8p-10f), 1.0f + 0x1p-9f);
  EXPECT_EQ(through(program::F16, 65519.0f), 65504.0f);
  EXPECT_EQ(through(program::F16, 65520.0f), INFINITY);
  EXPECT_EQ(through(program::F16, 0x1p-25f), 0.0f);
  EXPECT_EQ(through(program::F8E4M3FN, 448.0f), 448.0f);
  EXPECT_TRUE(std::isnan(through(program::F8E4M3FN, 500.0f)));
  EXPECT_EQ(through(program::F8E5M2, 1e6f), INFINITY);
}

} // namespace
} // namespace tessera::runtime
