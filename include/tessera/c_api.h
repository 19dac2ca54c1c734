/* The runtime's stable C interface; include/tessera/runtime.h is C++ over it. Link
 * libtessera_runtime.so. The compiler's is compiler_api.h.
 *
 * Two layers over programs, of which one can be used without the other:
 *
 *   sessions   load a program, make a session, place global arrays, execute steps, read arrays back
 *   clients    load programs into one client; buffers of its devices, one a tile; prepared calls that
 *              rebind only what changes; steps that run while the caller goes on, with events
 *
 * Functions never throw and never abort. Those that can fail return a code; the message of the last
 * failure on this thread is tessera_error_message(). Programs, clients, executables, events and
 * arenas may be shared by threads. A session and its arrays belong to one thread at a time, as does
 * a call with the buffers that it is given (but for tessera_session_cancel and tessera_call_cancel).
 * Objects are freed by their *_free, in any order; NULL is ignored. Any other argument that is NULL
 * where the text does not allow it makes a code TESSERA_INVALID_ARGUMENT, or the result that a
 * function's comment names, and a message.
 *
 * Threads stay with the process that made them: in the child of a fork(), sessions and calls of the
 * parent don't execute (TESSERA_FAILED_PRECONDITION); their arrays can be read, and all can be
 * freed. Sessions that the child makes work, but for those over MPI where the parent has one.
 */
#ifndef TESSERA_C_API_H
#define TESSERA_C_API_H
#include "kernel_abi.h"
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The canonical codes of gRPC; those that are left out are not used. */
typedef enum tessera_code {
  TESSERA_OK = 0,
  TESSERA_CANCELLED = 1,           /* the step was given up */
  TESSERA_INVALID_ARGUMENT = 3,    /* what the caller gave does not fit: shapes, types, names */
  TESSERA_DEADLINE_EXCEEDED = 4,   /* a step took longer than its limit */
  TESSERA_NOT_FOUND = 5,           /* a file, or a parameter of that name, is not there */
  TESSERA_ALREADY_EXISTS = 6,      /* something of that name is there already */
  TESSERA_PERMISSION_DENIED = 7,   /* a file may not be read */
  TESSERA_RESOURCE_EXHAUSTED = 8,  /* memory, threads */
  TESSERA_FAILED_PRECONDITION = 9, /* the object is in no state for it, such as a step that is being
                                      executed; the program is for another machine or version */
  TESSERA_OUT_OF_RANGE = 11,       /* an index past the end */
  TESSERA_UNIMPLEMENTED = 12,      /* this build or machine cannot do it */
  TESSERA_INTERNAL = 13,           /* a device failed while running */
  TESSERA_UNAVAILABLE = 14,        /* another process is gone; a file cannot be read or written */
  TESSERA_DATA_LOSS = 15,          /* a file is damaged */
} tessera_code;

typedef struct tessera_program tessera_program; /* immutable */
typedef struct tessera_session tessera_session; /* a program with devices and their memory */
typedef struct tessera_array tessera_array;     /* global, cut into tiles on a session's devices */
typedef struct tessera_client tessera_client;   /* workers, devices and their memory */
typedef struct tessera_executable tessera_executable; /* a program made ready for a client */
typedef struct tessera_buffer tessera_buffer;         /* what one device holds: dense, of a type */
typedef struct tessera_call tessera_call;             /* an executable prepared to be executed */
typedef struct tessera_event tessera_event;           /* something that will have happened */
typedef struct tessera_arena tessera_arena;           /* memory for temporaries that calls share */

/* An input or output, or an array. Pointers live as long as the object that was asked. */
typedef struct tessera_parameter {
  size_t struct_size;      /* set by the caller: sizeof(tessera_parameter) */
  const char *name, *type; /* type: "f32", "bf16", "i1", .. */
  size_t rank;
  const int64_t *shape; /* global */
  size_t bytes;         /* of the global array, dense: 2 an element for bf16 and f16, 1 for i1 */
  int32_t donated;      /* an input whose array a step takes over: it is invalid afterwards */
} tessera_parameter;

