// Animated WebP to GIF.
#ifndef MOVING_WEBP_H
#define MOVING_WEBP_H

#include "source.h"

// Each frame is decoded once and written with a local palette, without dithering, and only where it changed.
void moving_webp_convert(Source source, const char *attachment, const char *thumbnail);

#endif
