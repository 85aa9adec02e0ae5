import RichPush

/// Receipts of devices, and campaigns.
enum ReceiptPaths {
    static let all: [String: JSONValue] = [
        "/v1/receipts": [
            "post": Operation.operation(
                "takeReceipts", tag: "receipts", "Take what a device says of notifications that arrived",
                description: """
                    One receipt, or a list of up to \(Limits.receiptsMax). Each has the token of its payload, and \
                    nobody is asked for another one. Each is counted once, however often it is sent. A list is \
                    always answered with what became of each: nothing in it need be sent again. Unknown members are \
                    passed over.
                    """,
                body: [
                    "required": true,
                    "content": [
                        "application/json": [
                            "schema": [
                                "anyOf": [
                                    ["$ref": "#/components/schemas/Receipt"], ["$ref": "#/components/schemas/Receipts"],
                                ]
                            ],
                            "example": example,
                        ]
                    ],
                ],
                answers: ["200": Operation.answer("What became of them", schema: "ReceiptsTaken")],
                problems: [401, 403, 406, 413, 415, 429], isOpen: true)
        ],
        "/v1/campaigns": [
            "get": Operation.operation(
                "listCampaigns", tag: "receipts", "List campaigns, the one that began last first",
                parameters: [
                    JobPaths.limit,
                    Operation.query(
                        "cursor", "The \"next\" of the page before",
                        schema: ["type": "string", "pattern": "^[0-9]{1,18}$"]),
                ],
                answers: ["200": Operation.answer("A page", schema: "CampaignPage")], problems: [406])
        ],
        "/v1/campaigns/{name}": [
            "get": Operation.operation(
                "showCampaign", tag: "receipts", "Show a campaign",
                parameters: [Operation.path("name", "The campaign's name", schema: ReceiptSchemas.name)],
                answers: ["200": Operation.answer("The campaign", schema: "Campaign")], problems: [404, 406])
        ],
    ]

    private static let example: JSONValue = [
        "token": "AUnJhV3wOMJ2sKzXqPz3Oyb1Ya1bHn0rYQ", "id": "5E0B3C1A-6C0E-4A5F-9D55-0C4E8B2C7F11",
        "outcome": "attached", "attachSeconds": 0.84, "ageSeconds": 2.5,
    ]
}
