// libwebp unchanged: it returns codes and does not use longjmp, so it needs no wrappers.
#ifndef CWEBP_SHIM_H
#define CWEBP_SHIM_H

#include <webp/decode.h>
#include <webp/demux.h>

#endif
