// Conversion to sRGB with lcms2.
#ifndef COLORS_H
#define COLORS_H

#include <stddef.h>

#include "picture.h"

// From an ICC profile, in place; does nothing without a profile, or for grayscale.
void colors_to_srgb(Picture *picture, const void *profile, size_t size);

#endif
