// libmagic needs no shim: its functions and flags import as they are.
#ifndef CMagic_SHIM_H
#define CMagic_SHIM_H

#include <magic.h>

#endif
