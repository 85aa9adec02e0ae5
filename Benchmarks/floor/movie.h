// Movies through libavformat, libavcodec and libswscale.
#ifndef MOVIE_H
#define MOVIE_H

#include "source.h"

// No words on standard error but our own.
void movie_quiet(void);
// The soundness check of the product's design, and a thumbnail of the frame that is shown at a time; a negative one is
// the middle. Each group of pictures is decoded once, whatever it is needed for.
void movie_thumbnail(const char *path, double seconds, const char *thumbnail);
// The frame that is shown at a time: seek, decode to it, resize, encode. Nothing is checked.
void movie_frame(const char *path, double seconds, const char *thumbnail);

#endif
