#include "gif.h"

#include <stdlib.h>
#include <string.h>

#include "gif_reader.h"
#include "jpeg.h"
#include "picture.h"

typedef struct {
    Picture canvas;
    const uint8_t *palette;
    int frames, wanted, transparent, disposal;
    uint8_t *indices, *kept;
    // The area of the previous frame, which its disposal may clear.
    int left, top, width, height, last_disposal;
} Animation;

// Counts the frames to find the middle one, and checks the trailer.
static int walk(GIFReader reader) {
    int frames = 0;
    for (;;) {
        int block = *gif_take(&reader, 1);
        if (block == 0x3B) return frames;
        if (block == 0) continue;
        if (block == 0x2C) {
            const uint8_t *frame = gif_take(&reader, 9);
            if (frame[8] & 0x80) gif_take(&reader, 6u << (frame[8] & 7));
            frames++;
        } else if (block != 0x21) {
            fail("GIF: no block");
        }
        gif_take(&reader, 1);
        gif_skip_blocks(&reader);
    }
}

static void dispose(Animation *animation) {
    Picture *canvas = &animation->canvas;
    size_t size = (size_t) canvas->width * canvas->height * 4;
    if (animation->last_disposal == 3) memcpy(canvas->pixels, animation->kept, size);
    if (animation->last_disposal != 2) return;
    for (int y = 0; y < animation->height; y++)
        memset(canvas->pixels + ((size_t) (animation->top + y) * canvas->width + animation->left) * 4, 0,
               (size_t) animation->width * 4);
}

static int interlaced_row(int row, int height) {
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++) {
        int rows = (height - starts[pass] + steps[pass] - 1) / steps[pass];
        if (row < rows) return starts[pass] + row * steps[pass];
        row -= rows;
    }
    return 0;
}

static void draw(Animation *animation, const uint8_t *palette, int left, int top, int width, int height, int weaves) {
    Picture *canvas = &animation->canvas;
    for (int row = 0; row < height; row++) {
        int y = top + (weaves ? interlaced_row(row, height) : row);
        if (y >= canvas->height) continue;
        const uint8_t *index = animation->indices + (size_t) row * width;
        uint8_t *out = canvas->pixels + ((size_t) y * canvas->width + left) * 4;
        int visible = left + width <= canvas->width ? width : canvas->width - left;
        for (int x = 0; x < visible; x++, index++, out += 4) {
            if (*index == animation->transparent) continue;
            memcpy(out, palette + *index * 3, 3);
            out[3] = 255;
        }
    }
}

static void frame(Animation *animation, GIFReader *reader, int number) {
    const uint8_t *head = gif_take(reader, 9), *palette = animation->palette;
    int left = gif_little(head), top = gif_little(head + 2);
    int width = gif_little(head + 4), height = gif_little(head + 6);
    if (head[8] & 0x80) palette = gif_take(reader, 6u << (head[8] & 7));
    size_t count = (size_t) width * height;
    if (count > (size_t) animation->canvas.width * animation->canvas.height) fail("GIF: a frame leaves the canvas");
    gif_decompress(reader, animation->indices, (int) count);
    // Frames after the wanted one are only validated.
    if (number > animation->wanted) return;
    dispose(animation);
    if (animation->disposal == 3)
        memcpy(animation->kept, animation->canvas.pixels,
               (size_t) animation->canvas.width * animation->canvas.height * 4);
    draw(animation, palette, left, top, width, height, head[8] & 0x40);
    animation->left = left, animation->top = top, animation->width = width, animation->height = height;
    animation->last_disposal = animation->disposal;
}

static void extension(Animation *animation, GIFReader *reader) {
    if (*gif_take(reader, 1) == 0xF9) {
        const uint8_t *control = reader->bytes + reader->place;
        animation->disposal = control[1] >> 2 & 7;
        animation->transparent = control[1] & 1 ? control[4] : -1;
    }
    gif_skip_blocks(reader);
}

static void play(Animation *animation, GIFReader *reader) {
    for (int number = 0;;) {
        int block = *gif_take(reader, 1);
        if (block == 0x3B) return;
        if (block == 0x21) extension(animation, reader);
        if (block != 0x2C) continue;
        frame(animation, reader, number++);
        animation->transparent = -1, animation->disposal = 0;
    }
}

void gif_thumbnail(Source source, const char *path) {
    GIFReader reader = {source.bytes, source.size, 0};
    const uint8_t *head = gif_take(&reader, 13);
    if (memcmp(head, "GIF8", 4)) fail("GIF: no signature");
    Animation animation = {.canvas = picture_make(gif_little(head + 6), gif_little(head + 8), 4), .transparent = -1};
    if (head[10] & 0x80) animation.palette = gif_take(&reader, 6u << (head[10] & 7));
    size_t pixels = (size_t) animation.canvas.width * animation.canvas.height;
    memset(animation.canvas.pixels, 0, pixels * 4);
    animation.indices = malloc(pixels);
    animation.kept = malloc(pixels * 4);
    animation.frames = walk(reader);
    animation.wanted = animation.frames / 2;
    play(&animation, &reader);
    thumbnail_of(&animation.canvas, path);
    free(animation.indices), free(animation.kept), picture_free(&animation.canvas);
}
