// The source pixels of each target pixel and their weights: a Lanczos filter with three lobes.
#ifndef TAPS_H
#define TAPS_H

#define LOBES 3

typedef struct {
    int first, count;
    float *weights;
} Taps;

// One element for each target pixel.
Taps *taps_make(int source, int target);
void taps_free(Taps *taps, int count);

#endif
