BEGIN TRANSACTION;
CREATE TABLE suyuan_conversations (
	id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	search BOOLEAN NOT NULL, 
	engine TEXT NOT NULL, 
	model TEXT NOT NULL, 
	lang TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	deleted_at TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "suyuan_conversations" VALUES('0s7fkpo40cfj6gnw','How long is the Tern Bridge?','chat',1,'','','en','2026-11-17T22:07:46.871402+00:00','2026-11-17T22:08:00.463696+00:00',NULL);
INSERT INTO "suyuan_conversations" VALUES('283tep6uujckv555','听潮大桥全长多少公里？','agent',1,'','','zh','2026-11-17T22:08:00.631258+00:00','2026-11-17T22:08:00.975682+00:00',NULL);
INSERT INTO "suyuan_conversations" VALUES('h3rjp9jnv8e793mo','Who lives under the Tern Bridge? FAIL','chat',1,'','','en','2026-11-17T22:08:00.986985+00:00','2026-11-17T22:08:03.463654+00:00',NULL);
INSERT INTO "suyuan_conversations" VALUES('5i3yu557llkr56rt','How long is the Tern Bridge, once more?','chat',1,'','','en','2026-11-17T22:08:03.487688+00:00','2026-11-17T22:08:03.565491+00:00','2026-11-17T22:08:03.574537+00:00');
INSERT INTO "suyuan_conversations" VALUES('kp65a2945wob3rq3','What is never answered? STALL','chat',1,'','','en','2026-11-17T22:08:03.583357+00:00','2026-11-17T22:08:03.602627+00:00',NULL);
CREATE TABLE suyuan_events (
	run TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	PRIMARY KEY (run, seq), 
	FOREIGN KEY(run) REFERENCES suyuan_messages (id) ON DELETE CASCADE
);
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',0,'{"kind":"turn.started","run":"8pe7wi5fj8xo1n8i","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"How long is the Tern Bridge?"}');
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',2,'{"kind":"search.started","step":1,"query":"How long is the Tern Bridge?","engine":""}');
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',3,'{"kind":"search.finished","step":1,"query":"How long is the Tern Bridge?","engine":"searxng","count":2,"took_ms":52,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":51,"code":null,"detail_code":null,"message":null,"cure":null,"unhonoured":[],"notes":[]}]}');
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":52}');
INSERT INTO "suyuan_events" VALUES('8pe7wi5fj8xo1n8i',5,'{"kind":"sources","round":1,"query":"How long is the Tern Bridge?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}]}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',0,'{"kind":"turn.started","run":"fgpfp1b0pk8mylv2","mode":"agent","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"听潮大桥全长多少公里"}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',2,'{"kind":"search.started","step":1,"query":"听潮大桥全长多少公里","engine":""}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',3,'{"kind":"search.finished","step":1,"query":"听潮大桥全长多少公里","engine":"searxng","count":2,"took_ms":40,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":30,"code":null,"detail_code":null,"message":null,"cure":null,"unhonoured":[],"notes":[]}]}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":40}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',5,'{"kind":"sources","round":1,"query":"听潮大桥全长多少公里","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}]}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',6,'{"kind":"step.started","step":2,"tool":"web_fetch","detail":"http://127.0.0.1:28643/qiao"}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',7,'{"kind":"step.started","step":3,"tool":"web_fetch","detail":"http://127.0.0.1:28643/bridge"}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',8,'{"kind":"page.read","step":3,"url":"http://127.0.0.1:28643/bridge","title":"The Tern Bridge","number":1,"tokens":85,"took_ms":0}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',9,'{"kind":"step.finished","step":3,"tool":"web_fetch","ok":true,"took_ms":0}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',10,'{"kind":"page.read","step":2,"url":"http://127.0.0.1:28643/qiao","title":"听潮大桥","number":2,"tokens":93,"took_ms":10}');
INSERT INTO "suyuan_events" VALUES('fgpfp1b0pk8mylv2',11,'{"kind":"step.finished","step":2,"tool":"web_fetch","ok":true,"took_ms":10}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',0,'{"kind":"turn.started","run":"lzzc1t91przx6lwx","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"Who lives under the Tern Bridge? FAIL"}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',2,'{"kind":"search.started","step":1,"query":"Who lives under the Tern Bridge? FAIL","engine":""}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',3,'{"kind":"search.failed","step":1,"query":"Who lives under the Tern Bridge? FAIL","fault":{"code":"BadGateway","detail_code":"http_5xx","texts":{"en":["searxng is out of order (HTTP 503).","Try again later, or use another engine."],"zh":["searxng 服务异常(HTTP 503)。","请稍后再试,或换用其他引擎。"]},"retryable":true},"took_ms":1503,"receipt":[{"engine":"searxng","outcome":"error","count":0,"latency_ms":10,"code":"BadGateway","detail_code":"http_5xx","message":"searxng is out of order (HTTP 503).","cure":"Try again later, or use another engine.","unhonoured":[],"notes":[]},{"engine":"searxng","outcome":"error","count":0,"latency_ms":53,"code":"BadGateway","detail_code":"http_5xx","message":"searxng is out of order (HTTP 503).","cure":"Try again later, or use another engine.","unhonoured":[],"notes":[]},{"engine":"searxng","outcome":"error","count":0,"latency_ms":38,"code":"BadGateway","detail_code":"http_5xx","message":"searxng is out of order (HTTP 503).","cure":"Try again later, or use another engine.","unhonoured":[],"notes":[]}]}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":false,"took_ms":1503}');
INSERT INTO "suyuan_events" VALUES('lzzc1t91przx6lwx',5,'{"kind":"notice","level":"warning","fault":{"code":"WebProviderError","detail_code":"http_5xx","texts":{"en":["The search failed, so this answer is not based on search results. searxng is out of order (HTTP 503).","Try again later, or use another engine. Or switch the search off."],"zh":["搜索失败,本次回答未使用搜索结果。searxng 服务异常(HTTP 503)。","请稍后再试,或换用其他引擎。 也可以关闭联网搜索。"]},"retryable":false},"guide":"searxng"}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',0,'{"kind":"turn.started","run":"sc0sy9p8u7t9qk81","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"When was it opened?"}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',2,'{"kind":"search.started","step":1,"query":"When was it opened?","engine":""}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',3,'{"kind":"search.finished","step":1,"query":"When was it opened?","engine":"searxng","count":2,"took_ms":188,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":188,"code":null,"detail_code":null,"message":null,"cure":null,"unhonoured":[],"notes":[]}]}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":188}');
INSERT INTO "suyuan_events" VALUES('sc0sy9p8u7t9qk81',5,'{"kind":"sources","round":1,"query":"When was it opened?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}]}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',0,'{"kind":"turn.started","run":"cgtcgbq5x3trkwe0","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"How long is the Tern Bridge, once more?"}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',2,'{"kind":"search.started","step":1,"query":"How long is the Tern Bridge, once more?","engine":""}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',3,'{"kind":"search.finished","step":1,"query":"How long is the Tern Bridge, once more?","engine":"searxng","count":2,"took_ms":3,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":3,"code":null,"detail_code":null,"message":null,"cure":null,"unhonoured":[],"notes":[]}]}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('cgtcgbq5x3trkwe0',5,'{"kind":"sources","round":1,"query":"How long is the Tern Bridge, once more?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}]}');
INSERT INTO "suyuan_events" VALUES('fgtduho13x8y9myd',0,'{"kind":"turn.started","run":"fgtduho13x8y9myd","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('fgtduho13x8y9myd',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"What is never answered? STALL"}');
INSERT INTO "suyuan_events" VALUES('fgtduho13x8y9myd',2,'{"kind":"search.started","step":1,"query":"What is never answered? STALL","engine":""}');
CREATE TABLE suyuan_messages (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	role TEXT NOT NULL, 
	text TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	answer TEXT, 
	position INTEGER NOT NULL, 
	owner TEXT, 
	kept_at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (conversation, position), 
	FOREIGN KEY(conversation) REFERENCES suyuan_conversations (id) ON DELETE CASCADE
);
INSERT INTO "suyuan_messages" VALUES('1nlszf9wgwqg2oug','0s7fkpo40cfj6gnw','user','How long is the Tern Bridge?','done','2026-11-17T22:08:00.207337+00:00',NULL,0,NULL,'2026-11-17T22:08:00.207337+00:00');
INSERT INTO "suyuan_messages" VALUES('8pe7wi5fj8xo1n8i','0s7fkpo40cfj6gnw','assistant','The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-17T22:08:00.260174+00:00','{"kind":"answer","text":"The Tern Bridge is 1,204 metres long[1].","markdown":"The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}],"rounds":[[1,"How long is the Tern Bridge?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":0,"end":40,"numbers":[1],"verdict":"supported","quote":"The Tern Bridge is 1,204 metres long.","link":"http://127.0.0.1:28643/bridge#:~:text=The%20Tern%20Bridge%20is%201%2C204%20metres%20long"}],"unverified":false,"stopped":false,"fault":null,"took_ms":195,"usage":{"searches":1,"fetches":0,"input_tokens":372,"output_tokens":14},"suggestions":["Tell me more about “听潮大桥”"]}',1,NULL,'2026-11-17T22:08:00.463696+00:00');
INSERT INTO "suyuan_messages" VALUES('upv6417uhsgw1ozb','283tep6uujckv555','user','听潮大桥全长多少公里？','done','2026-11-17T22:08:00.767980+00:00',NULL,0,NULL,'2026-11-17T22:08:00.767980+00:00');
INSERT INTO "suyuan_messages" VALUES('fgpfp1b0pk8mylv2','283tep6uujckv555','assistant','听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[[2]](http://127.0.0.1:28643/qiao)。

## 参考文献

### 第 1 轮搜索:“听潮大桥全长多少公里”

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1
- \[2\] [听潮大桥](http://127.0.0.1:28643/qiao) — 127.0.0.1 ✓ 已引用','done','2026-11-17T22:08:00.769644+00:00','{"kind":"answer","text":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[2]。","markdown":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[[2]](http://127.0.0.1:28643/qiao)。\n\n## 参考文献\n\n### 第 1 轮搜索:“听潮大桥全长多少公里”\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1\n- \\[2\\] [听潮大桥](http://127.0.0.1:28643/qiao) — 127.0.0.1 ✓ 已引用","mode":"agent","model":"embedded","lang":"zh","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}],"rounds":[[1,"听潮大桥全长多少公里",[1,2]]],"cited":[2],"unknown":[],"claims":[{"start":0,"end":43,"numbers":[2],"verdict":"supported","quote":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","link":"http://127.0.0.1:28643/qiao#:~:text=%E5%90%AC%E6%BD%AE%E5%A4%A7%E6%A1%A5%E5%85%A8%E9%95%BF%2036%20%E5%85%AC%E9%87%8C%EF%BC%8C%E4%BA%8E%202011%20%E5%B9%B4%E5%BB%BA%E6%88%90%E9%80%9A%E8%BD%A6%EF%BC%8C%E6%98%AF%E5%BD%93%E6%97%B6%E4%B8%96%E7%95%8C%E4%B8%8A%E6%9C%80%E9%95%BF%E7%9A%84%E8%B7%A8%E6%B5%B7%E5%A4%A7%E6%A1%A5"}],"unverified":false,"stopped":false,"fault":null,"took_ms":172,"usage":{"searches":1,"fetches":2,"input_tokens":2164,"output_tokens":33},"suggestions":["介绍一下“The Tern Bridge”"]}',1,NULL,'2026-11-17T22:08:00.975682+00:00');
INSERT INTO "suyuan_messages" VALUES('c3ueoi7cfcxlxxxm','h3rjp9jnv8e793mo','user','Who lives under the Tern Bridge? FAIL','done','2026-11-17T22:08:01.010259+00:00',NULL,0,NULL,'2026-11-17T22:08:01.010259+00:00');
INSERT INTO "suyuan_messages" VALUES('lzzc1t91przx6lwx','h3rjp9jnv8e793mo','assistant','The search did not work, so there is nothing to quote. The search failed, so there are no results. Answer from your own knowledge; make up no sources and no numbers.','done','2026-11-17T22:08:01.016058+00:00','{"kind":"answer","text":"The search did not work, so there is nothing to quote. The search failed, so there are no results. Answer from your own knowledge; make up no sources and no numbers.","markdown":"The search did not work, so there is nothing to quote. The search failed, so there are no results. Answer from your own knowledge; make up no sources and no numbers.","mode":"chat","model":"embedded","lang":"en","sources":[],"rounds":[],"cited":[],"unknown":[],"claims":[],"unverified":true,"stopped":false,"fault":null,"took_ms":1534,"usage":{"searches":1,"fetches":0,"input_tokens":238,"output_tokens":55},"suggestions":[]}',1,NULL,'2026-11-17T22:08:02.957803+00:00');
INSERT INTO "suyuan_messages" VALUES('gkh5agwu6i01olli','h3rjp9jnv8e793mo','user','When was it opened?','done','2026-11-17T22:08:02.989288+00:00',NULL,2,NULL,'2026-11-17T22:08:02.989288+00:00');
INSERT INTO "suyuan_messages" VALUES('sc0sy9p8u7t9qk81','h3rjp9jnv8e793mo','assistant','The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-17T22:08:02.989765+00:00','{"kind":"answer","text":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[1].","markdown":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}],"rounds":[[1,"When was it opened?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":38,"end":84,"numbers":[1],"verdict":"supported","quote":"It was opened in 1987 by the town of Ember.","link":"http://127.0.0.1:28643/bridge#:~:text=It%20was%20opened%20in%201987%20by%20the%20town%20of%20Ember"}],"unverified":false,"stopped":false,"fault":null,"took_ms":252,"usage":{"searches":1,"fetches":0,"input_tokens":434,"output_tokens":28},"suggestions":["Tell me more about “听潮大桥”","Tell me more about “The Tern Bridge”"]}',3,NULL,'2026-11-17T22:08:03.463654+00:00');
INSERT INTO "suyuan_messages" VALUES('0hqsxiofnxs4uzh7','5i3yu557llkr56rt','user','How long is the Tern Bridge, once more?','done','2026-11-17T22:08:03.540009+00:00',NULL,0,NULL,'2026-11-17T22:08:03.540009+00:00');
INSERT INTO "suyuan_messages" VALUES('cgtcgbq5x3trkwe0','5i3yu557llkr56rt','assistant','The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-17T22:08:03.540715+00:00','{"kind":"answer","text":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[1].","markdown":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1}],"rounds":[[1,"How long is the Tern Bridge, once more?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":38,"end":84,"numbers":[1],"verdict":"supported","quote":"It was opened in 1987 by the town of Ember.","link":"http://127.0.0.1:28643/bridge#:~:text=It%20was%20opened%20in%201987%20by%20the%20town%20of%20Ember"}],"unverified":false,"stopped":false,"fault":null,"took_ms":17,"usage":{"searches":1,"fetches":0,"input_tokens":379,"output_tokens":28},"suggestions":["Tell me more about “听潮大桥”"]}',1,NULL,'2026-11-17T22:08:03.565491+00:00');
INSERT INTO "suyuan_messages" VALUES('kqmnprdkqpgc2x8x','kp65a2945wob3rq3','user','What is never answered? STALL','done','2026-11-17T22:08:03.601287+00:00',NULL,0,NULL,'2026-11-17T22:08:03.601287+00:00');
INSERT INTO "suyuan_messages" VALUES('fgtduho13x8y9myd','kp65a2945wob3rq3','assistant','','running','2026-11-17T22:08:03.603313+00:00',NULL,1,'vm|ee29635a-9f8f-4880-b115-8f6f621bbd6f|25886|133869','2026-11-17T22:08:04.135886+00:00');
CREATE TABLE suyuan_schema (
	version INTEGER NOT NULL
);
INSERT INTO "suyuan_schema" VALUES(1);
CREATE INDEX suyuan_conversations_by_time ON suyuan_conversations (updated_at);
CREATE INDEX suyuan_messages_by_state ON suyuan_messages (state);
COMMIT;
PRAGMA user_version = 0;
