// Up to 255 colors for the pixels of a frame, and the index of each 15-bit color.
#ifndef PALETTE_H
#define PALETTE_H

#include <stdint.h>

typedef struct {
    int count;
    uint8_t colours[256 * 3];
    uint8_t indices[32768];
} Palette;

static inline int palette_cell(const uint8_t *pixel) {
    return (pixel[0] >> 3) << 10 | (pixel[1] >> 3) << 5 | pixel[2] >> 3;
}

// A palette for the RGBA pixels that `is_used` includes.
void palette_make(Palette *palette, const uint8_t *pixels, const uint8_t *is_used, int count);

#endif
