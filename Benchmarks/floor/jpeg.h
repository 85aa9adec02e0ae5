// JPEG with the API of libjpeg-turbo.
#ifndef JPEG_H
#define JPEG_H

#include "picture.h"
#include "source.h"

// attachprep's qualities: thumbnails with 4:2:0 chroma, attachments with 4:4:4.
#define THUMBNAIL_QUALITY 85
#define FULL_QUALITY 90
#define THUMBNAIL_SIDE 300

// Decodes to the last line with shrink-on-load, which validates the file, and writes a thumbnail.
void jpeg_thumbnail(Source source, const char *path);
// Only decodes, at the shrink of a thumbnail.
void jpeg_decode(Source source);
void jpeg_write(const Picture *picture, int quality, const char *path);
// Writes a reduced image as JPEG, or as PNG if it has transparency.
void thumbnail_write(const Picture *reduced, const char *path);
// Writes a thumbnail of an image in memory.
void thumbnail_of(const Picture *picture, const char *path);

#endif
