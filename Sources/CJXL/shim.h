// libjxl unchanged: it returns codes and does not use longjmp, so it needs no wrappers.
#ifndef CJXL_SHIM_H
#define CJXL_SHIM_H

#include <jxl/decode.h>

#endif
