#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Picture picture_make(int width, int height, int bands) {
    return (Picture){width, height, bands, malloc((size_t) width * height * bands)};
}

void picture_free(Picture *picture) {
    free(picture->pixels);
    picture->pixels = NULL;
}

// The position in the stored image of a pixel of the rotated image.
static size_t stored_index(const Picture *stored, int orientation, int x, int y) {
    int right = stored->width - 1, bottom = stored->height - 1;
    int column = x, row = y;
    switch (orientation) {
    case 2: column = right - x; break;
    case 3: column = right - x, row = bottom - y; break;
    case 4: row = bottom - y; break;
    case 5: column = y, row = x; break;
    case 6: column = y, row = bottom - x; break;
    case 7: column = right - y, row = bottom - x; break;
    case 8: column = right - y, row = x; break;
    }
    return (size_t) row * stored->width + column;
}

void picture_turn(Picture *picture, int orientation) {
    if (orientation < 2 || orientation > 8) return;
    int swaps = orientation >= 5;
    Picture turned = picture_make(
        swaps ? picture->height : picture->width, swaps ? picture->width : picture->height, picture->bands);
    uint8_t *out = turned.pixels;
    for (int y = 0; y < turned.height; y++)
        for (int x = 0; x < turned.width; x++, out += picture->bands)
            memcpy(out, picture->pixels + stored_index(picture, orientation, x, y) * picture->bands, picture->bands);
    picture_free(picture);
    *picture = turned;
}

int picture_is_transparent(const Picture *picture) {
    if (picture->bands != 4) return 0;
    size_t count = (size_t) picture->width * picture->height;
    uint8_t least = 255;
    for (size_t index = 0; index < count; index++) {
        uint8_t alpha = picture->pixels[index * 4 + 3];
        least = alpha < least ? alpha : least;
    }
    return least < 255;
}

void picture_fit(int width, int height, int box, int *fitted_width, int *fitted_height) {
    double ratio = fmin(1, fmin((double) box / width, (double) box / height));
    *fitted_width = (int) fmax(1, round(width * ratio));
    *fitted_height = (int) fmax(1, round(height * ratio));
}
