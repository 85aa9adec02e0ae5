#include "colors.h"

#include <lcms2.h>

#include "source.h"

void colors_to_srgb(Picture *picture, const void *profile, size_t size) {
    if (!size || picture->bands < 3) return;
    cmsHPROFILE source = cmsOpenProfileFromMem(profile, size), target = cmsCreate_sRGBProfile();
    cmsUInt32Number layout = picture->bands == 4 ? TYPE_RGBA_8 : TYPE_RGB_8;
    // As in libvips: relative intent with black point compensation.
    cmsHTRANSFORM change = cmsCreateTransform(source, layout, target, layout, INTENT_RELATIVE_COLORIMETRIC,
                                              cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA);
    if (!change) fail("the colour profile does not fit");
    cmsDoTransform(change, picture->pixels, picture->pixels, picture->width * picture->height);
    cmsDeleteTransform(change);
    cmsCloseProfile(source), cmsCloseProfile(target);
}