/* Of the last step, on the device that has most. */
typedef struct tessera_counters {
  size_t struct_size; /* set by the caller: sizeof(tessera_counters) */
  uint64_t collectives, collective_bytes, peak_bytes;
} tessera_counters;

typedef struct tessera_session_options {
  size_t struct_size; /* sizeof(tessera_session_options): later versions add members at the end */
  uint32_t workers;   /* threads, at most 1024; 0: TESSERA_WORKERS, or one a core */
  /* "local": all devices here; "mpi": one device a process, all call alike; "nccl": each device has a
   * GPU of its own, here, or, where a launcher has started the process, as many in each. NULL: "nccl"
   * where the program is for GPUs and as many are seen as it has devices, else "local"; of a client
   * "local". A client with "nccl" has the GPUs that are seen as devices; one of a launcher one of them. */
  const char *communicator;
  /* Contents of a topology file, or the name of a machine, whose links are simulated (local); NULL: none. */
  const char *topology;
  /* Seconds that a step may take before it ends with TESSERA_DEADLINE_EXCEEDED; 0: any. */
  double time_limit;
  /* Whose workers, memory and processes it uses (`workers` and `communicator` are not asked then);
   * NULL: its own. */
  tessera_client *client;
  /* 1: its report has a "profile" of the quickest step, as `tessera run --profile` writes it. With
   * several processes it is process 0's. */
  int32_t profile;
} tessera_session_options;

/* The release of this library: "0.1.0". */
TESSERA_API const char *tessera_version(void);

/* The message of the last failed call on this thread; "" before any. */
TESSERA_API const char *tessera_error_message(void);

/* Programs. `bytes` (the contents of a .tsr) are copied. */
TESSERA_API tessera_code tessera_program_load(const void *bytes, size_t size,
                                              tessera_program **program);
TESSERA_API tessera_code tessera_program_load_file(const char *path, tessera_program **program);
/* The same, but no other file than the one whose SHA-256 (64 hexadecimal digits, as `tessera
 * compile` prints it) is `sha256`: a program is native code, see docs/trust.md. NULL: any. */
TESSERA_API tessera_code tessera_program_load_file_sha256(const char *path, const char *sha256,
                                                          tessera_program **program);
/* To be looked at only: what it takes and gives, its report and info, on a machine that cannot
 * execute it, too. Sessions and executables of it are refused (TESSERA_FAILED_PRECONDITION). */
TESSERA_API tessera_code tessera_program_inspect(const void *bytes, size_t size,
                                                 tessera_program **program);
TESSERA_API void tessera_program_free(tessera_program *program);
/* -1 of NULL. The counts are 0 of NULL, and the report is "". */
TESSERA_API int64_t tessera_program_devices(const tessera_program *program);
TESSERA_API size_t tessera_program_input_count(const tessera_program *program);
TESSERA_API size_t tessera_program_output_count(const tessera_program *program);
TESSERA_API tessera_code tessera_program_input(const tessera_program *program, size_t index,
                                               tessera_parameter *input);
TESSERA_API tessera_code tessera_program_output(const tessera_program *program, size_t index,
                                                tessera_parameter *output);
/* The number of the input (output) of a name: the program's own, or in0.. (out0..). NOT_FOUND, with
 * what there is, for any other. */
TESSERA_API tessera_code tessera_program_input_index(const tessera_program *program,
                                                     const char *name, size_t *index);
TESSERA_API tessera_code tessera_program_output_index(const tessera_program *program,
                                                      const char *name, size_t *index);
/* What the compiler reported: JSON, "" when the program carries none. */
TESSERA_API const char *tessera_program_report(const tessera_program *program);
/* Inputs, outputs, meshes and shardings by name, memory and collectives: the JSON of `tessera info
 * --json`, but for the file's SHA-256. NULL on failure. Lives as long as the program. */
TESSERA_API const char *tessera_program_info(const tessera_program *program);

