/* Kernels from outside through the C interface: what the function is told, sharded over 4 devices, and
 * what is said where there is none, or not the one that the program means.
 *
 *   api-kernels               the exit code is 1 when something went wrong */
#include "model.h"
#include <stdio.h>
#include <string.h>

/* y = f(x) + 1, with rows on 4 devices. */
static const char kCall[] =
    "sdy.mesh @mesh = <[\"d\"=4]>\n"
    "func.func @main(%%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}, {}]>})\n"
    "    -> (tensor<8x6xf32>, tensor<8xi32>) {\n"
    "  %%one = stablehlo.constant dense<1.0> : tensor<8x6xf32>\n"
    "  %%f:2 = stablehlo.custom_call @%s(%%x) {mhlo.backend_config = {%s},\n"
    "      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j], [i]) {i=8, j=6}, custom>}\n"
    "      : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8xi32>) loc(\"model.py\":12:3)\n"
    "  %%y = stablehlo.add %%f#0, %%one : tensor<8x6xf32>\n"
    "  return %%y, %%f#1 : tensor<8x6xf32>, tensor<8xi32>\n"
    "}\n";

static const char *compileAndLoad(const char *text, tessera_program **program) {
  *program = NULL;
  tessera_compiled *compiled = tessera_compile(text, strlen(text), NULL);
  const char *error = tessera_compiled_error(compiled);
  const char *wrong = error ? complain("%s", error) : NULL;
  size_t bytes = 0;
  const void *file = tessera_compiled_program(compiled, &bytes);
  if (!wrong && tessera_program_load(file, bytes, program) != TESSERA_OK)
    wrong = complain("%s", tessera_error_message());
  tessera_compiled_free(compiled);
  return wrong;
}

static const char *load(const char *name, const char *attributes, tessera_program **program) {
  char text[2000];
  snprintf(text, sizeof text, kCall, name, attributes);
  return compileAndLoad(text, program);
}

/* Loading or compiling fails, and says this. */
static const char *refused(const char *name, const char *attributes, const char *message) {
  tessera_program *program = NULL;
  const char *wrong = load(name, attributes, &program);
  tessera_program_free(program);
  if (!wrong)
    return complain("%s with {%s} is loaded", name, attributes);
  return strstr(wrong, message) ? NULL : complain("not \"%s\", but: %s", message, wrong);
}

static const char *run(tessera_program *program, float *y, int32_t *rows) {
  float x[48];
  for (int i = 0; i < 48; ++i)
    x[i] = (float)i;
  tessera_session *session = NULL;
  tessera_array *in = NULL, *out[2] = {NULL, NULL};
  const char *wrong = NULL;
  if (tessera_session_create(program, NULL, &session) != TESSERA_OK ||
      tessera_array_place(session, 0, x, sizeof x, &in) != TESSERA_OK ||
      tessera_session_execute(session, &in, 1, out, 2) != TESSERA_OK ||
      tessera_array_read(out[0], y, 48 * sizeof *y) != TESSERA_OK ||
      tessera_array_read(out[1], rows, 8 * sizeof *rows) != TESSERA_OK)
    wrong = complain("%s", tessera_error_message());
  tessera_array_free(in);
  tessera_array_free(out[0]);
  tessera_array_free(out[1]);
  tessera_session_free(session);
  return wrong;
}

static int marker;

