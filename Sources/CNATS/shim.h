#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>
#include <stdbool.h>

// Exported by libnats, which parses the INFO of each server that it connects to, and in none of its headers: those have
// no function that tells a server's version.
bool natsConn_srvVersionAtLeast(natsConnection *connection, int major, int minor, int patch);

// Whether the server of a connection is of that version or a later one; see above for why it is declared here.
static inline bool CNATS_serverIsAtLeast(natsConnection *connection, int major, int minor, int patch) {
    return natsConn_srvVersionAtLeast(connection, major, minor, patch);
}

#endif
