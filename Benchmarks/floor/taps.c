#include "taps.h"

#include <math.h>
#include <stdlib.h>

static double lanczos(double x) {
    if (x == 0) return 1;
    if (fabs(x) >= LOBES) return 0;
    double angle = M_PI * x;
    return LOBES * sin(angle) * sin(angle / LOBES) / (angle * angle);
}

Taps *taps_make(int source, int target) {
    Taps *taps = malloc(sizeof(Taps) * target);
    double factor = (double) source / target;
    for (int index = 0; index < target; index++) {
        double centre = (index + 0.5) * factor - 0.5, reach = LOBES * factor, sum = 0;
        int first = (int) fmax(0, ceil(centre - reach)), last = (int) fmin(source - 1, floor(centre + reach));
        float *weights = malloc(sizeof(float) * (last - first + 1));
        for (int place = first; place <= last; place++)
            sum += weights[place - first] = (float) lanczos((place - centre) / factor);
        for (int place = first; place <= last; place++) weights[place - first] /= (float) sum;
        taps[index] = (Taps){first, last - first + 1, weights};
    }
    return taps;
}

void taps_free(Taps *taps, int count) {
    for (int index = 0; index < count; index++) free(taps[index].weights);
    free(taps);
}
