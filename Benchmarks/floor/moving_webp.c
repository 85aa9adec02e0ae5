#include "moving_webp.h"

#include <stdlib.h>
#include <string.h>
#include <webp/demux.h>

#include "gif_writer.h"
#include "jpeg.h"
#include "picture.h"

typedef struct {
    int width, height;
    // The previous canvas, and the pixels that are opaque now and differ from it.
    uint8_t *before, *is_used, *indices;
    // A pending frame: its disposal depends on whether the next frame clears pixels.
    uint8_t *waiting;
    int hundredths;
    GIFWriter writer;
    Palette palette;
} Conversion;

static int is_opaque(const uint8_t *pixel) { return pixel[3] >= 128; }

// The changed area, including pixels to be cleared.
static GIFFrame changed(Conversion *c, const uint8_t *next) {
    int left = c->width, top = c->height, right = -1, bottom = -1, wipes = 0;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            size_t place = (size_t) y * c->width + x;
            const uint8_t *pixel = c->waiting + place * 4;
            int differs = memcmp(pixel, c->before + place * 4, 4);
            int goes = next && is_opaque(pixel) && !is_opaque(next + place * 4);
            c->is_used[place] = is_opaque(pixel) && differs;
            wipes |= goes;
            if (!c->is_used[place] && !goes) continue;
            left = x < left ? x : left, right = x > right ? x : right;
            top = y < top ? y : top, bottom = y;
        }
    if (right < 0) left = top = right = bottom = 0;
    return (GIFFrame){left, top, right - left + 1, bottom - top + 1, c->hundredths, wipes};
}

static void write_waiting(Conversion *c, const uint8_t *next) {
    GIFFrame frame = changed(c, next);
    palette_make(&c->palette, c->waiting, c->is_used, c->width * c->height);
    uint8_t *out = c->indices;
    for (int y = frame.top; y < frame.top + frame.height; y++)
        for (int x = frame.left; x < frame.left + frame.width; x++) {
            size_t place = (size_t) y * c->width + x;
            *out++ = c->is_used[place] ? c->palette.indices[palette_cell(c->waiting + place * 4)] : 255;
        }
    gif_add(&c->writer, frame, &c->palette, c->indices);
    uint8_t *before = c->before;
    c->before = c->waiting, c->waiting = before;
    if (!frame.is_wiped) return;
    for (int y = frame.top; y < frame.top + frame.height; y++)
        memset(c->before + ((size_t) y * c->width + frame.left) * 4, 0, (size_t) frame.width * 4);
}

static void thumbnail_of_canvas(const Conversion *c, uint8_t *canvas, const char *path) {
    Picture picture = {c->width, c->height, 4, canvas};
    thumbnail_of(&picture, path);
}

void moving_webp_convert(Source source, const char *attachment, const char *thumbnail) {
    WebPData data = {source.bytes, source.size};
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, NULL);
    WebPAnimInfo info;
    if (!decoder || !WebPAnimDecoderGetInfo(decoder, &info)) fail("WebP: not readable");
    size_t pixels = (size_t) info.canvas_width * info.canvas_height;
    Conversion c = {.width = info.canvas_width, .height = info.canvas_height, .before = calloc(pixels, 4),
                    .is_used = malloc(pixels), .indices = malloc(pixels), .waiting = malloc(pixels * 4)};
    gif_begin(&c.writer, c.width, c.height);
    uint8_t *canvas;
    for (int number = 0, time, last = 0; WebPAnimDecoderGetNext(decoder, &canvas, &time); number++, last = time) {
        if (number) write_waiting(&c, canvas);
        memcpy(c.waiting, canvas, pixels * 4);
        c.hundredths = (time - last) / 10;
        if (number == (int) info.frame_count / 2) thumbnail_of_canvas(&c, canvas, thumbnail);
    }
    write_waiting(&c, NULL);
    gif_end(&c.writer);
    source_write(attachment, c.writer.bytes, c.writer.size);
    WebPAnimDecoderDelete(decoder);
    free(c.before), free(c.is_used), free(c.indices), free(c.waiting), free(c.writer.bytes);
}
