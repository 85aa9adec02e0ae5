#ifndef CLIBAV_SHIM_H
#define CLIBAV_SHIM_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/cpu.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Swift does not import macros that are built from other macros or from casts.
static const int CLibAV_errorEndOfFile = AVERROR_EOF;
static const int CLibAV_errorExit = AVERROR_EXIT;
static const int CLibAV_errorInvalidData = AVERROR_INVALIDDATA;
static const int CLibAV_errorDecoderNotFound = AVERROR_DECODER_NOT_FOUND;
static const int CLibAV_errorEncoderNotFound = AVERROR_ENCODER_NOT_FOUND;
static const int CLibAV_errorTryAgain = AVERROR(EAGAIN);
static const int CLibAV_errorInputOutput = AVERROR(EIO);
static const int CLibAV_errorInvalidArgument = AVERROR(EINVAL);
static const int CLibAV_errorNoMemory = AVERROR(ENOMEM);
static const int CLibAV_errorNotPermitted = AVERROR(EPERM);
static const int64_t CLibAV_noTimestamp = AV_NOPTS_VALUE;

#endif
