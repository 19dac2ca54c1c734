/* What a plug-in that moves bytes between processes gives to the runtime: point-to-point messages
 * in order, and news of failed peers. C, so that the plug-in can be built apart. All functions may
 * be called by several threads. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TESSERA_TRANSPORT_ABI 6

typedef struct TesseraTransport {
  uint32_t abi; /* TESSERA_TRANSPORT_ABI */
  int32_t rank, size;
  int32_t largest_tag;
  void *state;
  /* Start a message; memory stays untouched (send) or unread (receive) until `test` says done.
   * Messages of one pair and tag arrive in order; a receive has exactly the bytes of its send, or
   * up to 64 MiB where it has more than that. Null when it cannot be started. */
  void *(*send)(void *state, int32_t peer, int32_t tag, const void *data, size_t bytes);
  void *(*receive)(void *state, int32_t peer, int32_t tag, void *data, size_t bytes);
  /* 1 when done (the request is gone then), 0 when not yet, -1 when it failed. `waits`: whoever asks
   * has nothing else to do; when all ranks wait like that for long, they wait in vain. */
  int32_t (*test)(void *state, void *request, int32_t waits);
  /* 1, and what happened in `text`, once nothing more will come of the connection: a peer failed,
   * ended or fell silent, all ranks wait for each other, or this one announced a failure. Otherwise
   * 0. Cheap. */
  int32_t (*failure)(void *state, char *text, size_t size);
  /* How many collectives this process has come to, which peers hear with its heartbeat: who waits finds
   * out which of them has come to none for long. `waits`: it waits for peers by other ways than `test`. */
  void (*report)(void *state, uint64_t collectives, int32_t waits);
  /* Tells all peers that this process failed, and why. */
  void (*announce)(void *state, const char *text);
  /* The number of the process of a peer whose memory this one may read and write, and that may do so
   * with this one's; 0: there is no such way between them. Of the ranks of one machine all may reach
   * all others, or none any. */
  int64_t (*process)(void *state, int32_t peer);
  /* Ends the connection when all ranks do so; after a failure it waits a moment for peers to hear
   * of it. */
  void (*close)(void *state);
} TesseraTransport;

/* The plug-in's entry point: fills `transport` and returns null, or says why it cannot (valid until
 * the next call of the thread). */
typedef const char *(*TesseraTransportOpen)(TesseraTransport *transport);
#define TESSERA_TRANSPORT_OPEN "tessera_transport_open"
