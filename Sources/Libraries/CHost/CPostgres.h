#ifndef CPOSTGRES_SHIM_H
#define CPOSTGRES_SHIM_H

#include <postgresql/libpq-fe.h>
#include <sys/ioctl.h>

// Bytes that a socket has to read, or -1: libpq does not say how much it has read. Swift cannot call ioctl(2), whose
// arguments vary.
static inline int CPostgres_bytes_to_read(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == 0 ? count : -1;
}

// Fields of an error, which are characters there: Swift imports no macros of characters.
static const int CPostgres_field_state = PG_DIAG_SQLSTATE;
static const int CPostgres_field_message = PG_DIAG_MESSAGE_PRIMARY;

#endif