/* Sessions. `options` may be NULL. Over MPI all processes make the same calls for a session, in the
 * same order; creating one first compares what they have, and fails on all where they differ or one
 * fails. Later a call that fails on one process is announced to the others, which fail too. */
TESSERA_API tessera_code tessera_session_create(const tessera_program *program,
                                                const tessera_session_options *options,
                                                tessera_session **session);
TESSERA_API void tessera_session_free(tessera_session *session);
/* This process among those of the communicator: 0 of 1 for "local", -1 of 0 of NULL. */
TESSERA_API int32_t tessera_session_process(const tessera_session *session);
TESSERA_API int32_t tessera_session_process_count(const tessera_session *session);

/* One step: `outputs` gets output_count new arrays. Donated inputs are invalid afterwards, also
 * when it fails. Arrays of another session serve as inputs too: as they are where every device
 * holds the tile that it needs, otherwise (in one process) as a copy that goes through the host. */
TESSERA_API tessera_code tessera_session_execute(tessera_session *session,
                                                 tessera_array *const *inputs, size_t input_count,
                                                 tessera_array **outputs, size_t output_count);
/* The same with inputs in any order, by name: each of the program's once, and no others. */
TESSERA_API tessera_code tessera_session_execute_named(tessera_session *session,
                                                       const char *const *names,
                                                       tessera_array *const *inputs,
                                                       size_t input_count, tessera_array **outputs,
                                                       size_t output_count);
/* From any thread: a step that is being executed ends with TESSERA_CANCELLED. */
TESSERA_API void tessera_session_cancel(tessera_session *session);
TESSERA_API tessera_code tessera_session_counters(const tessera_session *session,
                                                  tessera_counters *counters);
/* The steps so far (times of the last 65,536), as `tessera run --report` writes it; "" of NULL. The
 * first one of a session that profiles measures the machine, for some tenths of a second. Valid until the next call for this session. */
TESSERA_API const char *tessera_session_report(tessera_session *session);

/* Arrays. Places a global host array, in the type and shape of input `input`, on the devices. */
TESSERA_API tessera_code tessera_array_place(tessera_session *session, size_t input,
                                             const void *data, size_t bytes, tessera_array **array);
/* Gathers the global array; `bytes` is its size. With several processes all call, and process 0
 * gets the contents; all do when every device holds the whole array. */
TESSERA_API tessera_code tessera_array_read(tessera_array *array, void *data, size_t bytes);
TESSERA_API tessera_code tessera_array_describe(const tessera_array *array,
                                                tessera_parameter *parameter);
/* 0 once a step has taken it over. */
TESSERA_API int32_t tessera_array_is_valid(const tessera_array *array);
TESSERA_API void tessera_array_free(tessera_array *array);

/* Clients. Over MPI all processes make the same clients and calls, in the same order. */
typedef struct tessera_client_options {
  size_t struct_size;       /* sizeof(tessera_client_options) */
  uint32_t workers;         /* as in tessera_session_options */
  const char *communicator; /* as in tessera_session_options */
  const char *device;       /* the kind of devices: NULL or "cpu"; "shadow" */
} tessera_client_options;

TESSERA_API tessera_code tessera_client_create(const tessera_client_options *options,
                                               tessera_client **client);
TESSERA_API void tessera_client_free(tessera_client *client);
/* This process among those of the communicator: 0 of 1 for "local", -1 of 0 of NULL. */
TESSERA_API int32_t tessera_client_process(const tessera_client *client);
TESSERA_API int32_t tessera_client_process_count(const tessera_client *client);

/* Executables. One program may be loaded into several clients. */
TESSERA_API tessera_code tessera_executable_load(tessera_client *client,
                                                 const tessera_program *program,
                                                 tessera_executable **executable);
TESSERA_API void tessera_executable_free(tessera_executable *executable);
/* The program's devices that are here: all of them, or one of MPI. They are numbered from 0; 0 of
 * NULL. */
