/* The program that the hosts of this folder compile and run: y = x * 2 + b on 2 devices, and the
 * sum of y over the rows, by an all-reduce. x is 4 x 3, b is 3. */
#ifndef TESSERA_TEST_API_MODEL_H
#define TESSERA_TEST_API_MODEL_H
#include "tessera/c_api.h"
#include "tessera/compiler_api.h"

extern const char kModel[];

/* NULL, or what is wrong; it lives until the next call of the thread. */
const char *compileModel(tessera_compiled **compiled);
/* The model compiled, loaded, run for some steps and compared with what is right. */
const char *runModel(uint32_t workers);
/* One step of a session of the model, on arrays of `x` and `b`, held against what is right. */
const char *stepModel(tessera_session *session, float x, float b);
/* What is wrong, as printf says it. */
const char *complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
