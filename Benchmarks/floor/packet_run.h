// A stretch of a movie's video packets, and the groups of pictures in it.
#ifndef PACKET_RUN_H
#define PACKET_RUN_H

#include <libavcodec/avcodec.h>

typedef struct {
    AVPacket **packets;
    int count, capacity;
} Run;

// From a key frame to the packet before the next one.
typedef struct {
    int first, end;
} Group;

// Keeps a packet, which is no copy of its bytes.
void run_add(Run *run, AVPacket *packet);
void run_free(Run *run);
// The group in which a packet stands.
Group run_group(const Run *run, int place);
// The packet of the frame that is shown at a time.
int run_place(const Run *run, int64_t tick);

#endif
