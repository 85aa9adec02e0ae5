// A decoded frame as an upright RGB image of the thumbnail's size.
#ifndef SHOWN_FRAME_H
#define SHOWN_FRAME_H

#include <libavformat/avformat.h>

// Scales in one step with swscale's bicubic filter, whose support grows with the factor.
void shown_frame_write(const AVFrame *frame, const AVStream *stream, const char *path);

#endif
