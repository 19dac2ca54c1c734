/* A kernel of one's own: the custom call @weighted_softmax in a program for 4 devices is computed by a
 * function of this file. docs/outside-kernels.md explains each part.
 *
 *   outside-kernel            prints the sum of the rows and the largest error; 1 when it is wrong */
#include "tessera/c_api.h"
#include "tessera/compiler_api.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 10, kColumns = 6 };

/* Rows are independent, and divided over the devices: 3 + 3 + 3 + 1 of them. */
static const char kModule[] =
    "sdy.mesh @mesh = <[\"d\"=4]>\n"
    "func.func @main(%x: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}, {}]>})\n"
    "    -> tensor<10x6xf32> {\n"
    "  %two = stablehlo.constant dense<2.0> : tensor<10x6xf32>\n"
    "  %twice = stablehlo.multiply %x, %two : tensor<10x6xf32>\n"
    "  %soft = stablehlo.custom_call @weighted_softmax(%twice) {\n"
    "      mhlo.backend_config = {temperature = 0.5 : f32, weights = dense<[1.0, 2.0]> : "
    "tensor<2xf32>,\n"
    "                             scratch_bytes = 24 : i64, grid = 3 : i64},\n"
    "      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=10, j=6}\n"
    "          need_replication={j}, custom>\n"
    "    } : (tensor<10x6xf32>) -> tensor<10x6xf32>\n"
    "  %y = stablehlo.add %soft, %two : tensor<10x6xf32>\n"
    "  return %y : tensor<10x6xf32>\n"
    "}\n";

static void softmax(const float *x, float *y, float *exponentials, int64_t columns,
                    double temperature, const float *weights) {
  float largest = x[0], sum = 0;
  for (int64_t j = 1; j < columns; ++j)
    largest = fmaxf(largest, x[j]);
  for (int64_t j = 0; j < columns; ++j)
    sum += exponentials[j] = weights[j % 2] * expf((x[j] - largest) / (float)temperature);
  for (int64_t j = 0; j < columns; ++j)
    y[j] = exponentials[j] / sum;
}

/* Cells [begin, end) of the grid: each has a part of the rows that lie on this device. */
static int32_t weightedSoftmax(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  const TesseraKernelCall *call = args->plan;
  int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  const double *temperature = tessera_kernel_attribute(call, "temperature")->value;
  const float *weights = tessera_kernel_attribute(call, "weights")->value;
  for (int64_t i = rows * begin / call->grid; i < rows * end / call->grid; ++i)
    softmax(x + i * columns, y + i * columns, args->scratch, columns, *temperature, weights);
  return 0;
}

/* Asked once for each call when a program is loaded. */
static const char *check(const TesseraKernelCall *call) {
  if (call->input_count != 1 || call->output_count != 1 || call->inputs[0].rank != 2 ||
      strcmp(call->inputs[0].type, "f32") != 0)
    return "it takes one matrix of f32";
  const TesseraKernelAttribute *weights = tessera_kernel_attribute(call, "weights");
  if (!tessera_kernel_attribute(call, "temperature") || !weights || weights->bytes != 8)
    return "it needs a temperature and two weights";
  if (call->scratch_bytes < sizeof(float) * (uint64_t)call->inputs[0].shape[1])
    return "it needs the scratch of one row";
  return NULL;
}

static void must(tessera_code code) {
  if (code != TESSERA_OK) {
    fprintf(stderr, "error: %s\n", tessera_error_message());
    exit(1);
  }
}

int main(void) {
  tessera_kernel_options options = {sizeof options, NULL, 0, check};
  must(tessera_register_kernel("weighted_softmax", weightedSoftmax, &options));

  tessera_compiled *compiled = tessera_compile(kModule, strlen(kModule), NULL);
  if (tessera_compiled_error(compiled)) {
    fprintf(stderr, "%s\n", tessera_compiled_error(compiled));
    return 1;
  }
  size_t bytes;
  const void *file = tessera_compiled_program(compiled, &bytes);
  tessera_program *program;
  tessera_session *session;
  must(tessera_program_load(file, bytes, &program));
  must(tessera_session_create(program, NULL, &session));

  float x[kRows][kColumns], y[kRows][kColumns], right[kColumns], exponentials[kColumns];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      x[i][j] = 0.1f * (float)((i * 7 + j * 3) % 11);
  tessera_array *in, *out;
  must(tessera_array_place(session, 0, x, sizeof x, &in));
  must(tessera_session_execute(session, &in, 1, &out, 1));
  must(tessera_array_read(out, y, sizeof y));

  const float weights[2] = {1, 2};
  float error = 0, sum = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j)
      x[i][j] *= 2;
    softmax(x[i], right, exponentials, kColumns, 0.5, weights);
    for (int j = 0; j < kColumns; ++j) {
      error = fmaxf(error, fabsf(y[i][j] - 2 - right[j]));
      sum += y[i][j] - 2;
    }
  }
  printf("sum of %d rows on %d devices: %.4f, largest error %.1e\n", kRows,
         (int)tessera_program_devices(program), sum, error);
  tessera_array_free(in);
  tessera_array_free(out);
  tessera_session_free(session);
  tessera_program_free(program);
  tessera_compiled_free(compiled);
  return error > 1e-6f;
}
