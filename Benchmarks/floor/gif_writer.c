#include "gif_writer.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 8, CODES = 4096, SLOTS = 16384 };

static void put(GIFWriter *writer, const void *bytes, size_t size) {
    if (writer->size + size > writer->capacity)
        writer->bytes = realloc(writer->bytes, writer->capacity = (writer->size + size) * 2);
    memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_byte(GIFWriter *writer, int byte) { put(writer, &(uint8_t){byte}, 1); }

static void put_little(GIFWriter *writer, int number) { put(writer, &(uint8_t[]){number, number >> 8}, 2); }

void gif_begin(GIFWriter *writer, int width, int height) {
    put(writer, "GIF89a", 6);
    put_little(writer, width), put_little(writer, height);
    put(writer, "\x70\0\0", 3);
    put(writer, "\x21\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0", 19);
}

// Bits in blocks of at most 255 bytes.
typedef struct {
    GIFWriter *writer;
    uint32_t bits;
    int held, filled;
    uint8_t block[255];
} Bits;

static void flush(Bits *bits) {
    if (!bits->filled) return;
    put_byte(bits->writer, bits->filled);
    put(bits->writer, bits->block, bits->filled);
    bits->filled = 0;
}

static inline void put_code(Bits *bits, int code, int width) {
    bits->bits |= (uint32_t) code << bits->held;
    bits->held += width;
    while (bits->held >= 8) {
        bits->block[bits->filled++] = bits->bits;
        bits->bits >>= 8, bits->held -= 8;
        if (bits->filled == 255) flush(bits);
    }
}

// A hash table of strings, by prefix and last index.
static void compress(GIFWriter *writer, const uint8_t *indices, int count) {
    static uint32_t keys[SLOTS];
    static uint16_t codes[SLOTS];
    const int clear = 1 << ROOT;
    Bits bits = {.writer = writer};
    int width = ROOT + 1, next = clear + 2, prefix = indices[0];
    memset(keys, 0xFF, sizeof keys);
    put_byte(writer, ROOT);
    put_code(&bits, clear, width);
    for (int place = 1; place < count; place++) {
        uint32_t key = (uint32_t) prefix << 8 | indices[place], slot = (key * 0x9E3779B1u) >> 18;
        while (keys[slot] != key && keys[slot] != 0xFFFFFFFF) slot = (slot + 1) & (SLOTS - 1);
        if (keys[slot] == key) {
            prefix = codes[slot];
            continue;
        }
        put_code(&bits, prefix, width);
        prefix = indices[place];
        if (next == CODES) {
            put_code(&bits, clear, width);
            memset(keys, 0xFF, sizeof keys);
            width = ROOT + 1, next = clear + 2;
        } else {
            if (next == 1 << width) width++;
            keys[slot] = key, codes[slot] = next++;
        }
    }
    put_code(&bits, prefix, width);
    // The decoder's table is one code ahead here.
    if (next == 1 << width && width < 12) width++;
    put_code(&bits, clear + 1, width);
    put_code(&bits, 0, 7);
    flush(&bits);
    put_byte(writer, 0);
}

void gif_add(GIFWriter *writer, GIFFrame frame, const Palette *palette, const uint8_t *indices) {
    put(writer, "\x21\xF9\x04", 3);
    put_byte(writer, (frame.is_wiped ? 2 : 1) << 2 | 1);
    put_little(writer, frame.hundredths);
    put(writer, "\xFF\0\x2C", 3);
    put_little(writer, frame.left), put_little(writer, frame.top);
    put_little(writer, frame.width), put_little(writer, frame.height);
    put_byte(writer, 0x87);
    put(writer, palette->colours, sizeof palette->colours);
    compress(writer, indices, frame.width * frame.height);
}

void gif_end(GIFWriter *writer) { put_byte(writer, 0x3B); }
