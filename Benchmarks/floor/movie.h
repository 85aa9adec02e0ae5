// Movies through libavformat, libavcodec and libswscale.
#ifndef MOVIE_H
#define MOVIE_H

#include "source.h"

// Silences the libraries' messages on standard error.
void movie_quiet(void);
// Validates a movie like attachprep, and writes a thumbnail of the frame at a time; a negative time is the middle. Each
// GOP is decoded once.
void movie_thumbnail(const char *path, double seconds, const char *thumbnail);
// Writes the frame at a time: seek, decode, resize, encode; without validation.
void movie_frame(const char *path, double seconds, const char *thumbnail);

#endif
