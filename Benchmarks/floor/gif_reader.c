#include "gif_reader.h"

#include "source.h"

enum { CODES = 4096 };

const uint8_t *gif_take(GIFReader *reader, size_t count) {
    if (count > reader->size - reader->place) fail("GIF: cut");
    reader->place += count;
    return reader->bytes + reader->place - count;
}

int gif_little(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8; }

void gif_skip_blocks(GIFReader *reader) {
    for (int size; (size = *gif_take(reader, 1));) gif_take(reader, size);
}

// The sub-blocks as one bit stream.
typedef struct {
    GIFReader *reader;
    const uint8_t *bytes;
    int left, held;
    uint32_t bits;
} Bits;

static inline int code(Bits *bits, int width) {
    while (bits->held < width) {
        if (!bits->left) {
            bits->left = *gif_take(bits->reader, 1);
            if (!bits->left) fail("GIF: a frame is cut");
            bits->bytes = gif_take(bits->reader, bits->left);
        }
        bits->bits |= (uint32_t) *bits->bytes++ << bits->held;
        bits->held += 8;
        bits->left--;
    }
    int value = bits->bits & ((1u << width) - 1);
    bits->bits >>= width;
    bits->held -= width;
    return value;
}

// A code represents pixels written before plus one: they are copied from there.
void gif_decompress(GIFReader *reader, uint8_t *out, int count) {
    static int starts[CODES], lengths[CODES];
    int root = *gif_take(reader, 1), clear = 1 << root, next = clear + 2, width = root + 1;
    int previous = -1, previous_length = 0, done = 0;
    if (root < 1 || root > 8) fail("GIF: code size %d", root);
    Bits bits = {.reader = reader};
    while (done < count) {
        int now = code(&bits, width);
        if (now == clear) {
            next = clear + 2, width = root + 1, previous = -1;
            continue;
        }
        if (previous >= 0 && next < CODES) {
            starts[next] = previous, lengths[next++] = previous_length + 1;
            if (next == 1 << width && width < 12) width++;
        }
        if (now == clear + 1 || now >= next) fail("GIF: a frame ends early or is damaged");
        previous = done;
        if (now < clear) {
            out[done++] = now;
        } else {
            int length = lengths[now] < count - done ? lengths[now] : count - done;
            const uint8_t *from = out + starts[now];
            // The newest code overlaps the bytes being written, so copy byte by byte.
            for (int index = 0; index < length; index++) out[done + index] = from[index];
            done += length;
        }
        previous_length = done - previous;
    }
    gif_skip_blocks(reader);
}
