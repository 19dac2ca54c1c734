// JSON as plain data: what is wrong is named with its place.
#include "lib/text/JsonValue.h"

#include <gtest/gtest.h>

namespace tessera::text {
namespace {

std::string wrongOf(std::string_view text) {
  JsonValue value;
  return parseJson(text, /*deepest=*/3, value);
}

TEST(JsonValue, ValuesKnowTheirPlaces) {
  JsonValue value;
  ASSERT_EQ(parseJson("{\"a\": 1e-6,\n \"b\": [true, {\"c\": \"d\"}]}", 3, value), "");
  EXPECT_EQ(value.members.at("a").number, 1e-6);
  EXPECT_EQ(value.place({"a"}), "1:7");
  EXPECT_EQ(value.place({"b", "1", "c"}), "2:20");
  EXPECT_EQ(value.place({"b", "7"}), "2:7"); // of what there is
  EXPECT_TRUE(value.members.at("b").entries[0].boolean);
}

TEST(JsonValue, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(wrongOf("{\"a\": 1,}"), "1:9: a member's name in quotation marks is expected");
  EXPECT_EQ(wrongOf("{\"a\": 1,\n \"a\": 2}"), "2:2: 'a' is there twice");
  EXPECT_EQ(wrongOf("[1 2]"), "1:4: ',' or ']' is expected");
  EXPECT_EQ(wrongOf("{} {}"), "1:4: nothing more is expected");
  EXPECT_EQ(wrongOf("[[[[]]]]"), "1:4: nested more than 3 deep");
  EXPECT_EQ(wrongOf("\"a"), "1:3: a string has no end");
  EXPECT_EQ(wrongOf("\"\xc0\x80\""), "1:2: bytes that are no UTF-8");
  for (const char *number : {"01", "+1", ".5", "1.", "1e", "inf", "nan", "0x1", "-", "", "True"})
    EXPECT_NE(wrongOf(number), "") << number;
  EXPECT_EQ(wrongOf("1e999"), "1:1: a number that is too large or too small for f64");
}

TEST(JsonValue, EscapesAreWhatTheyMean) {
  JsonValue value;
  ASSERT_EQ(parseJson("\"\\u00e4\\n\\\"\\ud83d\\ude00\"", 3, value), "");
  EXPECT_EQ(value.string, "\xc3\xa4\n\"\xf0\x9f\x98\x80");
  for (const char *text : {"\"\\ud83d\"", "\"\\ude00\"", "\"\\u12\"", "\"\\x\"", "\"\n\""})
    EXPECT_NE(wrongOf(text), "") << text;
}

} // namespace
} // namespace tessera::text
