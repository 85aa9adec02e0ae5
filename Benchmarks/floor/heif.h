// HEIC and AVIF through libheif.
#ifndef HEIF_H
#define HEIF_H

#include "source.h"

// Decodes once; writes the attachment and the thumbnail.
void heif_convert(Source source, const char *attachment, const char *thumbnail);

#endif
