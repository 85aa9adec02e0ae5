// libspng unchanged: it returns codes and does not use longjmp, so it needs no wrappers.
#ifndef CSPNG_SHIM_H
#define CSPNG_SHIM_H

#include <spng.h>

#endif
