// Which pixels of a row make one of a smaller row, and how much each counts: Lanczos' filter with three lobes.
#ifndef TAPS_H
#define TAPS_H

#define LOBES 3

typedef struct {
    int first, count;
    float *weights;
} Taps;

// One for each pixel of the target.
Taps *taps_make(int source, int target);
void taps_free(Taps *taps, int count);

#endif
