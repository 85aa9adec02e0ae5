// Reduces an image while its rows arrive, without keeping it in memory.
#ifndef REDUCTION_H
#define REDUCTION_H

#include "picture.h"

typedef struct Reduction Reduction;

// Never enlarges: the target's sides are at most the source's.
Reduction *reduction_open(int width, int height, int bands, int target_width, int target_height);
void reduction_row(Reduction *reduction, const uint8_t *row);
// The result, after the last row; frees the reduction.
Picture reduction_close(Reduction *reduction);
// The same for an image in memory.
Picture reduction_of(const Picture *picture, int target_width, int target_height);

#endif
