// WebP through libwebp.
#ifndef WEBP_H
#define WEBP_H

#include "source.h"

// Decodes once; writes the attachment (JPEG, or PNG where something is transparent) and the thumbnail.
void webp_convert(Source source, const char *attachment, const char *thumbnail);

#endif
