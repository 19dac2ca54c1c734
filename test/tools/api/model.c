#include "model.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char kModel[] =
    "sdy.mesh @mesh = <[\"d\"=2]>\n"
    "func.func @main(%x: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}, {}]>},\n"
    "                %b: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {\n"
    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %wide = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>\n"
    "  %twice = stablehlo.add %x, %x : tensor<4x3xf32>\n"
    "  %y = stablehlo.add %twice, %wide : tensor<4x3xf32>\n"
    "  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "      : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
    "  return %y, %sum : tensor<4x3xf32>, tensor<3xf32>\n"
    "}\n";

const char *complain(const char *format, ...) {
  static __thread char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

const char *compileModel(tessera_compiled **compiled) {
  *compiled = tessera_compile(kModel, strlen(kModel), NULL);
  if (!*compiled)
    return "tessera_compile gives nothing";
  const char *error = tessera_compiled_error(*compiled);
  return error ? complain("%s", error) : NULL;
}

static const char *failed(const char *what) {
  return complain("%s: %s", what, tessera_error_message());
}

const char *stepModel(tessera_session *session, float x, float b) {
  float xs[12], bs[3], y[12], sum[3];
  for (int i = 0; i < 12; ++i)
    xs[i] = x + (float)i;
  for (int i = 0; i < 3; ++i)
    bs[i] = b;
  tessera_array *in[2] = {NULL, NULL}, *out[2] = {NULL, NULL};
  const char *wrong = NULL;
  if (tessera_array_place(session, 0, xs, sizeof xs, &in[0]) != TESSERA_OK ||
      tessera_array_place(session, 1, bs, sizeof bs, &in[1]) != TESSERA_OK)
    wrong = failed("place");
  else if (tessera_session_execute(session, in, 2, out, 2) != TESSERA_OK)
    wrong = failed("execute");
  else if (tessera_array_read(out[0], y, sizeof y) != TESSERA_OK ||
           tessera_array_read(out[1], sum, sizeof sum) != TESSERA_OK)
    wrong = failed("read");
  for (int column = 0; !wrong && column < 3; ++column) {
    float total = 0;
    for (int row = 0; row < 4; ++row) {
      float right = 2 * xs[row * 3 + column] + b;
      total += right;
      if (y[row * 3 + column] != right)
        wrong = complain("y[%d][%d] is %g, not %g", row, column, y[row * 3 + column], right);
    }
    if (!wrong && sum[column] != total)
      wrong = complain("sum[%d] is %g, not %g", column, sum[column], total);
  }
  for (int i = 0; i < 2; ++i) {
    tessera_array_free(in[i]);
    tessera_array_free(out[i]);
  }
  return wrong;
}

const char *runModel(uint32_t workers) {
  tessera_compiled *compiled = NULL;
  tessera_program *program = NULL;
  tessera_session *session = NULL;
  tessera_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.workers = workers;
  const char *wrong = compileModel(&compiled);
  size_t bytes = 0;
  const void *data = tessera_compiled_program(compiled, &bytes);
  if (!wrong && tessera_program_load(data, bytes, &program) != TESSERA_OK)
    wrong = failed("load");
  if (!wrong && tessera_session_create(program, &options, &session) != TESSERA_OK)
    wrong = failed("create");
  for (int step = 0; !wrong && step < 3; ++step)
    wrong = stepModel(session, (float)step, 7);
  tessera_program_free(program);
  tessera_session_free(session);
  tessera_compiled_free(compiled);
  return wrong;
}
