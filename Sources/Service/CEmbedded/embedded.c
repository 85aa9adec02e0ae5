#include "CEmbedded.h"

// With `.embedInCode` SwiftPM writes array literals, for which the Swift compiler takes half a minute. Scripts are in
// the order of their dependencies. Each file ends with a line feed and needs no other separator.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define DEFINE(name) \
    CEmbedded_Content CEmbedded_##name(void) { return (CEmbedded_Content){name, sizeof name}; }

static const unsigned char common_css[] = {
#embed "../AttachPrepPages/Assets/base.css" suffix(,)
#embed "../AttachPrepPages/Assets/results.css" suffix(,)
#embed "../AttachPrepPages/Assets/notification.css" suffix(,)
#embed "../AttachPrepPages/Assets/targets.css"
};
DEFINE(common_css)

static const unsigned char common_js[] = {
#embed "../AttachPrepPages/Assets/elements.js" suffix(,)
#embed "../AttachPrepPages/Assets/formatting.js" suffix(,)
#embed "../AttachPrepPages/Assets/device.js" suffix(,)
#embed "../AttachPrepPages/Assets/notification.js" suffix(,)
#embed "../AttachPrepPages/Assets/targets.js" suffix(,)
#embed "../AttachPrepPages/Assets/drawing.js" suffix(,)
#embed "../AttachPrepPages/Assets/manifest-details.js"
};
DEFINE(common_js)

static const unsigned char report_css[] = {
#embed "../AttachPrepPages/Assets/report.css"
};
DEFINE(report_css)

static const unsigned char report_js[] = {
#embed "../AttachPrepPages/Assets/report-totals.js" suffix(,)
#embed "../AttachPrepPages/Assets/report-table.js" suffix(,)
#embed "../AttachPrepPages/Assets/report-details.js" suffix(,)
#embed "../AttachPrepPages/Assets/report.js"
};
DEFINE(report_js)

static const unsigned char dashboard_css[] = {
#embed "../AttachPrepPages/Assets/dashboard.css"
};
DEFINE(dashboard_css)

static const unsigned char dashboard_js[] = {
#embed "../AttachPrepPages/Assets/service.js" suffix(,)
#embed "../AttachPrepPages/Assets/routing.js" suffix(,)
#embed "../AttachPrepPages/Assets/dialogs.js" suffix(,)
#embed "../AttachPrepPages/Assets/overview.js" suffix(,)
#embed "../AttachPrepPages/Assets/workers.js" suffix(,)
#embed "../AttachPrepPages/Assets/history.js" suffix(,)
#embed "../AttachPrepPages/Assets/pauses.js" suffix(,)
#embed "../AttachPrepPages/Assets/actions.js" suffix(,)
#embed "../AttachPrepPages/Assets/campaigns.js" suffix(,)
#embed "../AttachPrepPages/Assets/batch.js" suffix(,)
#embed "../AttachPrepPages/Assets/jobs.js" suffix(,)
#embed "../AttachPrepPages/Assets/bulk.js" suffix(,)
#embed "../AttachPrepPages/Assets/job.js" suffix(,)
#embed "../AttachPrepPages/Assets/job-export.js" suffix(,)
#embed "../AttachPrepPages/Assets/webhooks.js" suffix(,)
#embed "../AttachPrepPages/Assets/cropping.js" suffix(,)
#embed "../AttachPrepPages/Assets/try.js" suffix(,)
#embed "../AttachPrepPages/Assets/try-source.js" suffix(,)
#embed "../AttachPrepPages/Assets/try-request.js" suffix(,)
#embed "../AttachPrepPages/Assets/session.js" suffix(,)
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
