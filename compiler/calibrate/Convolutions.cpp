#include "compiler/calibrate/List.h"

namespace tessera::calibration {

// Of 64 channels with 64, in so many groups.
static void addConvolution(Programs &to, const std::string &name, int64_t channels, int64_t groups,
                           double secondsOfTrip) {
  std::string image = tensor({2, 16, 16, 64}), kernel = tensor({3, 3, channels, 64});
  Body body;
  std::string y = body.add(
      "convolution(%x0, %x1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
      "{stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count "
      "= " +
      std::to_string(groups) + " : i64} : (" + image + ", " + kernel + ") -> " + image);
  to.add(name, secondsOfTrip, {{image, body.damped(y, image)}, {kernel, "%x1"}}, body);
}

// Small images, channels first: columns of the product are channels, and rows lie in short pieces. Also
// the gradient of the filter.
static void addSmallImages(Programs &to, int64_t channels, int64_t side, bool isGradient) {
  std::string size = std::to_string(side), image = tensor({4, channels, side, side}),
              filter = tensor({channels, channels, 3, 3});
  Body body;
  std::string numbers = isGradient ? "[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]"
                                   : "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
  std::string with = isGradient ? image : filter, result = isGradient ? filter : image;
  std::string y =
      body.add("convolution(%x0, %x1) dim_numbers = " + numbers +
               ", window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
               "feature_group_count = 1 : i64} : (" +
               image + ", " + with + ") -> " + result);
  double flops = 2.0 * 4 * 9 * double(side * side * channels * channels);
  std::string name = std::string(isGradient ? "filter's gradient of " : "convolution of ") + size +
                     "x" + size + " images";
  if (isGradient)
    to.add(name, flops / 1e11,
           {{image, body.damped("%x0", image)},
            {with, "%x1"},
            {result, body.binary("add", "%x2", y, result)}},
           body);
  else
    to.add(name, flops / 1e11, {{image, body.damped(y, image)}, {with, "%x1"}}, body);
}

void addConvolutions(Programs &to) {
  addConvolution(to, "convolution", 64, 1, 6e-4);
  addConvolution(to, "depthwise convolution", 1, 64, 2e-4);
  addSmallImages(to, 128, 4, /*isGradient=*/false);
  addSmallImages(to, 64, 8, /*isGradient=*/false);
  addSmallImages(to, 128, 4, /*isGradient=*/true);
}

} // namespace tessera::calibration
