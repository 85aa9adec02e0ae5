// A movie's streams in another container.
#ifndef REMUX_H
#define REMUX_H

// The streams as they are, in an MP4 whose index stands in front.
void remux(const char *path, const char *target);

#endif
