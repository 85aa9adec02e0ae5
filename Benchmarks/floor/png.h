// PNG through libspng.
#ifndef PNG_H
#define PNG_H

#include "picture.h"
#include "source.h"

// Decodes to the last row and writes a thumbnail.
void png_thumbnail(Source source, const char *path);
// zlib's level 6, each row with the filter that suits it.
void png_write(const Picture *picture, const char *path);

#endif
