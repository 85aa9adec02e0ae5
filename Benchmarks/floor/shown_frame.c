#include "shown_frame.h"

#include <libavutil/display.h>
#include <libswscale/swscale.h>
#include <math.h>

#include "jpeg.h"
#include "picture.h"

static int orientation(const AVStream *stream) {
    const int32_t *matrix = (const int32_t *) av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    double angle = matrix ? av_display_rotation_get(matrix) : 0;
    if (isnan(angle)) return 1;
    int quarter = ((int) lround(-angle / 90) % 4 + 4) % 4;
    return (int[]){1, 6, 3, 8}[quarter];
}

static Picture scaled(const AVFrame *frame) {
    int width, height;
    picture_fit(frame->width, frame->height, THUMBNAIL_SIDE, &width, &height);
    struct SwsContext *scaler = sws_getContext(
        frame->width, frame->height, frame->format, width, height, AV_PIX_FMT_RGB24,
        SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
    int matrix = frame->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    sws_setColorspaceDetails(scaler, sws_getCoefficients(matrix), frame->color_range == AVCOL_RANGE_JPEG,
                             sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
    Picture picture = picture_make(width, height + 1, 3);
    picture.height = height;
    uint8_t *planes[4] = {picture.pixels};
    int strides[4] = {width * 3};
    sws_scale(scaler, (const uint8_t *const *) frame->data, frame->linesize, 0, frame->height, planes, strides);
    sws_freeContext(scaler);
    return picture;
}

void shown_frame_write(const AVFrame *frame, const AVStream *stream, const char *path) {
    if (!frame->data[0]) fail("movie: the wanted picture did not come");
    Picture picture = scaled(frame);
    picture_turn(&picture, orientation(stream));
    jpeg_write(&picture, THUMBNAIL_QUALITY, path);
    picture_free(&picture);
}
