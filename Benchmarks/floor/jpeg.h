// JPEG through libjpeg-turbo's own API.
#ifndef JPEG_H
#define JPEG_H

#include "picture.h"
#include "source.h"

// Qualities of the product: thumbnails with halved chroma, attachments with whole.
#define THUMBNAIL_QUALITY 85
#define FULL_QUALITY 90
#define THUMBNAIL_SIDE 300

// Decodes to the last line, already smaller where the format can, and writes a thumbnail: the soundness check too.
void jpeg_thumbnail(Source source, const char *path);
// The decoder alone, at the shrink of a thumbnail.
void jpeg_decode(Source source);
void jpeg_write(const Picture *picture, int quality, const char *path);
// A reduced picture, as JPEG or, where something in it is transparent, as PNG.
void thumbnail_write(const Picture *reduced, const char *path);
// A thumbnail of a picture in memory.
void thumbnail_of(const Picture *picture, const char *path);

#endif
