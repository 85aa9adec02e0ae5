// A picture made smaller while its rows arrive, so that it is never whole in memory.
#ifndef REDUCTION_H
#define REDUCTION_H

#include "picture.h"

typedef struct Reduction Reduction;

// Nothing is enlarged: the target's sides are at most the source's.
Reduction *reduction_open(int width, int height, int bands, int target_width, int target_height);
void reduction_row(Reduction *reduction, const uint8_t *row);
// The result, after the last row; frees the reduction.
Picture reduction_close(Reduction *reduction);
// All of that for a picture in memory.
Picture reduction_of(const Picture *picture, int target_width, int target_height);

#endif
