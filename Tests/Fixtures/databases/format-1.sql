-- The queue of format 1: one job that succeeded, with result, files, a trace and a
-- pending webhook; one that failed; one that is not due yet, with an idempotency key; an upload; a campaign.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE campaign (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name text NOT NULL UNIQUE, dispatches bigint NOT NULL DEFAULT 0,
    recipients bigint NOT NULL DEFAULT 0, attached bigint NOT NULL DEFAULT 0,
    thumbnail bigint NOT NULL DEFAULT 0, plain bigint NOT NULL DEFAULT 0,
    send_longest bigint NOT NULL DEFAULT 0, attach_longest bigint NOT NULL DEFAULT 0,
    first_sent_at bigint NOT NULL, last_sent_at bigint NOT NULL, first_arrival_at bigint,
    last_arrival_at bigint, used_at bigint NOT NULL
);
INSERT INTO "campaign" VALUES(1,'summer',1,1000,0,0,0,0,0,1795576641010,1795576641010,NULL,NULL,1795576641010);
CREATE TABLE campaign_bucket (
    campaign bigint NOT NULL REFERENCES campaign (id) ON DELETE CASCADE, kind bigint NOT NULL,
    bucket bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (campaign, kind, bucket)
);
CREATE TABLE claim_state (
    id bigint PRIMARY KEY, number bigint NOT NULL, running_floor bigint NOT NULL, parked bigint NOT NULL,
    high_floor bigint NOT NULL, normal_floor bigint NOT NULL, bulk_floor bigint NOT NULL
);
INSERT INTO "claim_state" VALUES(1,0,0,0,1795861167487,1795861167487,1795861167487);
CREATE TABLE content (sha256 text PRIMARY KEY, bytes bigint NOT NULL);
INSERT INTO "content" VALUES('68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719',49469);
INSERT INTO "content" VALUES('c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76',13938);
CREATE TABLE dispatch (
    id bigint PRIMARY KEY, campaign bigint NOT NULL, sent_at bigint NOT NULL, expires_at bigint NOT NULL,
    recipients bigint NOT NULL, arrivals bigint NOT NULL DEFAULT 0, has_surplus bigint NOT NULL DEFAULT 0
);
INSERT INTO "dispatch" VALUES(-4805148298481520441,1,1795576641010,1798168641010,1000,0,0);
CREATE TABLE finished_job (id text PRIMARY KEY, state text NOT NULL, lane bigint NOT NULL, caller_id text, source text NOT NULL,
error_code text, owner text NOT NULL, host text NOT NULL, key text NOT NULL, upload text,
attempts bigint NOT NULL DEFAULT 0, losses bigint NOT NULL DEFAULT 0, created_at bigint NOT NULL,
started_at bigint, not_before bigint, not_after bigint, token bigint, worker text,
calls_back bigint NOT NULL, request text NOT NULL, secret text, error text, origin text,
batch text, idempotency_key text, finished_at bigint NOT NULL, media text, kind text, result text);
INSERT INTO "finished_job" VALUES('01a210b5-3596-73a2-97a1-60751d52627b','succeeded',1,'done','http://cdn.example/grid.jpg',NULL,'',' cdn.example','fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0-30000',NULL,1,0,1795576640919,1795576640920,NULL,NULL,NULL,NULL,1,'{"headers":{},"callbackURL":"http://backend.example/hook?key=REDACTED","source":"http://cdn.example/grid.jpg","rendition":"original","oversize":"shrink","unsupported":"convert","options":{"animation":"gif","thumbnailSize":{"width":300,"height":300},"bakeRotation":false,"thumbnailFit":"contain"},"budget":30,"id":"done"}','',NULL,NULL,NULL,NULL,1795576641010,'6c55defddd42d12e3f34fc4807167333','image','{"error":null,"timings":{"transfer":12.05,"publish":0.18,"total":70.38,"connect":0.25,"dns":0.03,"inspect":1.64,"identify":11.31,"firstByte":4.78,"render":46.76,"queue":3.32,"tls":0},"crop":null,"deviceFetch":{"wifi":0.05,"lte":0.17,"3g":0.55},"source":{"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","finalURL":"http://cdn.example/grid.jpg","bytes":49469,"url":"http://cdn.example/grid.jpg","declaredMIMEType":"image/jpeg","mimeType":"image/jpeg"},"warnings":[],"attachment":{"bytes":49469,"width":800,"height":600,"kind":"image","url":null,"uti":"public.jpeg","frames":1,"duration":null,"mimeType":"image/jpeg","file":"attachment.jpg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719"},"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","thumbnail":{"url":null,"mimeType":"image/jpeg","height":225,"width":300,"time":null,"bytes":13938,"sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","file":"thumbnail.jpg"},"id":"done","reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"outcome":"passed","options":{"thumbnailTime":null,"thumbnailHidden":null,"thumbnailClippingRect":null,"typeHint":"public.jpeg"},"schema":1}');
INSERT INTO "finished_job" VALUES('01a210b5-35a7-73d5-b303-72861c96cfb1','failed',1,'broken','http://cdn.example/junk.jpg','media.corrupt','',' cdn.example','b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff-30000',NULL,1,0,1795576640936,1795576640937,NULL,NULL,NULL,NULL,0,'{"unsupported":"convert","options":{"thumbnailFit":"contain","thumbnailSize":{"height":300,"width":300},"bakeRotation":false,"animation":"gif"},"budget":30,"source":"http://cdn.example/junk.jpg","rendition":"original","id":"broken","headers":{},"oversize":"shrink"}',NULL,'{"retryable":false,"appleCode":105,"message":"The file is damaged; send an intact one.","code":"media.corrupt"}',NULL,NULL,NULL,1795576640987,NULL,NULL,'{"error":{"message":"The file is damaged; send an intact one.","retryable":false,"code":"media.corrupt","appleCode":105},"requestDigest":"b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff","options":null,"reasons":["The file is damaged; send an intact one."],"deviceFetch":null,"source":{"sha256":"37a83a771069645c41fb1e72d982f39a442e1b2efacdf9365c8bfe2405e9a416","bytes":400,"url":"http://cdn.example/junk.jpg","finalURL":"http://cdn.example/junk.jpg","declaredMIMEType":"image/jpeg","mimeType":null},"timings":{"dns":0.01,"firstByte":3.03,"queue":1.79,"inspect":15.33,"render":0,"total":39.57,"publish":0,"transfer":0.44,"identify":12.01,"tls":0,"connect":0.37},"attachment":null,"schema":1,"id":"broken","crop":null,"thumbnail":null,"warnings":[],"outcome":"rejected"}');
CREATE TABLE idempotency (
    caller text NOT NULL, key text NOT NULL, digest text NOT NULL, created_at bigint NOT NULL,
    jobs text NOT NULL, PRIMARY KEY (caller, key)
);
INSERT INTO "idempotency" VALUES('aa842b3573f5a2c0e8cd3e7afb4945f2','campaign-7','331e8f9a82ca166fe97e239e7230369ddf3a9c92ce46f4871a75c20c30c4031e',1795576640964,'["01a210b5-35c4-7c98-9ff8-26d39bf5815b"]');
CREATE TABLE job (
    id text PRIMARY KEY, state text NOT NULL, lane bigint NOT NULL, caller_id text, source text NOT NULL,
error_code text, owner text NOT NULL, host text NOT NULL, key text NOT NULL, upload text,
attempts bigint NOT NULL DEFAULT 0, losses bigint NOT NULL DEFAULT 0, created_at bigint NOT NULL,
started_at bigint, not_before bigint, not_after bigint, token bigint, worker text,
calls_back bigint NOT NULL, request text NOT NULL, secret text, error text, origin text,
batch text, idempotency_key text, due_at bigint NOT NULL, place bigint NOT NULL, wait bigint NOT NULL DEFAULT 0,
    parked bigint NOT NULL DEFAULT 0, claim_number bigint, lease_until bigint,
    cancelling bigint NOT NULL DEFAULT 0, waits_since bigint
);
INSERT INTO "job" VALUES('01a210b5-35c4-7c98-9ff8-26d39bf5815b','queued',0,'later','http://cdn.example/grid.png',NULL,'',' cdn.example','22ea4d687ec8b63c56eda1859da6630386fc808b6b6b8e64f4d06b8c776e865d-30000',NULL,0,0,1795576640964,NULL,1798113600000,NULL,NULL,NULL,0,'{"priority":"high","headers":{},"notBefore":"2026-12-24T12:00:00.000Z","oversize":"shrink","source":"http://cdn.example/grid.png","rendition":"original","unsupported":"convert","options":{"bakeRotation":false,"thumbnailFit":"contain","thumbnailSize":{"height":300,"width":300},"animation":"gif"},"budget":30,"id":"later"}',NULL,NULL,'{"idempotencyKey":"campaign-7","trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"rojo=1"}}',NULL,'campaign-7',1798113600000,1798113600000,2,0,NULL,NULL,0,NULL);
CREATE TABLE job_tag (tag text NOT NULL, job text NOT NULL, PRIMARY KEY (tag, job));
CREATE TABLE job_line (
    id INTEGER PRIMARY KEY AUTOINCREMENT, job text NOT NULL, date bigint NOT NULL, level text NOT NULL, line text NOT NULL
);
INSERT INTO "job_line" VALUES(1,'01a210b5-35a7-73d5-b303-72861c96cfb1',1795576640938,'info','claimed attempt=1 waited=1 ms');
INSERT INTO "job_line" VALUES(2,'01a210b5-35a7-73d5-b303-72861c96cfb1',1795576640984,'info','rejected code=media.corrupt ms=40 outcome=rejected reason=The file is damaged; send an intact one. source=400');
INSERT INTO "job_line" VALUES(3,'01a210b5-35a7-73d5-b303-72861c96cfb1',1795576640986,'info','ended ms=47 state=failed');
INSERT INTO "job_line" VALUES(4,'01a210b5-3596-73a2-97a1-60751d52627b',1795576640922,'info','claimed attempt=1 waited=3 ms');
INSERT INTO "job_line" VALUES(5,'01a210b5-3596-73a2-97a1-60751d52627b',1795576640995,'info','prepared bytes=49469 ms=70 outcome=passed source=49469');
INSERT INTO "job_line" VALUES(6,'01a210b5-3596-73a2-97a1-60751d52627b',1795576641008,'info','ended ms=85 state=succeeded');
CREATE TABLE receipt (dispatch bigint NOT NULL, report blob NOT NULL, PRIMARY KEY (dispatch, report));
CREATE TABLE result (
    media text PRIMARY KEY, key text NOT NULL, manifest text NOT NULL, freshness text, fresh_until bigint,
    fetched_at bigint NOT NULL, used_at bigint NOT NULL, bytes bigint NOT NULL
);
INSERT INTO "result" VALUES('6c55defddd42d12e3f34fc4807167333','fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0-30000','{"source":{"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","bytes":49469,"url":"http://cdn.example/grid.jpg","finalURL":"http://cdn.example/grid.jpg","declaredMIMEType":"image/jpeg","mimeType":"image/jpeg"},"outcome":"passed","deviceFetch":{"wifi":0.05,"lte":0.17,"3g":0.55},"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","timings":{"dns":0.03,"queue":0.01,"firstByte":4.78,"inspect":1.64,"render":46.76,"total":70.38,"publish":0.18,"transfer":12.05,"identify":11.31,"tls":0,"connect":0.25},"crop":null,"attachment":{"frames":1,"kind":"image","duration":null,"uti":"public.jpeg","mimeType":"image/jpeg","file":"attachment.jpg","height":600,"width":800,"url":null,"bytes":49469,"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719"},"options":{"typeHint":"public.jpeg","thumbnailHidden":null,"thumbnailClippingRect":null,"thumbnailTime":null},"error":null,"schema":1,"warnings":[],"thumbnail":{"url":null,"time":null,"height":225,"file":"thumbnail.jpg","sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","width":300,"bytes":13938,"mimeType":"image/jpeg"},"reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"id":"done"}','{"validators":{"lastModified":"Wed, 25 Nov 2026 03:16:58 GMT","address":"f72bc984551dcddc52f283ac2f5dc5480239d975a9050a07017a095210b1385b"}}',NULL,1795576641018,1795576641022,63407);
INSERT INTO "result" VALUES('f99b3a5501bd5c4e7173225f917a626a','b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff-30000','{"reasons":["The file is damaged; send an intact one."],"crop":null,"options":null,"schema":1,"timings":{"identify":12.01,"queue":0.01,"publish":0,"connect":0.37,"inspect":15.33,"dns":0.01,"transfer":0.44,"render":0,"total":39.57,"tls":0,"firstByte":3.03},"source":{"url":"http://cdn.example/junk.jpg","bytes":400,"sha256":"37a83a771069645c41fb1e72d982f39a442e1b2efacdf9365c8bfe2405e9a416","mimeType":null,"finalURL":"http://cdn.example/junk.jpg","declaredMIMEType":"image/jpeg"},"thumbnail":null,"id":"broken","warnings":[],"error":{"code":"media.corrupt","appleCode":105,"message":"The file is damaged; send an intact one.","retryable":false},"outcome":"rejected","attachment":null,"requestDigest":"b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff","deviceFetch":null}',NULL,NULL,1795576640944,1795576640984,0);
CREATE TABLE result_file (
    media text NOT NULL REFERENCES result (media) ON DELETE CASCADE, name text NOT NULL,
    mime_type text NOT NULL, bytes bigint NOT NULL, sha256 text NOT NULL, PRIMARY KEY (media, name)
);
INSERT INTO "result_file" VALUES('6c55defddd42d12e3f34fc4807167333','attachment.jpg','image/jpeg',49469,'68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719');
INSERT INTO "result_file" VALUES('6c55defddd42d12e3f34fc4807167333','thumbnail.jpg','image/jpeg',13938,'c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76');
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO "setting" VALUES('schema','1');
CREATE TABLE unknown_file (name text PRIMARY KEY, found_at bigint NOT NULL);
CREATE TABLE upload (
    id text PRIMARY KEY, owner text NOT NULL, bytes bigint NOT NULL, sha256 text NOT NULL,
    created_at bigint NOT NULL, expires_at bigint NOT NULL
);
INSERT INTO "upload" VALUES('2a9b0833323c3aba6c71f50bd1b2f8ec','',29354,'a3eb5ce5e33686e701dbaaa38341ed1d385f0abff74b5ff6e738989677d1b1f9',1795576640990,1795663040990);
CREATE TABLE webhook (
    id text PRIMARY KEY, job text NOT NULL, state text NOT NULL, host text NOT NULL, url text NOT NULL,
    secret text, event text NOT NULL, body text NOT NULL, attempts bigint NOT NULL DEFAULT 0,
    created_at bigint NOT NULL, next_at bigint, lease_until bigint, ended_at bigint, last_status bigint,
    last_error text, trace text
);
INSERT INTO "webhook" VALUES('msg_01a210b535f27bcd815e37ff22d0c8ad','01a210b5-3596-73a2-97a1-60751d52627b','pending','backend.example:80','http://backend.example/hook?key=REDACTED','http://backend.example/hook?key=abc','attachment.prepared','{"data":{"attachment":{"bytes":49469,"duration":null,"file":"attachment.jpg","frames":1,"height":600,"kind":"image","mimeType":"image/jpeg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","url":"http://media.example/media/6c55defddd42d12e3f34fc4807167333/attachment.jpg","uti":"public.jpeg","width":800},"crop":null,"deviceFetch":{"3g":0.55,"lte":0.17,"wifi":0.05},"error":null,"id":"done","options":{"thumbnailClippingRect":null,"thumbnailHidden":null,"thumbnailTime":null,"typeHint":"public.jpeg"},"outcome":"passed","reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","schema":1,"source":{"bytes":49469,"declaredMIMEType":"image/jpeg","finalURL":"http://cdn.example/grid.jpg","mimeType":"image/jpeg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","url":"http://cdn.example/grid.jpg"},"thumbnail":{"bytes":13938,"file":"thumbnail.jpg","height":225,"mimeType":"image/jpeg","sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","time":null,"url":"http://media.example/media/6c55defddd42d12e3f34fc4807167333/thumbnail.jpg","width":300},"timings":{"connect":0.25,"dns":0.03,"firstByte":4.78,"identify":11.31,"inspect":1.64,"publish":0.18,"queue":3.32,"render":46.76,"tls":0,"total":70.38,"transfer":12.05},"warnings":[]},"job":{"attempts":1,"batch":null,"createdAt":"2026-11-25T03:17:20.918Z","id":"01a210b5-3596-73a2-97a1-60751d52627b","idempotencyKey":null,"state":"succeeded"},"timestamp":"2026-11-25T03:17:21.009Z","type":"attachment.prepared"}',1,1795576641010,1795576646135,NULL,NULL,NULL,NULL,'{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}');
CREATE TABLE batch (id text PRIMARY KEY, url text NOT NULL, created_at bigint NOT NULL, ended_at bigint);
CREATE TABLE action (
    id INTEGER PRIMARY KEY AUTOINCREMENT, date bigint NOT NULL, caller text, kind text NOT NULL, detail text NOT NULL
);
CREATE TABLE pause (
    target text NOT NULL, name text NOT NULL, since bigint NOT NULL, caller text, reason text,
    PRIMARY KEY (target, name)
);
CREATE TABLE worker (name text PRIMARY KEY, report text NOT NULL, seen_at bigint NOT NULL);
CREATE TABLE writer (
    slot bigint PRIMARY KEY, number bigint NOT NULL, seen_at bigint NOT NULL, queued bigint NOT NULL,
    running bigint NOT NULL, succeeded bigint NOT NULL, failed bigint NOT NULL, dead bigint NOT NULL,
    cancelled bigint NOT NULL, media_bytes bigint NOT NULL
);
INSERT INTO "writer" VALUES(0,5,1795861168487,1,0,1,1,0,0,92761);
CREATE INDEX job_queued ON job (lane, place, id) WHERE state = 'queued' AND parked = 0;
CREATE INDEX job_host_parked ON job (host, lane, place) WHERE state = 'queued' AND parked = 1;
CREATE INDEX job_key_parked ON job (key, lane, place) WHERE state = 'queued' AND parked = 2;
CREATE INDEX job_owner_parked ON job (owner, lane, place) WHERE state = 'queued' AND parked = 3;
CREATE INDEX job_not_after ON job (not_after) WHERE state = 'queued' AND not_after IS NOT NULL;
CREATE INDEX job_waits ON job (waits_since) WHERE state = 'queued' AND waits_since IS NOT NULL;
CREATE INDEX job_running ON job (claim_number) WHERE state = 'running';
CREATE INDEX job_key ON job (key);
CREATE INDEX job_upload ON job (upload) WHERE upload IS NOT NULL;
CREATE INDEX finished_listed ON finished_job (state, id, caller_id, source, error_code, kind, created_at);
CREATE INDEX finished_at ON finished_job (state, finished_at, created_at, not_before);
CREATE INDEX finished_error ON finished_job (error_code) WHERE state IN ('failed', 'dead');
CREATE INDEX finished_media ON finished_job (media, owner) WHERE media IS NOT NULL;
CREATE INDEX finished_upload ON finished_job (upload) WHERE upload IS NOT NULL;
CREATE INDEX job_named ON job (caller_id) WHERE caller_id IS NOT NULL;
CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL;
CREATE INDEX job_idempotency ON job (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX finished_named ON finished_job (caller_id, state, id) WHERE caller_id IS NOT NULL;
CREATE INDEX finished_batch ON finished_job (batch, state, id) WHERE batch IS NOT NULL;
CREATE INDEX finished_idempotency ON finished_job (idempotency_key, state, id)
WHERE idempotency_key IS NOT NULL;
CREATE INDEX finished_host ON finished_job (substr(host, instr(host, ' ') + 1), state, id);
CREATE INDEX job_tag_job ON job_tag (job);
CREATE INDEX job_line_job ON job_line (job);
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE INDEX webhook_job ON webhook (job);
CREATE INDEX webhook_state ON webhook (state, id);
CREATE INDEX webhook_due ON webhook (host, next_at) WHERE state = 'pending' AND lease_until IS NULL;
CREATE INDEX webhook_leased ON webhook (host) WHERE state = 'pending' AND lease_until IS NOT NULL;
CREATE INDEX result_key ON result (key, fetched_at);
CREATE INDEX result_use ON result (used_at);
CREATE INDEX result_file_content ON result_file (sha256);
CREATE INDEX upload_age ON upload (expires_at);
CREATE INDEX batch_open ON batch (id) WHERE ended_at IS NULL;
CREATE INDEX action_date ON action (date);
CREATE INDEX campaign_use ON campaign (used_at);
CREATE INDEX dispatch_age ON dispatch (expires_at);
COMMIT;
PRAGMA application_id = 1096044626;