TESSERA_API size_t tessera_executable_device_count(const tessera_executable *executable);
/* The mesh's number of the device, -1 where there is none. */
TESSERA_API int64_t tessera_executable_device_id(const tessera_executable *executable,
                                                 size_t device);
/* What each device holds of an input (output): `shape` and `bytes` are the tile's. */
TESSERA_API tessera_code tessera_executable_input_tile(const tessera_executable *executable,
                                                       size_t index, tessera_parameter *tile);
TESSERA_API tessera_code tessera_executable_output_tile(const tessera_executable *executable,
                                                        size_t index, tessera_parameter *tile);
/* The devices that hold tiles of an input (output): `count` of them from number `first` on; all that
 * are here, but in a file of several programs. */
TESSERA_API tessera_code tessera_executable_input_devices(const tessera_executable *executable,
                                                          size_t index, size_t *first,
                                                          size_t *count);
TESSERA_API tessera_code tessera_executable_output_devices(const tessera_executable *executable,
                                                           size_t index, size_t *first,
                                                           size_t *count);
/* The part of the global array in a device's tile: rank numbers each of where it begins and of how
 * many elements it has. The rest of the tile, where the mesh does not divide the array, is padding.
 * `device` counts from 0 among those that hold tiles. */
TESSERA_API tessera_code tessera_executable_input_part(const tessera_executable *executable,
                                                       size_t index, size_t device, int64_t *start,
                                                       int64_t *extent);
TESSERA_API tessera_code tessera_executable_output_part(const tessera_executable *executable,
                                                        size_t index, size_t device, int64_t *start,
                                                        int64_t *extent);

/* Buffers: `rank` sizes in `shape`, elements dense and row-major. With `copied`, `data` must stay as
 * it is until that event; with NULL, until the function returns. */
TESSERA_API tessera_code tessera_buffer_from_host(tessera_client *client, uint32_t device,
                                                  const char *type, size_t rank,
                                                  const int64_t *shape, const void *data,
                                                  size_t bytes, tessera_buffer **buffer,
                                                  tessera_event **copied);
/* Waits until the buffer is ready and writes all of it, or, with `done`, does so until that event:
 * `data` must stay until then. */
TESSERA_API tessera_code tessera_buffer_to_host(tessera_buffer *buffer, void *data, size_t bytes,
                                                tessera_event **done);
/* The same from and to a part of a host array, whose elements lie `strides` bytes apart along each
 * dimension: `extent` of them, at most as many as the buffer has. From the host the rest becomes
 * zero; to the host it is left out. Both are over when the function returns. */
TESSERA_API tessera_code tessera_buffer_from_host_part(
    tessera_client *client, uint32_t device, const char *type, size_t rank, const int64_t *shape,
    const void *data, const int64_t *strides, const int64_t *extent, tessera_buffer **buffer);
TESSERA_API tessera_code tessera_buffer_to_host_part(tessera_buffer *buffer, void *data,
                                                     const int64_t *strides, const int64_t *extent);
/* Waits until the buffer is ready; then where the host can read it in place, for as long as the
 * buffer or one that shares its memory lives, or NULL where it cannot (`shadow`). A step that takes
 * the buffer over may write there: give away one that is shared. */
TESSERA_API tessera_code tessera_buffer_host_view(tessera_buffer *buffer, const void **data);
/* Another buffer of the same contents and memory, which is counted: a step that takes one over works
 * on a copy as long as there is the other. */
TESSERA_API tessera_code tessera_buffer_share(tessera_buffer *buffer, tessera_buffer **other);
TESSERA_API tessera_code tessera_buffer_describe(const tessera_buffer *buffer,
                                                 tessera_parameter *parameter);
TESSERA_API int32_t tessera_buffer_device(const tessera_buffer *buffer); /* -1 of NULL */
/* 0 once a step has taken it over. */
TESSERA_API int32_t tessera_buffer_is_valid(const tessera_buffer *buffer);
/* When its contents are there; fails when the step that makes them does. */
TESSERA_API tessera_code tessera_buffer_ready(const tessera_buffer *buffer, tessera_event **event);
TESSERA_API void tessera_buffer_free(tessera_buffer *buffer);

