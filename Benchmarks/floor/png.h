// PNG through libspng.
#ifndef PNG_H
#define PNG_H

#include "picture.h"
#include "source.h"

// Decodes to the last row and writes a thumbnail.
void png_thumbnail(Source source, const char *path);
// zlib level 6, with adaptive row filters.
void png_write(const Picture *picture, const char *path);

#endif
