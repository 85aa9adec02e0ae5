// Splits the box with the largest variance of a histogram of 32,768 cells at its mean until there are 255 boxes. The
// index of a color is that of its box, so that no search is needed.
#include "palette.h"

#include <string.h>

enum { CELLS = 32768, COLOURS = 255 };

typedef struct {
    uint32_t count, sums[3];
} Cell;

typedef struct {
    int first, end, axis;
    double loss, cut;
} Box;

static Cell cells[CELLS];
static uint16_t order[CELLS];

static double component(int cell, int axis) { return (double) cells[cell].sums[axis] / cells[cell].count; }

// The error of a box as one color, its axis of largest variance, and its mean on that axis.
static Box judged(int first, int end) {
    double count = 0, sums[3] = {0}, squares[3] = {0};
    for (int place = first; place < end; place++) {
        double weight = cells[order[place]].count;
        count += weight;
        for (int axis = 0; axis < 3; axis++) {
            double value = component(order[place], axis);
            sums[axis] += weight * value;
            squares[axis] += weight * value * value;
        }
    }
    Box box = {first, end, 0, -1, 0};
    for (int axis = 0; axis < 3; axis++) {
        double loss = squares[axis] - sums[axis] * sums[axis] / count;
        if (loss > box.loss) box.loss = loss, box.axis = axis, box.cut = sums[axis] / count;
    }
    if (end - first < 2) box.loss = 0;
    return box;
}

static int parted(Box box) {
    int middle = box.first;
    for (int place = box.first; place < box.end; place++) {
        if (component(order[place], box.axis) > box.cut) continue;
        uint16_t other = order[middle];
        order[middle++] = order[place];
        order[place] = other;
    }
    return middle;
}

static int cut(Box *boxes, int count) {
    while (count < COLOURS) {
        int worst = 0;
        for (int index = 1; index < count; index++)
            if (boxes[index].loss > boxes[worst].loss) worst = index;
        if (boxes[worst].loss < 1e-3) break;
        int middle = parted(boxes[worst]);
        if (middle == boxes[worst].first || middle == boxes[worst].end) break;
        boxes[count++] = judged(middle, boxes[worst].end);
        boxes[worst] = judged(boxes[worst].first, middle);
    }
    return count;
}

void palette_make(Palette *palette, const uint8_t *pixels, const uint8_t *is_used, int count) {
    memset(cells, 0, sizeof cells);
    for (int index = 0; index < count; index++, pixels += 4) {
        if (!is_used[index]) continue;
        Cell *cell = &cells[palette_cell(pixels)];
        cell->count++;
        for (int axis = 0; axis < 3; axis++) cell->sums[axis] += pixels[axis];
    }
    int filled = 0;
    for (int cell = 0; cell < CELLS; cell++)
        if (cells[cell].count) order[filled++] = cell;
    Box boxes[COLOURS];
    palette->count = 0;
    if (!filled) return;
    boxes[0] = judged(0, filled);
    palette->count = cut(boxes, 1);
    for (int index = 0; index < palette->count; index++) {
        double pixels_in_box = 0, sums[3] = {0};
        for (int place = boxes[index].first; place < boxes[index].end; place++) {
            Cell *cell = &cells[order[place]];
            pixels_in_box += cell->count;
            for (int axis = 0; axis < 3; axis++) sums[axis] += cell->sums[axis];
            palette->indices[order[place]] = index;
        }
        for (int axis = 0; axis < 3; axis++) palette->colours[index * 3 + axis] = sums[axis] / pixels_in_box + 0.5;
    }
}
