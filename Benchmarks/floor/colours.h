// Colours in sRGB, by lcms2.
#ifndef COLOURS_H
#define COLOURS_H

#include <stddef.h>

#include "picture.h"

// From an ICC profile, in place; nothing where there is none, or for grey.
void colours_to_srgb(Picture *picture, const void *profile, size_t size);

#endif
