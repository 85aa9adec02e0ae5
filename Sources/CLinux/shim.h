#ifndef CLinux_SHIM_H
#define CLinux_SHIM_H
#include <sys/socket.h>
#endif
