// GIF, decoded here without a library.
#ifndef GIF_H
#define GIF_H

#include "source.h"

// Walks the blocks to the trailer, decodes every frame, and writes a thumbnail of the one in the middle.
void gif_thumbnail(Source source, const char *path);

#endif
