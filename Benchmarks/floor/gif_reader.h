// Reads the bytes of a GIF block by block.
#ifndef GIF_READER_H
#define GIF_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *bytes;
    size_t size, place;
} GIFReader;

// The next bytes; ends the program at the end of the file.
const uint8_t *gif_take(GIFReader *reader, size_t count);
int gif_little(const uint8_t *bytes);
void gif_skip_blocks(GIFReader *reader);
// Decodes the indices of a frame whose data begin here.
void gif_decompress(GIFReader *reader, uint8_t *out, int count);

#endif
