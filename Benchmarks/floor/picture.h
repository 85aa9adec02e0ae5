// Pixels in memory: 8 bits a band, rows without padding.
#ifndef PICTURE_H
#define PICTURE_H

#include <stdint.h>

typedef struct {
    int width, height;
    // 1 grey, 3 RGB, 4 RGBA (not premultiplied).
    int bands;
    uint8_t *pixels;
} Picture;

Picture picture_make(int width, int height, int bands);
void picture_free(Picture *picture);
// Turned as EXIF's orientation says, in place of the original.
void picture_turn(Picture *picture, int orientation);
// Whether any pixel is not wholly opaque.
int picture_is_transparent(const Picture *picture);
// The size that fits a box without enlarging, of a picture that is shown with these sides.
void picture_fit(int width, int height, int box, int *fitted_width, int *fitted_height);

#endif
