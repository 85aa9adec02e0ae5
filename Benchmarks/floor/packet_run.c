#include "packet_run.h"

#include <stdlib.h>

void run_add(Run *run, AVPacket *packet) {
    if (run->count == run->capacity)
        run->packets = realloc(run->packets, sizeof(AVPacket *) * (run->capacity = run->capacity * 2 + 256));
    run->packets[run->count++] = av_packet_clone(packet);
}

void run_free(Run *run) {
    for (int index = 0; index < run->count; index++) av_packet_free(&run->packets[index]);
    free(run->packets);
}

Group run_group(const Run *run, int place) {
    Group group = {place, place + 1};
    while (group.first > 0 && !(run->packets[group.first]->flags & AV_PKT_FLAG_KEY)) group.first--;
    while (group.end < run->count && !(run->packets[group.end]->flags & AV_PKT_FLAG_KEY)) group.end++;
    return group;
}

int run_place(const Run *run, int64_t tick) {
    int best = 0;
    for (int index = 0; index < run->count; index++) {
        int64_t time = run->packets[index]->pts;
        if (time <= tick && (time > run->packets[best]->pts || run->packets[best]->pts > tick)) best = index;
    }
    return best;
}
