// A range of a movie's video packets, and its GOPs.
#ifndef PACKET_RUN_H
#define PACKET_RUN_H

#include <libavcodec/avcodec.h>

typedef struct {
    AVPacket **packets;
    int count, capacity;
} Run;

// A GOP: from a keyframe to the packet before the next one.
typedef struct {
    int first, end;
} Group;

// Appends a reference to a packet, without copying its bytes.
void run_add(Run *run, AVPacket *packet);
void run_free(Run *run);
// The GOP that contains a packet.
Group run_group(const Run *run, int place);
// The packet of the frame at a time.
int run_place(const Run *run, int64_t tick);

#endif
