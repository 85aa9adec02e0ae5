#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>
#include <stdbool.h>

// Exported by libnats but declared in none of its headers, which offer no way to read a server's version. libnats takes
// the version from the INFO of each server that it connects to.
bool natsConn_srvVersionAtLeast(natsConnection *connection, int major, int minor, int patch);

// Whether the server of a connection has at least this version.
static inline bool CNATS_serverIsAtLeast(natsConnection *connection, int major, int minor, int patch) {
    return natsConn_srvVersionAtLeast(connection, major, minor, patch);
}

#endif
