/** Side requests of a fork share its prefix (K13), and its task survives the summary. */
import { expect, test } from 'vitest';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import type { Rules } from '../../fakes/skein-process.js';
import { promptOf } from '../prompts.js';
import { bodyOf, isForkStart, lastTexts, swarmWire, taskCall, WIDE } from '../swarm-wire.js';

const SUMMARY = 'They read about geese.';
const isSummaryCall = (request: RequestRecord): boolean =>
  lastTexts(request).includes('replaced by a summary that you write now');

const read = (at: number) => ({
  tool_use: { name: 'Read', input: { file_path: 'a.txt', offset: 100 * at + 1, limit: 100 } },
});

const reads = Array.from({ length: 12 }, (_, at) => read(at + 1));

const rules: Rules = [
  { match: { lastUser: 'a summary that you write now' }, reply: SUMMARY },
  { match: { lastUser: '<fork-task>' }, reply: read(0) },
  { match: { toolResult: 'agent-report' }, reply: 'All done.' },
  { match: { turn: 0 }, reply: { thinking: 'Hm.', tool_use: [taskCall('Count the geese.')] } },
  { replies: [...reads, { text: 'Seven.' }] },
];

/** Fields that are not part of the cached prefix. */
const UNCACHED = { diagnostics: undefined, messages: undefined };

test('the summary request of a fork extends its prefix, and the fork continues its task', async () => {
  const wire = await swarmWire(rules, {
    files: { 'a.txt': 'A goose flies over the long lake.\n'.repeat(2_000) },
    options: { settings: { skein: { ...WIDE, contextWindow: 20_000 } } },
  });
  expect(await wire.say('Go.')).toBe('All done.');
  const sent = wire.sent();
  const at = sent.findIndex(isSummaryCall);
  const [before, summary, after] = sent.slice(at - 1, at + 2) as [
    RequestRecord,
    RequestRecord,
    RequestRecord,
  ];
  expect(at).toBeGreaterThan(sent.findIndex(isForkStart));

  expect(promptOf(summary.body).startsWith(promptOf(before.body))).toBe(true);
  const [beforeBody, summaryBody] = [before, summary].map((request) => ({
    ...bodyOf(request),
    ...UNCACHED,
  }));
  expect(summaryBody).toEqual(beforeBody);
  const { cacheRead = 0, cacheWrite5m = 0 } = before.usage ?? {};
  expect(summary.usage).toMatchObject({ cacheRead: cacheRead + cacheWrite5m, cacheWrite5m: 0 });

  const [opening] = bodyOf(after).messages;
  expect(JSON.stringify(opening)).toContain(SUMMARY);
  expect(JSON.stringify(opening)).toContain('Count the geese.');
});
