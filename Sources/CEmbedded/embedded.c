#include "CEmbedded.h"

// With `.embedInCode` SwiftPM writes array literals, for which the Swift compiler takes half a minute. Scripts are in
// the order of their dependencies.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define DEFINE(name) \
    CEmbedded_Content CEmbedded_##name(void) { return (CEmbedded_Content){name, sizeof name}; }

static const unsigned char common_css[] = {
#embed "../AttachPrepPages/Assets/base.css"
, '\n',
#embed "../AttachPrepPages/Assets/results.css"
, '\n',
#embed "../AttachPrepPages/Assets/notification.css"
};
DEFINE(common_css)

static const unsigned char common_js[] = {
#embed "../AttachPrepPages/Assets/elements.js"
, '\n',
#embed "../AttachPrepPages/Assets/formatting.js"
, '\n',
#embed "../AttachPrepPages/Assets/device.js"
, '\n',
#embed "../AttachPrepPages/Assets/notification.js"
, '\n',
#embed "../AttachPrepPages/Assets/drawing.js"
, '\n',
#embed "../AttachPrepPages/Assets/manifest-details.js"
};
DEFINE(common_js)

static const unsigned char report_css[] = {
#embed "../AttachPrepPages/Assets/report.css"
};
DEFINE(report_css)

static const unsigned char report_js[] = {
#embed "../AttachPrepPages/Assets/report-totals.js"
, '\n',
#embed "../AttachPrepPages/Assets/report-table.js"
, '\n',
#embed "../AttachPrepPages/Assets/report-details.js"
, '\n',
#embed "../AttachPrepPages/Assets/report.js"
};
DEFINE(report_js)

static const unsigned char dashboard_css[] = {
#embed "../AttachPrepPages/Assets/dashboard.css"
};
DEFINE(dashboard_css)

static const unsigned char dashboard_js[] = {
#embed "../AttachPrepPages/Assets/service.js"
, '\n',
#embed "../AttachPrepPages/Assets/routing.js"
, '\n',
#embed "../AttachPrepPages/Assets/dialogs.js"
, '\n',
#embed "../AttachPrepPages/Assets/overview.js"
, '\n',
#embed "../AttachPrepPages/Assets/workers.js"
, '\n',
#embed "../AttachPrepPages/Assets/jobs.js"
, '\n',
#embed "../AttachPrepPages/Assets/bulk.js"
, '\n',
#embed "../AttachPrepPages/Assets/job.js"
, '\n',
#embed "../AttachPrepPages/Assets/job-export.js"
, '\n',
#embed "../AttachPrepPages/Assets/webhooks.js"
, '\n',
#embed "../AttachPrepPages/Assets/cropping.js"
, '\n',
#embed "../AttachPrepPages/Assets/try.js"
, '\n',
#embed "../AttachPrepPages/Assets/try-source.js"
, '\n',
#embed "../AttachPrepPages/Assets/try-request.js"
, '\n',
#embed "../AttachPrepPages/Assets/session.js"
, '\n',
#embed "../AttachPrepPages/Assets/dashboard.js"
};
DEFINE(dashboard_js)

static const unsigned char dashboard_html[] = {
#embed "../AttachPrepPages/Assets/dashboard.html"
};
DEFINE(dashboard_html)

static const unsigned char icon_svg[] = {
#embed "../AttachPrepPages/Assets/icon.svg"
};
DEFINE(icon_svg)

static const unsigned char openapi_json[] = {
#embed "../AttachPrepService/OpenAPI/openapi.json"
};
DEFINE(openapi_json)
