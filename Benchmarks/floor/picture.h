// Pixels in memory: 8 bits a band, rows without padding.
#ifndef PICTURE_H
#define PICTURE_H

#include <stdint.h>

typedef struct {
    int width, height;
    // 1 gray, 3 RGB, 4 RGBA (not premultiplied).
    int bands;
    uint8_t *pixels;
} Picture;

Picture picture_make(int width, int height, int bands);
void picture_free(Picture *picture);
// Rotates by the EXIF orientation, in place.
void picture_turn(Picture *picture, int orientation);
// Whether any pixel is not fully opaque.
int picture_is_transparent(const Picture *picture);
// The size of an image with these sides when it is fitted into a box without enlarging.
void picture_fit(int width, int height, int box, int *fitted_width, int *fitted_height);

#endif
