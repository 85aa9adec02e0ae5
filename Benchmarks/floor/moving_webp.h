// Animated WebP to GIF.
#ifndef MOVING_WEBP_H
#define MOVING_WEBP_H

#include "source.h"

// Each frame is decoded once; a palette of its own, no dithering, and only what has changed is written.
void moving_webp_convert(Source source, const char *attachment, const char *thumbnail);

#endif
