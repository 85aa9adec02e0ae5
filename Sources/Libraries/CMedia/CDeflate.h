// libdeflate unchanged: it returns codes and does not use longjmp, so it needs no wrappers.
#ifndef CDEFLATE_SHIM_H
#define CDEFLATE_SHIM_H

#include <libdeflate.h>

#endif
