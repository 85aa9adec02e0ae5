// A decoded frame as a picture: of a thumbnail's size, upright, in RGB.
#ifndef SHOWN_FRAME_H
#define SHOWN_FRAME_H

#include <libavformat/avformat.h>

// Down to the thumbnail's size in one step, by swscale's bicubic filter, whose reach grows with the factor.
void shown_frame_write(const AVFrame *frame, const AVStream *stream, const char *path);

#endif
