#include "webp.h"

#include <stdlib.h>
#include <webp/decode.h>

#include "jpeg.h"
#include "picture.h"
#include "png.h"

void webp_convert(Source source, const char *attachment, const char *thumbnail) {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(source.bytes, source.size, &features)) fail("WebP: not readable");
    Picture picture = picture_make(features.width, features.height, features.has_alpha ? 4 : 3);
    size_t size = (size_t) picture.width * picture.height * picture.bands;
    uint8_t *decoded =
        picture.bands == 4
            ? WebPDecodeRGBAInto(source.bytes, source.size, picture.pixels, size, picture.width * 4)
            : WebPDecodeRGBInto(source.bytes, source.size, picture.pixels, size, picture.width * 3);
    if (!decoded) fail("WebP: does not decode");
    thumbnail_of(&picture, thumbnail);
    if (picture_is_transparent(&picture))
        png_write(&picture, attachment);
    else
        jpeg_write(&picture, FULL_QUALITY, attachment);
    picture_free(&picture);
}
