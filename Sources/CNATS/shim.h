// The NATS client needs no shim: its functions and codes import as they are.
#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>

#endif
