// Writes a GIF into memory, frame by frame.
#ifndef GIF_WRITER_H
#define GIF_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "palette.h"

typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} GIFWriter;

typedef struct {
    int left, top, width, height, hundredths, is_wiped;
} GIFFrame;

void gif_begin(GIFWriter *writer, int width, int height);
// Index 255, the last of the palette, is transparent.
void gif_add(GIFWriter *writer, GIFFrame frame, const Palette *palette, const uint8_t *indices);
void gif_end(GIFWriter *writer);

#endif
