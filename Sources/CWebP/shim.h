// libwebp as it is: it returns codes and jumps nowhere, so there is nothing to wrap.
#ifndef CWEBP_SHIM_H
#define CWEBP_SHIM_H

#include <webp/decode.h>
#include <webp/demux.h>

#endif
