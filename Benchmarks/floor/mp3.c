#include "mp3.h"

#include <string.h>

#include "jpeg.h"
#include "png.h"

static unsigned big(const uint8_t *bytes, int count) {
    unsigned value = 0;
    while (count--) value = value << 8 | *bytes++;
    return value;
}

static unsigned sevens(const uint8_t *bytes) {
    return (unsigned) bytes[0] << 21 | bytes[1] << 14 | bytes[2] << 7 | bytes[3];
}

// The image in an APIC frame, after encoding, MIME type, picture type and description.
static Source picture(const uint8_t *frame, size_t size) {
    const uint8_t *end = frame + size, *place = frame + 1;
    int is_wide = frame[0] == 1 || frame[0] == 2;
    while (place < end && *place) place++;
    place += 2;
    while (place + 1 < end && (place[0] || (is_wide && place[1]))) place += 1 + is_wide;
    place += 1 + is_wide;
    return place < end ? (Source){(uint8_t *) place, end - place} : (Source){0};
}

static Source cover(const uint8_t *tag, size_t size) {
    int version = tag[3];
    if (version < 3) return (Source){0};
    for (size_t place = 10; place + 10 <= size && tag[place];) {
        size_t length = version == 4 ? sevens(tag + place + 4) : big(tag + place + 4, 4);
        if (length > size - place - 10) break;
        if (!memcmp(tag + place, "APIC", 4)) return picture(tag + place + 10, length);
        place += 10 + length;
    }
    return (Source){0};
}

// The size of the frame with this header; 0 if it is invalid.
static size_t frame_size(const uint8_t *head) {
    static const int rates[2][15] = {
        {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
        {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
    static const int samples[3] = {44100, 48000, 32000};
    int version = head[1] >> 3 & 3, rate = head[2] >> 4, sample = head[2] >> 2 & 3;
    if (head[0] != 0xFF || (head[1] & 0xE6) != 0xE2 || version == 1 || rate == 15 || !rate || sample == 3) return 0;
    int is_first = version == 3, hertz = samples[sample] >> (is_first ? 0 : version == 2 ? 1 : 2);
    return (size_t) (is_first ? 144000 : 72000) * rates[!is_first][rate] / hertz + (head[2] >> 1 & 1);
}

// The number of frames that the first one declares; 0 if absent.
static unsigned declared(const uint8_t *frame) {
    int is_first = (frame[1] >> 3 & 3) == 3, is_mono = frame[3] >> 6 == 3;
    const uint8_t *table = frame + 4 + (is_first ? is_mono ? 17 : 32 : is_mono ? 9 : 17);
    int is_table = !memcmp(table, "Xing", 4) || !memcmp(table, "Info", 4);
    return is_table && table[7] & 1 ? big(table + 8, 4) : 0;
}

void mp3_thumbnail(Source source, const char *path) {
    size_t place = 0;
    Source found = {0};
    if (source.size > 10 && !memcmp(source.bytes, "ID3", 3)) {
        place = 10 + sevens(source.bytes + 6);
        if (place > source.size) fail("MP3: the tag is cut");
        found = cover(source.bytes, place);
    }
    unsigned frames = 0, wanted = 0;
    while (place + 4 <= source.size && memcmp(source.bytes + place, "TAG", 3)) {
        size_t size = frame_size(source.bytes + place);
        if (!size || size > source.size - place) fail("MP3: no whole frame at %zu", place);
        if (!frames && !wanted && (wanted = declared(source.bytes + place)))
            ;
        else
            frames++;
        place += size;
    }
    if (!frames || (wanted && frames < wanted)) fail("MP3: frames are missing");
    if (found.size > 4 && found.bytes[0] == 0xFF) jpeg_thumbnail(found, path);
    if (found.size > 4 && found.bytes[0] == 0x89) png_thumbnail(found, path);
}
