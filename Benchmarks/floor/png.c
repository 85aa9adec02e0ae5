#include "png.h"

#include <spng.h>
#include <stdlib.h>

#include "jpeg.h"
#include "reduction.h"

static void check(int code) {
    if (code) fail("PNG: %s", spng_strerror(code));
}

// 8 bits a band as in the file; palettes and rare formats become RGB or RGBA.
static int layout(spng_ctx *context, const struct spng_ihdr *header, int *bands) {
    struct spng_trns transparency;
    int has_alpha = header->color_type & 4 || !spng_get_trns(context, &transparency);
    int is_grey = (header->color_type == 0 && header->bit_depth <= 8) && !has_alpha;
    *bands = is_grey ? 1 : has_alpha ? 4 : 3;
    return is_grey ? SPNG_FMT_G8 : has_alpha ? SPNG_FMT_RGBA8 : SPNG_FMT_RGB8;
}

static void read_interlaced(spng_ctx *context, Reduction *reduction, int format, uint32_t height) {
    size_t size;
    check(spng_decoded_image_size(context, format, &size));
    uint8_t *pixels = malloc(size);
    check(spng_decode_image(context, pixels, size, format, SPNG_DECODE_TRNS));
    for (uint32_t row = 0; row < height; row++) reduction_row(reduction, pixels + row * (size / height));
    free(pixels);
}

static void read_rows(spng_ctx *context, Reduction *reduction, int format, size_t stride) {
    check(spng_decode_image(context, NULL, 0, format, SPNG_DECODE_TRNS | SPNG_DECODE_PROGRESSIVE));
    uint8_t *row = malloc(stride);
    int code;
    do {
        code = spng_decode_row(context, row, stride);
        if (code && code != SPNG_EOI) check(code);
        reduction_row(reduction, row);
    } while (!code);
    free(row);
}

void png_thumbnail(Source source, const char *path) {
    spng_ctx *context = spng_ctx_new(0);
    check(spng_set_png_buffer(context, source.bytes, source.size));
    struct spng_ihdr header;
    check(spng_get_ihdr(context, &header));
    int bands, width, height, format = layout(context, &header, &bands);
    picture_fit(header.width, header.height, THUMBNAIL_SIDE, &width, &height);
    Reduction *reduction = reduction_open(header.width, header.height, bands, width, height);
    if (header.interlace_method)
        read_interlaced(context, reduction, format, header.height);
    else
        read_rows(context, reduction, format, (size_t) header.width * bands);
    // Also reads the data after the pixels, so that a truncated file is detected.
    check(spng_decode_chunks(context));
    spng_ctx_free(context);
    Picture reduced = reduction_close(reduction);
    thumbnail_write(&reduced, path);
    picture_free(&reduced);
}

void png_write(const Picture *picture, const char *path) {
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    check(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1));
    check(spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 6));
    int colours = picture->bands == 4 ? SPNG_COLOR_TYPE_TRUECOLOR_ALPHA
        : picture->bands == 3 ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_GRAYSCALE;
    struct spng_ihdr header = {
        .width = picture->width, .height = picture->height, .bit_depth = 8, .color_type = colours};
    check(spng_set_ihdr(context, &header));
    size_t size = (size_t) picture->width * picture->height * picture->bands;
    check(spng_encode_image(context, picture->pixels, size, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
    int code;
    void *bytes = spng_get_png_buffer(context, &size, &code);
    check(code);
    source_write(path, bytes, size);
    free(bytes);
    spng_ctx_free(context);
}
