// Up to 255 colours for the pixels of a frame, and the index of each colour of 15 bits.
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

// Of RGBA pixels; those that `is_used` leaves out do not count.
void palette_make(Palette *palette, const uint8_t *pixels, const uint8_t *is_used, int count);

#endif
