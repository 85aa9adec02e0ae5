// libspng as it is: it returns codes and jumps nowhere, so there is nothing to wrap.
#ifndef CSPNG_SHIM_H
#define CSPNG_SHIM_H

#include <spng.h>

#endif
