// WebP through libwebp.
#ifndef WEBP_H
#define WEBP_H

#include "source.h"

// Decodes once; writes the attachment (JPEG, or PNG if it has transparency) and the thumbnail.
void webp_convert(Source source, const char *attachment, const char *thumbnail);

#endif