/* y = factor x by way of scratch, and the row's number on its device; what it is told must be so. */
static int32_t scale(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  const TesseraKernelCall *call = args->plan;
  const TesseraKernelAttribute *text = tessera_kernel_attribute(call, "text"),
                               *list = tessera_kernel_attribute(call, "list"),
                               *flag = tessera_kernel_attribute(call, "flag"),
                               *same = tessera_kernel_attribute(call, "same");
  const TesseraKernelArray *in = call->inputs, *out = call->outputs;
  int told = call->user == &marker && !strcmp(call->name, "scale") && call->grid == 2 &&
             call->scratch_bytes == 24 && call->input_count == 1 && call->output_count == 2 &&
             in->rank == 2 && in->shape[0] == 2 && in->shape[1] == 6 && in->bytes == 48 &&
             !strcmp(in->type, "f32") && out[1].rank == 1 && out[1].shape[0] == 2 &&
             !strcmp(out[1].type, "i32") && text && text->bytes == 5 &&
             !strcmp(text->value, "hello") && list && list->bytes == 16 &&
             ((const int64_t *)list->value)[1] == -2 && flag && flag->bytes == 8 &&
             *(const int64_t *)flag->value == 1 && same && same->bytes == 12 &&
             ((const float *)same->value)[2] == 2 && !tessera_kernel_attribute(call, "factors");
  if (!told || (uintptr_t)args->scratch % 64)
    return 7;
  const float *x = args->buffers[0];
  float *y = args->buffers[1], *row = args->scratch;
  int32_t *number = args->buffers[2];
  float factor = (float)*(const double *)tessera_kernel_attribute(call, "factor")->value;
  for (uint32_t cell = begin; cell < end; ++cell) {
    for (int j = 0; j < 6; ++j)
      row[j] = factor * x[cell * 6 + (uint32_t)j];
    memcpy(y + cell * 6, row, 24);
    number[cell] = (int32_t)cell;
  }
  return 0;
}

static const char kScaled[] =
    "factor = 3.0 : f32, text = \"hello\", list = array<i64: 1, -2>, flag = true, "
    "same = dense<2.0> : tensor<3xf32>, "
    "scratch_bytes = 24 : i64, grid = 2 : i64";

static const char *computes(void) {
  tessera_kernel_options options = {sizeof options, &marker, 24, NULL};
  if (tessera_register_kernel("scale", scale, &options) != TESSERA_OK ||
      tessera_register_kernel("scale", scale, &options) != TESSERA_OK)
    return complain("%s", tessera_error_message());
  tessera_program *program = NULL;
  const char *wrong = load("scale", kScaled, &program);
  float y[48];
  int32_t rows[8];
  if (!wrong)
    wrong = run(program, y, rows);
  for (int i = 0; !wrong && i < 48; ++i)
    if (y[i] != 3 * (float)i + 1 || rows[i / 6] != i / 6 % 2)
      wrong = complain("element %d is %g in row %d", i, y[i], rows[i / 6]);
  tessera_program_free(program);
  return wrong;
}

static int32_t fails(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  (void)args, (void)begin, (void)end;
  return 42;
}

/* A step says which kernel failed, where, and its code. */
static const char *reportsCodes(void) {
  tessera_program *program = NULL;
  if (tessera_register_kernel("fails", fails, NULL) != TESSERA_OK)
    return complain("%s", tessera_error_message());
  const char *wrong = load("fails", "", &program);
  float y[48];
  int32_t rows[8];
  if (!wrong) {
    const char *said = run(program, y, rows);
    if (!said)
      wrong = "a step whose kernel fails is done";
    else if (!strstr(said, "fails_0") || !strstr(said, "code 42") || !strstr(said, "model.py:12:3"))
      wrong = said;
  }
  tessera_program_free(program);
  return wrong;
}

/* Sums of rows, of which a device has a part. */
static int32_t sumRows(const TesseraKernelArgs *args, uint32_t begin, uint32_t end) {
  (void)begin, (void)end;
  const TesseraKernelArray *in = ((const TesseraKernelCall *)args->plan)->inputs;
  if (in->shape[0] != 6 || in->shape[1] != 2)
    return 9;
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  for (int i = 0; i < 6; ++i)
    y[i] = x[2 * i] + x[2 * i + 1];
  return 0;
}

