import MediaTypes

extension DialectSample {
    /// Samples of every dialect, several for dialects with several locations.
    static let all: [DialectSample] = tutorials + services + messaging + sharedKeys + clients

    static let tutorials: [DialectSample] = [
        DialectSample("attach", #""attach":"https://c.example/a.jpg""#, [.url("attach", "https://c.example/a.jpg")]),
        DialectSample(
            "podcast",
            #""podcast-image":"https://c.example/p.png","podcast-guest":"G","podcast-link":"https://c.example""#,
            [.url("podcast-image", "https://c.example/p.png")]),
        DialectSample(
            "image-url", #""imageUrl":"https://c.example/a.jpg""#, [.url("imageUrl", "https://c.example/a.jpg")]),
    ]

    static let services: [DialectSample] = [
        DialectSample(
            "airship", #""com.urbanairship.media_attachment":{"url":"https://c.example/a.jpg"}"#,
            [.url("com.urbanairship.media_attachment.url", "https://c.example/a.jpg")]),
        DialectSample(
            "airship", #""com.urbanairship.media_attachment":{"url":["https://c.example/a.jpg"]}"#,
            [.url("com.urbanairship.media_attachment.url[0]", "https://c.example/a.jpg")]),
        DialectSample(
            "airship", #""notification":{"ios":{"media_attachment":{"url":"https://c.example/a.jpg"}}}"#,
            [.url("notification.ios.media_attachment.url", "https://c.example/a.jpg")]),
        DialectSample(
            "accengage", #""a4sid":"7","acc-atts":[{"att-url":"https://c.example/a.jpg","att-id":"x"}]"#,
            [.url("acc-atts[0].att-url", "https://c.example/a.jpg", id: "x")]),
        DialectSample(
            "fcm", #""fcm_options":{"image":"https://c.example/a.jpg"}"#,
            [.url("fcm_options.image", "https://c.example/a.jpg")]),
        DialectSample(
            "fcm", #""message":{"apns":{"payload":{"aps":{}},"fcm_options":{"image":"https://c.example/a.jpg"}}}"#,
            [.url("message.apns.fcm_options.image", "https://c.example/a.jpg")]),
        DialectSample(
            "fcm", #""apns":{"payload":{"aps":{}},"fcm_options":{"image":"https://c.example/a.jpg"}}"#,
            [.url("apns.fcm_options.image", "https://c.example/a.jpg")]),
        DialectSample(
            "onesignal", #""os_data":{"att":{"one":"https://c.example/a.jpg","two":"cat.png"}}"#,
            [
                .url("os_data.att.one", "https://c.example/a.jpg", id: "one"),
                .file("os_data.att.two", "cat.png", id: "two"),
            ]),
        DialectSample(
            "onesignal", #""att":{"id":"https://c.example/a.jpg"}"#,
            [.url("att.id", "https://c.example/a.jpg", id: "id")]),
        DialectSample(
            "onesignal", #""ios_attachments":{"id":"https://c.example/a.jpg"}"#,
            [.url("ios_attachments.id", "https://c.example/a.jpg", id: "id")]),
        DialectSample(
            "braze", #""ab":{"att":{"url":"https://c.example/a","type":"jpg"}}"#,
            [.url("ab.att.url", "https://c.example/a", type: "jpg")]),
        DialectSample(
            "braze", #""messages":{"apple_push":{"asset_url":"https://c.example/a","asset_file_type":"png"}}"#,
            [.url("messages.apple_push.asset_url", "https://c.example/a", type: "png")]),
        DialectSample(
            "braze", #""apple_push":{"asset_url":"https://c.example/a","asset_file_type":"png"}"#,
            [.url("apple_push.asset_url", "https://c.example/a", type: "png")]),
        DialectSample(
            "clevertap", #""ct_mediaUrl":"https://c.example/a.mp4","ct_mediaType":"video""#,
            [.url("ct_mediaUrl", "https://c.example/a.mp4", type: "video")]),
        DialectSample(
            "iterable", #""itbl":{"messageId":"m","attachment-url":"https://c.example/a.jpg"}"#,
            [.url("itbl.attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "batch", #""com.batch":{"at":{"u":"https://c.example/a.jpg"}}"#,
            [.url("com.batch.at.u", "https://c.example/a.jpg")]),
        DialectSample(
            "swrve", #""_sw":{"media":{"title":"T","url":"https://c.example/a.jpg"}}"#,
            [.url("_sw.media.url", "https://c.example/a.jpg")]),
        DialectSample(
            "kumulos", #""attachments":{"pictureUrl":"https://c.example/a.jpg"}"#,
            [.url("attachments.pictureUrl", "https://c.example/a.jpg")]),
        DialectSample(
            "salesforce", #""_mediaUrl":"https://c.example/a.jpg","_mediaAlt":"A cat""#,
            [.url("_mediaUrl", "https://c.example/a.jpg")]),
        DialectSample(
            "klaviyo", #""rich-media":"https://c.example/a","rich-media-type":"png""#,
            [.url("rich-media", "https://c.example/a", type: "png")]),
        DialectSample(
            "customer-io", #""CIO":{"push":{"image":"https://c.example/a.jpg","link":"app://x"}}"#,
            [.url("CIO.push.image", "https://c.example/a.jpg")]),
        DialectSample(
            "expo", #""_richContent":{"image":"https://c.example/a.jpg"}"#,
            [.url("_richContent.image", "https://c.example/a.jpg")]),
        DialectSample(
            "expo", #""body":{"_richContent":{"image":"https://c.example/a.jpg"}}"#,
            [.url("body._richContent.image", "https://c.example/a.jpg")]),
        DialectSample(
            "expo", #""data":{"_richContent":{"image":"https://c.example/a.jpg"}}"#,
            [.url("data._richContent.image", "https://c.example/a.jpg")]),
        DialectSample(
            "expo", #""to":"ExponentPushToken[x]","richContent":{"image":"https://c.example/a.jpg"}"#,
            [.url("richContent.image", "https://c.example/a.jpg")]),
        DialectSample(
            "firebase-admin", #""apns":{"payload":{"x":1},"fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}"#,
            [.url("apns.fcmOptions.imageUrl", "https://c.example/a.jpg")]),
        // https://github.com/Countly/countly-sdk-ios
        DialectSample(
            "countly", #""c":{"i":"5d3f","a":"https://c.example/a.jpg"}"#, [.url("c.a", "https://c.example/a.jpg")]),
        // https://github.com/segment-integrations/analytics-swift-engage
        DialectSample(
            "twilio-engage", #""media":["https://c.example/a.jpg","https://c.example/b.jpg"]"#,
            [.url("media[0]", "https://c.example/a.jpg")]),
        // https://www.tencentcloud.com/document/product/1024: push API
        DialectSample(
            "xinge", #""xg_media_resources":"https://c.example/a.jpg""#,
            [.url("xg_media_resources", "https://c.example/a.jpg")]),
        DialectSample(
            "moengage", #""moengage":{"media-type":"image","media-attachment":"https://c.example/a.jpg"}"#,
            [.url("moengage.media-attachment", "https://c.example/a.jpg", type: "image")]),
        // https://github.com/MotiSig-Public/ios-motisig-sdk
        DialectSample(
            "motisig", #""_motisig":{"imageUrl":"https://c.example/a.jpg"}"#,
            [.url("_motisig.imageUrl", "https://c.example/a.jpg")]),
        // https://github.com/aws-amplify/amplify-swift
        DialectSample(
            "pinpoint", #""data":{"media-url":"https://c.example/a.jpg"}"#,
            [.url("data.media-url", "https://c.example/a.jpg")]),
        // https://github.com/CleverTap/CTNotificationContent
        DialectSample(
            "clevertap",
            #""ct_mediaUrl":"https://c.example/a.jpg","ct_mediaType":"image","ct_ContentSlider":{"items":["#
                + #"{"imageUrl":"https://c.example/b.jpg"},{"imageUrl":"https://c.example/c.jpg"}]}"#,
            [
                .url("ct_mediaUrl", "https://c.example/a.jpg", type: "image"),
                .url("ct_ContentSlider.items[0].imageUrl", "https://c.example/b.jpg"),
                .url("ct_ContentSlider.items[1].imageUrl", "https://c.example/c.jpg"),
            ]),
        // https://github.com/Pushwoosh/pushwoosh-ios-sdk
        DialectSample(
            "pushwoosh", #""pw_stories":{"pages":[{"image":"https://c.example/a.jpg","duration":7}]}"#,
            [.url("pw_stories.pages[0].image", "https://c.example/a.jpg")]),
        DialectSample(
            "generic", #""my-attachment":"https://c.example/a.jpg""#,
            [.url("my-attachment", "https://c.example/a.jpg")]),
        DialectSample(
            "generic", #""media-url":"https://c.example/a.jpg""#, [.url("media-url", "https://c.example/a.jpg")]),
        DialectSample(
            "generic", #""image-url":"https://c.example/a.jpg""#, [.url("image-url", "https://c.example/a.jpg")]),
        // https://github.com/phonegap/phonegap-plugin-push/issues/2663
        DialectSample(
            "generic", #""data":{"attachment-url":"https://c.example/a.jpg"}"#,
            [.url("data.attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "mixpanel", #""mp":{},"mp_media_url":"https://c.example/a.jpg""#,
            [.url("mp_media_url", "https://c.example/a.jpg")]),
        DialectSample(
            "infobip",
            #""internalData":{"atts":[{"url":"https://c.example/a.jpg"},{"url":"https://c.example/b.jpg"}]}"#,
            [.url("internalData.atts[0].url", "https://c.example/a.jpg")]),
        DialectSample(
            "rover", #""rover":{"notification":{"attachment":{"type":"IMAGE","url":"https://c.example/a.jpg"}}}"#,
            [.url("rover.notification.attachment.url", "https://c.example/a.jpg", type: "IMAGE")]),
        DialectSample(
            "karte", #""krt_attributes":"{\"attachment_url\":\"https://c.example/a.jpg\"}""#,
            [.url("krt_attributes.attachment_url", "https://c.example/a.jpg")]),
        DialectSample(
            "adobe-journey-optimizer", #""adb_media":"https://c.example/a.jpg""#,
            [.url("adb_media", "https://c.example/a.jpg")]),
        DialectSample(
            "mapp", #""ios_apx_media":"https://c.example/a.jpg""#, [.url("ios_apx_media", "https://c.example/a.jpg")]),
        DialectSample(
            "reteno", #""es_notification_image":"https://c.example/a.jpg""#,
            [.url("es_notification_image", "https://c.example/a.jpg")]),
        DialectSample(
            "reteno", #""es_notification_images":"[\"https://c.example/a.jpg\",\"https://c.example/b.jpg\"]""#,
            [
                .url("es_notification_images[0]", "https://c.example/a.jpg"),
                .url("es_notification_images[1]", "https://c.example/b.jpg"),
            ]),
        DialectSample(
            "appcues", #""appcues_attachment_url":"https://c.example/a","appcues_attachment_type":"image/png""#,
            [.url("appcues_attachment_url", "https://c.example/a", type: "image/png")]),
        DialectSample(
            "ntfy",
            #""attachment_name":"a.jpg","attachment_type":"image/jpeg","attachment_size":7,"#
                + #""attachment_url":"https://c.example/a""#,
            [.url("attachment_url", "https://c.example/a", type: "image/jpeg")]),
        DialectSample(
            "pushward", #""media":{"url":"https://c.example/a.jpg","type":"image"}"#,
            [.url("media.url", "https://c.example/a.jpg", type: "image")]),
    ]

    /// The sources are in `MessagingDialects.swift`.
    static let messaging: [DialectSample] = [
        DialectSample(
            "appmetrica", #""yamp":{"i":"1","a":[{"i":"one","l":"https://c.example/a","t":"public.png"}]}"#,
            [.url("yamp.a[0].l", "https://c.example/a", id: "one")]),
        DialectSample(
            "webengage",
            #""source":"webengage","expandableDetails":{"style":"BIG_PICTURE","image":"https://c.example/a.jpg"}"#,
            [.url("expandableDetails.image", "https://c.example/a.jpg")]),
        DialectSample(
            "webengage",
            #""expandableDetails":{"style":"CAROUSEL_V1","items":[{"image":"https://c.example/a.jpg"},"#
                + #"{"image":"https://c.example/b.jpg"}]}"#,
            [
                .url("expandableDetails.items[0].image", "https://c.example/a.jpg"),
                .url("expandableDetails.items[1].image", "https://c.example/b.jpg"),
            ]),
        DialectSample(
            "hackle", #""hackle":{"workspaceId":1,"imageUrl":"https://c.example/a.jpg"}"#,
            [.url("hackle.imageUrl", "https://c.example/a.jpg")]),
        DialectSample(
            "notifly",
            #""notifly_attachment":"{\"attachment_type\":\"image\",\"file_extension\":\"png\",\"url\":"#
                + #"\"https://c.example/a\"}""#,
            [.url("notifly_attachment.url", "https://c.example/a", type: "png")]),
        DialectSample(
            "attentive", #""attentiveCallbackData":{"attentive_image_url":"https://c.example/a.jpg"}"#,
            [.url("attentiveCallbackData.attentive_image_url", "https://c.example/a.jpg")]),
        DialectSample(
            "pushengage", #""pe":{"tag":"t","att":"https://c.example/a.jpg"}"#,
            [.url("pe.att", "https://c.example/a.jpg")]),
        DialectSample(
            "taplytics", #""taplytics":{"image_url":"https://c.example/a.jpg"}"#,
            [.url("taplytics.image_url", "https://c.example/a.jpg")]),
        DialectSample(
            "rongcloud", #""richMediaUri":"https://c.example/a.jpg""#,
            [.url("richMediaUri", "https://c.example/a.jpg")]),
        DialectSample(
            "inngage", #""notId":"7","image":"https://c.example/a.jpg""#, [.url("image", "https://c.example/a.jpg")]),
        DialectSample(
            "nhn",
            #""content":{"default":{"title":"t","richMessage":{"media":{"sourceType":"REMOTE","mediaType":"IMAGE","#
                + #""extension":"jpg","source":"https://c.example/a"}}}}"#,
            [.url("content.default.richMessage.media.source", "https://c.example/a", type: "jpg")]),
        DialectSample(
            "clevertap", #""pt_id":"pt_basic","pt_json":"{\"pt_big_img\":\"https://c.example/a.jpg\"}""#,
            [.url("pt_json.pt_big_img", "https://c.example/a.jpg")]),
        DialectSample(
            "clevertap", #""pt_img1":"https://c.example/a.jpg","pt_img2":"https://c.example/b.jpg""#,
            [.url("pt_img1", "https://c.example/a.jpg"), .url("pt_img2", "https://c.example/b.jpg")]),
        DialectSample(
            "generic", #""images":["https://c.example/1","https://c.example/2"]"#,
            [.url("images[0]", "https://c.example/1"), .url("images[1]", "https://c.example/2")]),
        DialectSample(
            "json-text",
            #""custom":"{\"hero\":{\"imageUrl\":\"https://c.example/a\"},\"link\":\"https://c.example\"}""#,
            [.url("custom.hero.imageUrl", "https://c.example/a")]),
    ]

    static let sharedKeys: [DialectSample] = [
        DialectSample(
            "pushwoosh", #""attachment":"https://c.example/a.jpg""#, [.url("attachment", "https://c.example/a.jpg")]),
        DialectSample(
            "adobe-campaign", #""media-attachment-url":"https://c.example/a.jpg""#,
            [.url("media-attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "openhab", #""media-attachment-url":"https://c.example/a.jpg","on-click":"navigate:/x""#,
            [.url("media-attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "openhab", #""media-attachment-url":"item:Camera""#,
            [Found(path: "media-attachment-url", address: .other("item:Camera"))]),
        DialectSample(
            "adobe-mobile", #""attachment-url":"https://c.example/a.jpg""#,
            [.url("attachment-url", "https://c.example/a.jpg")], isShadowed: true),
        DialectSample(
            "adobe-mobile", #""attachment-url":"https://c.example/a.jpg","adb_m_id":"5""#,
            [.url("attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "emarsys", #""image_url":"https://c.example/a.jpg","ems":{}"#,
            [.url("image_url", "https://c.example/a.jpg")]),
        DialectSample(
            "generic", #""attachment-url":"https://c.example/a.jpg""#,
            [.url("attachment-url", "https://c.example/a.jpg")]),
        DialectSample(
            "generic", #""image_url":"https://c.example/a.jpg""#, [.url("image_url", "https://c.example/a.jpg")]),
        DialectSample("generic", #""image":"https://c.example/a.jpg""#, [.url("image", "https://c.example/a.jpg")]),
        DialectSample(
            "emarsys", #""image_url":"https://c.example/a.jpg""#, [.url("image_url", "https://c.example/a.jpg")],
            isShadowed: true),
        DialectSample(
            "emarsys", #""notification":{"imageUrl":"https://c.example/a.jpg"}"#,
            [.url("notification.imageUrl", "https://c.example/a.jpg")]),
        DialectSample(
            "blueshift", #""image_url":"https://c.example/a.jpg","bsft_message_uuid":"u""#,
            [.url("image_url", "https://c.example/a.jpg")]),
        DialectSample(
            "blueshift", #""gif_url":"https://c.example/a.gif""#, [.url("gif_url", "https://c.example/a.gif")]),
        DialectSample(
            "blueshift",
            #""carousel_elements":[{"image_url":"https://c.example/a.jpg"},{"image_url":"https://c.example/b.jpg"}]"#,
            [
                .url("carousel_elements[0].image_url", "https://c.example/a.jpg"),
                .url("carousel_elements[1].image_url", "https://c.example/b.jpg"),
            ]),
        DialectSample(
            "exponea", #""image":"https://c.example/a.jpg""#, [.url("image", "https://c.example/a.jpg")],
            isShadowed: true),
        DialectSample(
            "exponea", #""image":"https://c.example/a.jpg","source":"xnpe_platform""#,
            [.url("image", "https://c.example/a.jpg")]),
        DialectSample(
            "bark", #""image":"https://c.example/a.jpg","group":"home""#, [.url("image", "https://c.example/a.jpg")]),
        DialectSample(
            "bark", #""image":"https://c.example/a.jpg""#, [.url("image", "https://c.example/a.jpg")],
            isShadowed: true),
    ]

    static let clients: [DialectSample] = [
        DialectSample(
            "wonderpush", #""_wp":{"attachments":[{"url":"https://c.example/a.png","type":"image/png","id":"0"}]}"#,
            [.url("_wp.attachments[0].url", "https://c.example/a.png", id: "0", type: "image/png")]),
        DialectSample(
            "notifee", #""notifee_options":{"image":"https://c.example/a.jpg"}"#,
            [.url("notifee_options.image", "https://c.example/a.jpg")]),
        DialectSample(
            "home-assistant", #""attachment":{"url":"https://c.example/a.jpg","content-type":"jpeg","lazy":false}"#,
            [.url("attachment.url", "https://c.example/a.jpg", type: "jpeg")]),
        DialectSample(
            "capacitor",
            #""attachments":[{"id":"face","url":"https://c.example/a.jpg"},{"id":"b","url":"res:///b.png"}]"#,
            [
                .url("attachments[0].url", "https://c.example/a.jpg", id: "face"),
                .file("attachments[1].url", "res:///b.png", id: "b"),
            ]),
        DialectSample(
            "flutter", #""attachments":[{"identifier":"f","filePath":"cat.png"}]"#,
            [.file("attachments[0].filePath", "cat.png", id: "f")]),
    ]
}
