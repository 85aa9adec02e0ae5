import AttachPrep
import MediaEngine
import RichPush

/// The members of a request's options.
enum RequestOptionSchemas {
    static let members: JSONValue = [
        "crop": [
            "description": "The part of the upright picture to show",
            "anyOf": [
                ["type": "null"],
                [
                    "type": "string", "pattern": "^smart(:[1-9][0-9]{0,3}:[1-9][0-9]{0,3})?$",
                    "description": "smart, or smart:16:9",
                ],
                crop,
            ],
        ],
        "thumbnailTime": [
            "description": "Seconds of a movie, or an animation's frame from 0, or auto",
            "anyOf": [["type": "number", "minimum": 0], ["enum": ["auto", nil]]],
        ],
        "thumbnailHidden": ["type": ["boolean", "null"]],
        "thumbnailSize": [
            "type": ["object", "null"], "required": ["width", "height"],
            "properties": ["width": side, "height": side], "description": "The box in pixels",
        ],
        "thumbnailFit": Schema.choice(ThumbnailFit.self, "Inside the box, or filling it"),
        "animation": Schema.choice(AnimationTarget.self, "What an animated image becomes"),
        "bakeRotation": ["type": ["boolean", "null"], "description": "Whether a turned movie is encoded upright"],
    ]

    private static let side: JSONValue = [
        "type": "integer", "minimum": 1, "maximum": .whole(Limits.thumbnailSidePixelsMax),
    ]

    /// The sums are looked at as well: `options.invalid_clipping_rect`.
    private static let crop: JSONValue = [
        "type": "object", "required": ["x", "y", "width", "height"],
        "description": "Unit values, origin top left; x + width and y + height are at most 1",
        "properties": [
            "x": ["type": "number", "minimum": 0, "exclusiveMaximum": 1],
            "y": ["type": "number", "minimum": 0, "exclusiveMaximum": 1],
            "width": ["type": "number", "exclusiveMinimum": 0, "maximum": 1],
            "height": ["type": "number", "exclusiveMinimum": 0, "maximum": 1],
        ],
    ]
}
