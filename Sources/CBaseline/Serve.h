/* What the servers of this folder have in common. */
#ifndef DIARIO_CBASELINE_SERVE_H
#define DIARIO_CBASELINE_SERVE_H

#include <microhttpd.h>
#include <stdint.h>

/* The body of a request, as far as it came. */
typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} body;

/* Takes a part of a body. */
enum MHD_Result body_append(body *body, const char *bytes, size_t count);

/*
 * Serves requests by `access` on a free port of this machine, and tells the address; it returns
 * only if that fails: a negative errno. `completed` is called for each request.
 */
int serve(MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed, void *context);

#endif
