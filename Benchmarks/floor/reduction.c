// The algorithm of vips_resize: box filter down to less than three times the target, then Lanczos with three lobes, in
// floats, first vertically, then horizontally. Four floats a pixel, so that one vector is one pixel; alpha is
// premultiplied before and divided out afterwards.
#include "reduction.h"

#include <stdlib.h>
#include <string.h>

#include "taps.h"

typedef float Pixel __attribute__((vector_size(16)));
#define FAST __attribute__((target_clones("avx2,fma", "default")))

struct Reduction {
    int width, height, bands, target_width, target_height;
    // Rows and columns that are averaged to one.
    int box_across, box_down, boxed_width, boxed_height;
    uint32_t *sums;
    int summed, boxed_rows, next_output;
    Pixel *boxed;
    Taps *across, *down;
    // A ring of sums, one row for each output row in progress.
    Pixel *making;
    int making_count;
    Picture result;
};

Reduction *reduction_open(int width, int height, int bands, int target_width, int target_height) {
    Reduction *r = calloc(1, sizeof(Reduction));
    r->width = width, r->height = height, r->bands = bands;
    r->target_width = target_width, r->target_height = target_height;
    r->box_across = width / target_width / 2 > 1 ? width / target_width / 2 : 1;
    r->box_down = height / target_height / 2 > 1 ? height / target_height / 2 : 1;
    r->boxed_width = (width + r->box_across - 1) / r->box_across;
    r->boxed_height = (height + r->box_down - 1) / r->box_down;
    r->sums = calloc((size_t) width * bands, sizeof(uint32_t));
    r->boxed = aligned_alloc(16, sizeof(Pixel) * r->boxed_width);
    r->across = taps_make(r->boxed_width, target_width);
    r->down = taps_make(r->boxed_height, target_height);
    r->making_count = 2 * LOBES + 2;
    r->making = aligned_alloc(16, sizeof(Pixel) * r->boxed_width * r->making_count);
    memset(r->making, 0, sizeof(Pixel) * r->boxed_width * r->making_count);
    r->result = picture_make(target_width, target_height, bands);
    return r;
}

FAST static void add_row(uint32_t *restrict sums, const uint8_t *restrict row, int count) {
    for (int index = 0; index < count; index++) sums[index] += row[index];
}

// Premultiplies color with alpha.
FAST static void add_row_with_alpha(uint32_t *restrict sums, const uint8_t *restrict row, int width) {
    for (int x = 0; x < width; x++, sums += 4, row += 4) {
        uint32_t alpha = row[3];
        for (int band = 0; band < 3; band++) sums[band] += row[band] * alpha;
        sums[3] += alpha * 255;
    }
}

// Means over boxes of columns; the rows have been summed.
FAST static void box_row(Reduction *r, int rows) {
    int bands = r->bands;
    for (int x = 0; x < r->boxed_width; x++) {
        int first = x * r->box_across;
        int count = first + r->box_across <= r->width ? r->box_across : r->width - first;
        uint32_t sum[4] = {0, 0, 0, 0};
        for (int place = first; place < first + count; place++)
            for (int band = 0; band < bands; band++) sum[band] += r->sums[place * bands + band];
        float share = 1.0f / ((float) count * rows * (bands == 4 ? 255 : 1));
        r->boxed[x] = (Pixel){sum[0] * share, sum[1] * share, sum[2] * share, sum[3] * share};
    }
}

// A box of one row needs no sum.
FAST static void widen_row(Pixel *restrict out, const uint8_t *restrict row, int width, int bands) {
    if (bands == 3)
        for (int x = 0; x < width; x++) out[x] = (Pixel){row[x * 3], row[x * 3 + 1], row[x * 3 + 2], 0};
    else
        for (int x = 0; x < width; x++) out[x] = (Pixel){row[x], 0, 0, 0};
}

FAST static void accumulate(Pixel *restrict sums, const Pixel *restrict row, float weight, int width) {
    Pixel weights = {weight, weight, weight, weight};
    for (int x = 0; x < width; x++) sums[x] += row[x] * weights;
}

static inline uint8_t byte(float value) { return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t) (value + 0.5f); }

static inline void store(uint8_t *out, Pixel pixel, int bands) {
    float share = bands == 4 && pixel[3] > 0 ? 255 / pixel[3] : 1;
    for (int band = 0; band < bands; band++) out[band] = byte(band == 3 ? pixel[3] : pixel[band] * share);
}

FAST static void finish_row(Reduction *r, const Pixel *row, uint8_t *out) {
    for (int x = 0; x < r->target_width; x++) {
        Taps taps = r->across[x];
        const Pixel *source = row + taps.first;
        Pixel sum = {0, 0, 0, 0};
        for (int index = 0; index < taps.count; index++) {
            float weight = taps.weights[index];
            sum += source[index] * (Pixel){weight, weight, weight, weight};
        }
        store(out + x * r->bands, sum, r->bands);
    }
}

static void take_boxed_row(Reduction *r) {
    int row = r->boxed_rows++;
    for (int output = r->next_output; output < r->target_height && r->down[output].first <= row; output++) {
        Pixel *making = r->making + (size_t) (output % r->making_count) * r->boxed_width;
        accumulate(making, r->boxed, r->down[output].weights[row - r->down[output].first], r->boxed_width);
        if (row + 1 < r->down[output].first + r->down[output].count) continue;
        finish_row(r, making, r->result.pixels + (size_t) output * r->target_width * r->bands);
        memset(making, 0, sizeof(Pixel) * r->boxed_width);
        r->next_output = output + 1;
    }
}

void reduction_row(Reduction *r, const uint8_t *row) {
    if (r->box_across == 1 && r->box_down == 1 && r->bands != 4) {
        widen_row(r->boxed, row, r->width, r->bands);
        take_boxed_row(r);
        return;
    }
    if (r->bands == 4)
        add_row_with_alpha(r->sums, row, r->width);
    else
        add_row(r->sums, row, r->width * r->bands);
    int rows_before = r->boxed_rows * r->box_down;
    r->summed++;
    if (r->summed < r->box_down && rows_before + r->summed < r->height) return;
    box_row(r, r->summed);
    memset(r->sums, 0, sizeof(uint32_t) * r->width * r->bands);
    r->summed = 0;
    take_boxed_row(r);
}

Picture reduction_close(Reduction *r) {
    Picture result = r->result;
    taps_free(r->across, r->target_width);
    taps_free(r->down, r->target_height);
    free(r->sums), free(r->boxed), free(r->making), free(r);
    return result;
}

Picture reduction_of(const Picture *picture, int target_width, int target_height) {
    Reduction *r = reduction_open(picture->width, picture->height, picture->bands, target_width, target_height);
    for (int y = 0; y < picture->height; y++)
        reduction_row(r, picture->pixels + (size_t) y * picture->width * picture->bands);
    return reduction_close(r);
}
