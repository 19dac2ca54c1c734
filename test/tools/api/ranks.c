/* One of the ranks of the model under mpirun, which calls the C interface as the others do, or
 * deviates: `api-ranks CALLS RANK`, for test/fuzz/ranks.py. Ends with 0, or 1 and an error line. */
#include "model.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, tessera_error_message());
  return 1;
}

/* Steps of two sessions at the same time, from two threads. */
static void *manySteps(void *argument) {
  tessera_session *session = argument;
  float x[12] = {0}, b[3] = {4, 5, 6}, total[3];
  tessera_array *in[2], *out[2];
  if (tessera_array_place(session, 0, x, sizeof x, &in[0]) != TESSERA_OK ||
      tessera_array_place(session, 1, b, sizeof b, &in[1]) != TESSERA_OK)
    return "place";
  for (int i = 0; i < 200; ++i) {
    if (tessera_session_execute(session, in, 2, out, 2) != TESSERA_OK)
      return "execute";
    if (i % 20 == 0 &&
        (tessera_array_read(out[1], total, sizeof total) != TESSERA_OK || total[0] != 16))
      return "read";
    tessera_array_free(out[0]);
    tessera_array_free(out[1]);
  }
  return NULL;
}

static int concurrently(const tessera_program *program, const tessera_session_options *options) {
  tessera_session *sessions[2];
  pthread_t threads[2];
  void *wrong[2];
  for (int i = 0; i < 2; ++i)
    if (tessera_session_create(program, options, &sessions[i]) != TESSERA_OK)
      return fail("create");
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, manySteps, sessions[i]);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], &wrong[i]);
  if (wrong[0] || wrong[1]) {
    fprintf(stderr, "error: at the same time: %s\n", (char *)(wrong[0] ? wrong[0] : wrong[1]));
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *own = getenv("OMPI_COMM_WORLD_RANK"), *calls = argc > 1 ? argv[1] : "";
  int deviates = argc > 2 && own && strcmp(own, argv[2]) == 0;
#define IS(name) (deviates && strcmp(calls, name) == 0)
  tessera_compiled *compiled = NULL;
  tessera_program *program = NULL;
  tessera_session *session = NULL, *other = NULL;
  const char *wrong = compileModel(&compiled);
  size_t bytes = 0;
  const void *data = tessera_compiled_program(compiled, &bytes);
  if (wrong || tessera_program_load(data, bytes, &program) != TESSERA_OK)
    return fail("load");
  tessera_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.communicator = "mpi";
  if (strcmp(calls, "concurrent") == 0)
    return concurrently(program, &options);
  if (tessera_session_create(IS("null-program") ? NULL : program, &options, &session) != TESSERA_OK)
    return fail("create");
  float x[12] = {1, 2, 3}, b[3] = {4, 5, 6}, y[12], total[3];
  tessera_array *in[2], *first[2], *second[2];
  if (tessera_array_place(session, 0, x, sizeof x, &in[0]) != TESSERA_OK ||
      tessera_array_place(session, 1, b, sizeof b, &in[1]) != TESSERA_OK)
    return fail("place");
  if (IS("early-end"))
    return 0;
  if (tessera_session_execute(session, in, 2, first, 2) != TESSERA_OK)
    return fail("execute");
  if (IS("second-session") && tessera_session_create(program, &options, &other) != TESSERA_OK)
    return fail("create another");
  tessera_array *none[2] = {in[0], NULL};
  if (!IS("fewer-steps") &&
      tessera_session_execute(session, IS("null-input") ? none : in, 2, second, 2) != TESSERA_OK)
    return fail("execute");
  int swapped = IS("other-order") || IS("fewer-steps");
  size_t size = IS("short-read") ? 8 : sizeof y;
  if (tessera_array_read(swapped && !IS("fewer-steps") ? second[0] : first[0], y, size) !=
          TESSERA_OK ||
      tessera_array_read(swapped ? first[0] : second[0], y, sizeof y) != TESSERA_OK ||
      tessera_array_read(first[1], total, sizeof total) != TESSERA_OK)
    return fail("read");
  float sum = 2 + 4 * 4; /* of the first column */
  if (total[0] != sum) {
    fprintf(stderr, "wrong: %g, not %g\n", total[0], sum);
    return 3;
  }
  return 0;
}
