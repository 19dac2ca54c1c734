// Arrays to and from .safetensors, and what is said of files that are none.
#include "runtime/array/Safetensors.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/SafetensorsHeader.h"
#include "test/unit/runtime/TemporaryFiles.h"
#include "test/unit/runtime/WrittenArchive.h"
#include <cstring>
#include <fstream>

namespace tessera::runtime {
namespace {

std::string fileOf(const std::string &header, const std::string &bytes) {
  std::string size(8, '\0');
  uint64_t count = header.size();
  std::memcpy(size.data(), &count, sizeof count);
  return size + header + bytes;
}

TEST(SafetensorsTest, EveryTypeRoundTrips) {
  std::string path = temporaryFile("types.safetensors");
  std::vector<std::pair<std::string, HostArray>> arrays;
  for (int t = program::I1; t <= program::F6E3M2FN; ++t) {
    auto type = static_cast<program::ElementType>(t);
    if (type == program::C128)
      continue;
    std::string bytes(static_cast<size_t>(2 * byteSize(type)), '\0');
    bytes[0] = 1; // a value of every type
    arrays.emplace_back(std::string(nameOf(type)) + "\"\n", HostArray{type, {2}, bytes});
  }
  arrays.emplace_back("empty", HostArray{program::F32, {0, 3}, ""});
  arrays.emplace_back("scalar", HostArray{program::I64, {}, std::string(8, '\3')});
  writeArchive(path, arrays);
  auto reader = ArrayFile::open(path);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ((*reader)->names().size(), arrays.size());
  for (const auto &[name, array] : arrays) {
    auto read = (*reader)->read(name, parameter(array.type, array.shape));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->bytes, array.bytes) << name;
  }
}

TEST(SafetensorsTest, TypesWithoutANameAreRefused) {
  files::OutputFile file;
  ASSERT_EQ(file.open(temporaryFile("c128.safetensors")), "");
  auto writer = SafetensorsWriter::make(file, {{"out0", program::C128, {1}}});
  EXPECT_EQ(writer.status().message(),
            "array 'out0' is c128, which .safetensors files have no type for; .npz files have");
}

TEST(SafetensorsTest, Entries) {
  std::string path = temporaryFile("batches.safetensors");
  writeArchive(path, {{"x", {program::U8, {3, 2}, "abcdef"}}});
  auto reader = ArrayFile::open(path);
  ASSERT_TRUE(reader.ok());
  program::Parameter entry = parameter(program::U8, {2});
  EXPECT_EQ(*(*reader)->countEntries("x", entry), 3);
  EXPECT_EQ((*reader)->readEntry("x", entry, 1)->bytes, "cd");
  EXPECT_EQ((*reader)->countEntries("x", parameter(program::U8, {3})).status().message(),
            path +
                ": array 'x' is uint8 (3, 2), and a step takes one of the arrays along its first "
                "dimension, (3,)");
  EXPECT_EQ((*reader)->read("x", entry).status().message(),
            path + ": array 'x' is uint8 (3, 2), the program expects uint8 (2,)");
}

TEST(SafetensorsTest, Headers) {
  auto count = [](const std::string &text) {
    auto entries = parseSafetensorsHeader(text);
    return entries ? static_cast<int>(entries->size()) : -1;
  };
  std::string entry = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_EQ(count("{}"), 0);
  EXPECT_EQ(count(" { } \n "), 0);
  EXPECT_EQ(count("{\"a\":" + entry + ", \"b\" : " + entry + "}   "), 2);
  EXPECT_EQ(count("{\"__metadata__\":{\"k\":\"v\"},\"a\":" + entry + "}"), 1);
  EXPECT_EQ((*parseSafetensorsHeader("{\"\\u00e9\\ud83d\\ude00\\n\":" + entry + "}"))[0].name,
            "\u00e9\U0001F600\n");
  for (std::string wrong :
       {std::string(""),
        std::string("["),
        std::string("{"),
        "{\"a\":" + entry,
        "{\"a\":" + entry + "}x",
        "{\"a\":" + entry + ",}",
        "{\"a\" " + entry + "}",
        "{a:" + entry + "}",
        std::string("{\"a\":{}}"),
        std::string("{\"a\":1}"),
        std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})"),
        std::string(R"({"a":{"dtype":"F32","dtype":"F32","data_offsets":[0,8]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[02],"data_offsets":[0,8]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})"),
        std::string(R"({"\ud83d":1})"),
        std::string(R"({"\q":1})"),
        std::string("{\"a\nb\":1}"),
        std::string(R"({"__metadata__":{"k":1}})")})
    EXPECT_EQ(count(wrong), -1) << wrong;
}

TEST(SafetensorsTest, DamagedFilesAreErrors) {
  std::string path = temporaryFile("bad.safetensors"),
              who = path + ": not a readable .safetensors file: ";
  auto error = [&](const std::string &contents) {
    std::ofstream(path, std::ios::binary) << contents;
    auto reader = ArrayFile::open(path);
    std::string message = reader.ok() ? "none" : reader.status().message();
    return message.starts_with(who) ? message.substr(who.size()) : message;
  };
  std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(error(fileOf(good, "12345678")), "none");
  EXPECT_EQ(error(fileOf(good, "1234567")), "the bytes of array 'a' are not where they should be");
  EXPECT_EQ(error(fileOf(good, "123456789")), "there are bytes that are no array's");
  EXPECT_EQ(error("1234567"), "it is cut off");
  EXPECT_EQ(error(std::string(8, '\xff') + good),
            "it is cut off, or its header has an impossible size");
  EXPECT_EQ(error(fileOf("{\"a\"", "")), "its header is no description of arrays");
  EXPECT_EQ(error(fileOf(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678")),
            "array 'a' has 8 bytes for shape (3,)");
  EXPECT_EQ(
      error(fileOf(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
                   "12345678")),
      "array 'a' has an impossible shape");
  EXPECT_EQ(
      error(fileOf(
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
          "12345678")),
      "the bytes of array 'b' are not where they should be");
  EXPECT_EQ(
      error(fileOf(
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
          "12345678")),
      "array 'a' is there twice");
}

} // namespace
} // namespace tessera::runtime
