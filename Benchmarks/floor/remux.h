// A movie's streams in another container.
#ifndef REMUX_H
#define REMUX_H

// Copies the streams into an MP4 with its index at the front.
void remux(const char *path, const char *target);

#endif
