#ifndef CLibAV_SHIM_H
#define CLibAV_SHIM_H
#include <libavformat/avformat.h>
#endif
