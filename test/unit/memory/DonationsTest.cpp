// Which output takes the memory of which donated argument.
#include "passes/memory/Donations.h"

#include <gtest/gtest.h>

using namespace tessera::memory;

TEST(Donations, InplaceFirst) {
  std::vector<DonatedArray> arguments = {{64, 0, 5}, {64, 0, 5}},
                            outputs = {{64, 0, 9}, {64, 0, 5}};
  EXPECT_EQ(pairDonations(arguments, outputs, {{1, 1}}), (std::vector<int>{0, 1}));
}

TEST(Donations, EqualTypesBeforeEqualSizes) {
  std::vector<DonatedArray> arguments = {{64, 0, 1}, {64, 1, 1}},
                            outputs = {{64, 1, 2}, {64, 2, 3}};
  EXPECT_EQ(pairDonations(arguments, outputs, {}), (std::vector<int>{1, 0}));
}

TEST(Donations, InOneMemory) {
  std::vector<DonatedArray> arguments = {{64, 0, 1, true}, {64, 1, 1, false}},
                            outputs = {{64, 2, 2, false}, {64, 3, 3, true}};
  EXPECT_EQ(pairDonations(arguments, outputs, {}), (std::vector<int>{1, 0}));
}

TEST(Donations, OnlyWhatIsWrittenAfterTheReading) {
  std::vector<DonatedArray> arguments = {{64, 0, 4}}, outputs = {{64, 0, 4}};
  EXPECT_EQ(pairDonations(arguments, outputs, {}), std::vector<int>{-1});
}

TEST(Donations, AsManyAsThereCanBe) {
  // The output of time 2 can only take what is read by then; the other takes the rest.
  std::vector<DonatedArray> arguments = {{64, 0, 3}, {64, 0, 1}},
                            outputs = {{64, 0, 4}, {64, 0, 2}};
  EXPECT_EQ(pairDonations(arguments, outputs, {}), (std::vector<int>{0, 1}));
}