/* What the rule reduces is sharded, and the parts are added behind the linear operation that follows. */
static const char *reduces(void) {
  static const char kSum[] =
      "sdy.mesh @mesh = <[\"d\"=4]>\n"
      "func.func @main(%x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"d\"}]>})\n"
      "    -> tensor<6xf32> {\n"
      "  %s = stablehlo.custom_call @sum_rows(%x) {sdy.sharding_rule =\n"
      "      #sdy.op_sharding_rule<([i, j])->([i]) {i=6, j=8} reduction={j}, custom>}\n"
      "      : (tensor<6x8xf32>) -> tensor<6xf32>\n"
      "  %n = stablehlo.negate %s : tensor<6xf32>\n"
      "  return %n : tensor<6xf32>\n"
      "}\n";
  if (tessera_register_kernel("sum_rows", sumRows, NULL) != TESSERA_OK)
    return complain("%s", tessera_error_message());
  float x[48], y[6];
  for (int i = 0; i < 48; ++i)
    x[i] = (float)(i % 7);
  tessera_program *program = NULL;
  tessera_session *session = NULL;
  tessera_array *in = NULL, *out = NULL;
  tessera_counters counters;
  memset(&counters, 0, sizeof counters);
  counters.struct_size = sizeof counters;
  const char *wrong = compileAndLoad(kSum, &program);
  if (!wrong && (tessera_session_create(program, NULL, &session) != TESSERA_OK ||
                 tessera_array_place(session, 0, x, sizeof x, &in) != TESSERA_OK ||
                 tessera_session_execute(session, &in, 1, &out, 1) != TESSERA_OK ||
                 tessera_array_read(out, y, sizeof y) != TESSERA_OK ||
                 tessera_session_counters(session, &counters) != TESSERA_OK))
    wrong = complain("%s", tessera_error_message());
  for (int i = 0; !wrong && i < 6; ++i) {
    float sum = 0;
    for (int j = 0; j < 8; ++j)
      sum += x[i * 8 + j];
    if (y[i] != -sum)
      wrong = complain("row %d has %g, not %g", i, y[i], -sum);
  }
  if (!wrong && (counters.collectives != 1 || counters.collective_bytes != 24))
    wrong = complain("%d collectives of %d bytes", (int)counters.collectives,
                     (int)counters.collective_bytes);
  tessera_array_free(in);
  tessera_array_free(out);
  tessera_session_free(session);
  tessera_program_free(program);
  return wrong;
}

static const char *never(const TesseraKernelCall *call) {
  return call->input_count == 1 ? "not with one input" : NULL;
}

static const char *refuses(void) {
  const char *wrong =
      refused("nobody", "", "model.py:12:3: calls kernel 'nobody', which is not the");
  if (!wrong)
    wrong = refused("scale", "grid = 2 : i64",
                    "model.py:12:3: kernel 'scale' needs 24 bytes of scratch, the call has 0");
  tessera_kernel_options options = {sizeof options, NULL, 0, never};
  if (!wrong && tessera_register_kernel("never", fails, &options) != TESSERA_OK)
    wrong = complain("%s", tessera_error_message());
  if (!wrong)
    wrong = refused("never", "", "model.py:12:3: kernel 'never': not with one input");
  if (!wrong)
    wrong = refused("scale", "mixed = [1, 2.0]", "model.py:12:3: kernel @scale: its attribute");
  if (!wrong)
    wrong =
        refused("scale", "grid = 0 : i64", "model.py:12:3: custom call @scale: its attribute grid");
  return wrong;
}

static const char *registersOnce(void) {
  tessera_kernel_options other = {sizeof other, NULL, 24, NULL}, none = {0, NULL, 0, NULL};
  if (tessera_register_kernel("scale", scale, &other) != TESSERA_ALREADY_EXISTS ||
      !strstr(tessera_error_message(), "kernel 'scale' is registered already"))
    return complain("another user: %s", tessera_error_message());
  if (tessera_register_kernel(NULL, scale, NULL) != TESSERA_INVALID_ARGUMENT ||
      tessera_register_kernel("a", NULL, NULL) != TESSERA_INVALID_ARGUMENT ||
      tessera_register_kernel("", scale, NULL) != TESSERA_INVALID_ARGUMENT ||
      tessera_register_kernel("a", scale, &none) != TESSERA_INVALID_ARGUMENT)
    return complain("arguments that are no good are taken");
  return NULL;
}

int main(void) {
  const struct {
    const char *name, *(*scene)(void);
  } scenes[] = {{"computes", computes},
                {"reduces", reduces},
                {"reports codes", reportsCodes},
                {"refuses", refuses},
                {"registers once", registersOnce}};
  int failed = 0;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const char *wrong = scenes[i].scene();
    printf("%s: %s\n", scenes[i].name, wrong ? wrong : "as it should");
    failed |= wrong != NULL;
  }
  return failed;
}
