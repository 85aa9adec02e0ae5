#ifndef CEMBEDDED_H
#define CEMBEDDED_H

#include <stddef.h>

/// The content of one or more files, compiled into the program: constant, so that Swift may treat it as safe.
typedef struct __attribute__((swift_attr("safe"))) {
    const unsigned char *bytes;
    size_t count;
} CEmbedded_Content;

/// The style that report, preview and dashboard share.
CEmbedded_Content CEmbedded_common_css(void);
/// The script that they share.
CEmbedded_Content CEmbedded_common_js(void);
/// The rest of the style of reports and previews.
CEmbedded_Content CEmbedded_report_css(void);
/// The rest of their script.
CEmbedded_Content CEmbedded_report_js(void);
/// The rest of the style of the dashboard.
CEmbedded_Content CEmbedded_dashboard_css(void);
/// The rest of its script.
CEmbedded_Content CEmbedded_dashboard_js(void);
/// The page of the dashboard.
CEmbedded_Content CEmbedded_dashboard_html(void);
/// Its icon.
CEmbedded_Content CEmbedded_icon_svg(void);
/// The document of `/openapi.json`.
CEmbedded_Content CEmbedded_openapi_json(void);

#endif