/* Events. Waits `seconds` at most (negative: any time); TESSERA_DEADLINE_EXCEEDED when that was not
 * enough, otherwise how it ended. */
TESSERA_API tessera_code tessera_event_wait(tessera_event *event, double seconds);
TESSERA_API int32_t tessera_event_is_ready(const tessera_event *event);
/* Calls `then` once it has happened: before the function returns where it has already, otherwise on
 * a thread of the runtime, which it must not keep long, and where it frees nothing. */
TESSERA_API tessera_code tessera_event_when_ready(tessera_event *event,
                                                  void (*then)(void *user, tessera_code code),
                                                  void *user);
TESSERA_API void tessera_event_free(tessera_event *event);

/* Memory for the temporaries of calls that are never executed at the same time: starting a second one
 * is TESSERA_FAILED_PRECONDITION. As large as the largest of the executables needs. */
TESSERA_API tessera_code tessera_arena_create(tessera_executable *const *executables, size_t count,
                                              tessera_arena **arena);
TESSERA_API void tessera_arena_free(tessera_arena *arena);

/* Calls. */
typedef struct tessera_call_options {
  size_t struct_size;   /* sizeof(tessera_call_options) */
  const char *topology; /* as in tessera_session_options */
  double time_limit;    /* as in tessera_session_options */
  tessera_arena *arena; /* NULL: one of its own */
  /* 1: while another call executes on the arena, a step that is started waits for it instead of
   * failing. */
  int32_t queued;
  /* 1: buffers of inputs that no step takes over are not held: they stay with the caller until the
   * steps that use them are over. */
  int32_t unheld;
} tessera_call_options;

TESSERA_API tessera_code tessera_call_create(tessera_executable *executable,
                                             const tessera_call_options *options,
                                             tessera_call **call);
/* Cancels a step that is being executed, and waits for its end. */
TESSERA_API void tessera_call_free(tessera_call *call);
/* Gives an input its buffers: `count` is the number of devices that are here, buffer i lies on device
 * i. They need not be ready: a step waits for what it gets. They stay bound, and are held, until
 * others are bound; those of an input that steps take over (`donated`) are invalid from here on, and
 * others have to be bound before the next step. Not while a step is being executed. */
TESSERA_API tessera_code tessera_call_bind(tessera_call *call, size_t input,
                                           tessera_buffer *const *buffers, size_t count);
/* Starts a step. `outputs` gets output_count x devices new buffers, by output, then by device, which
 * are ready when `done` has happened (NULL: waits for it). One step of a call at a time. */
TESSERA_API tessera_code tessera_call_start(tessera_call *call, tessera_buffer **outputs,
                                            size_t output_count, tessera_event **done);
/* From any thread: the step that is being executed ends with TESSERA_CANCELLED. */
TESSERA_API void tessera_call_cancel(tessera_call *call);
/* Of the last step that has ended. */
TESSERA_API tessera_code tessera_call_counters(const tessera_call *call,
                                               tessera_counters *counters);

/* Kernels from outside (docs/outside-kernels.md): `function` computes the custom calls of this name in
 * programs that are loaded later. The process keeps it for good: the same function may be registered
 * again, another one under the same name not. */
typedef struct tessera_kernel_options {
  size_t struct_size;     /* sizeof(tessera_kernel_options) */
  void *user;             /* TesseraKernelCall's `user` */
  uint64_t scratch_bytes; /* that a call must declare, at least */
  /* Asked for each call when a program is loaded: NULL, or why the function can't compute it (a text
   * that lives on), with which loading fails. NULL: it computes any. */
  const char *(*check)(const TesseraKernelCall *call);
} tessera_kernel_options;
TESSERA_API tessera_code tessera_register_kernel(const char *name, TesseraKernel function,
                                                 const tessera_kernel_options *options);

#ifdef __cplusplus
}
#endif
#endif
