// MP3, parsed here without a library.
#ifndef MP3_H
#define MP3_H

#include "source.h"

// Walks the frames to the end and writes a thumbnail of the cover, if there is one.
void mp3_thumbnail(Source source, const char *path);

#endif
