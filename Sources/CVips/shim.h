#ifndef CVips_SHIM_H
#define CVips_SHIM_H
#include <vips/vips.h>
#endif
