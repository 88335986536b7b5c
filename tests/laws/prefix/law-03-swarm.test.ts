/**
 * Law 3 for agents that work for another: one that is killed, stopped or woken goes on with the very
 * bytes that it sent before, and a server finds all of them in its cache.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import { DRIVEN, type Reply, type Scene, setScene, userLine } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { firstBreak, promptOf } from '../prompts.js';
import { lastTexts, taskCall } from '../swarm-wire.js';

const TASK = 'Find the geese.';
const STALLS: Reply = { text: 'They were', stall: { afterEvents: 3 } };

const REPORTS: Reply = { text: 'They are here.' };
const READS: Reply = {
  thinking: 'Hm.',
  tool_use: { name: 'Read', input: { file_path: 'a.txt' } },
};

/** An agent that reads a file and reports; `reports` are its answers to what it read. */
const opened = async (
  more: Record<string, unknown>,
  reports: readonly Reply[],
  first: readonly Reply[] = [READS],
) => {
  const scene = await setScene([
    { match: { lastUser: 'Go on' }, reply: 'They are here.' },
    { match: { lastUser: 'And the swans?' }, reply: 'They are there.' },
    { match: { lastUser: TASK }, replies: [...first] },
    { match: { toolResult: 'goose' }, replies: [...reports] },
    {
      match: { turn: 0 },
      reply: {
        text: 'I send somebody. '.repeat(100),
        tool_use: [taskCall(TASK, { name: 'scout', ...more })],
      },
    },
    { reply: 'I see.' },
  ]);
  await writeFile(join(scene.workspace, 'a.txt'), 'a goose\n'.repeat(100));
  await writeFile(join(scene.workspace, 'CLAUDE.md'), 'Be brief. ü🪿\n');
  return scene;
};

const isHis = (request: RequestRecord): boolean => {
  const { messages } = JSON.parse(request.body.toString()) as { messages: readonly unknown[] };
  return JSON.stringify(messages.filter((message) => isUser(message))).includes(TASK);
};

const isUser = (message: unknown): boolean => (message as { role: string }).role === 'user';

const hisRequests = ({ simulator }: Scene) => simulator.requests.filter(isHis);

/** Each of his requests extends the one before, and reads all that was in the cache then. */
const expectLineage = (scene: Scene, count: number) => {
  const his = hisRequests(scene);
  expect(his).toHaveLength(count);
  expect(firstBreak(his.map(({ body }) => body))).toBeUndefined();
  let left = 0;
  for (const { usage } of his) {
    const { cacheRead = 0, cacheWrite5m = 0 } = usage ?? {};
    expect(cacheRead).toBeGreaterThanOrEqual(left);
    left = cacheRead + cacheWrite5m;
    expect(left).toBeGreaterThan(5_000);
  }
};

/** A lead that stays, so that a second terminal can write to its agents. */
const driven = (scene: Scene) => {
  const lead = scene.start(DRIVEN);
  lead.say(userLine('Go.'));
  return lead;
};

const KINDS = [
  ['a fork', {}],
  ['a typed agent', { subagent_type: 'explorer' }],
  ['a fork in the background', { run_in_background: true }],
] as const;

describe.each(KINDS)('law 3, for %s', (_, kind) => {
  test.each([
    ['its first answer', 1, [STALLS, READS], [REPORTS]],
    ['a later answer', 2, [READS], [STALLS, REPORTS]],
  ])('that is killed with its process in %s', async (_where, at, first, reports) => {
    const scene = await opened(kind, reports, first);
    const killed = scene.start(['-p', 'Go.', '--session-id', 'line']);
    killed.endInput();
    await eventually('it answers', () => hisRequests(scene).length === at);
    killed.kill('SIGKILL');
    await killed.ended;
    const { code, stdout } = await scene.run(['-p', '--resume', 'line']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'I see.\n' });
    expectLineage(scene, 3);
    const [before, after] = hisRequests(scene).slice(at - 1);
    expect(promptOf(after?.body as Buffer)).toBe(promptOf(before?.body as Buffer));
  });
});

describe.each(KINDS.slice(0, 2))('law 3, for %s', (_, kind) => {
  test('that is stopped and resumed', async () => {
    const scene = await opened(kind, [STALLS, REPORTS]);
    const lead = driven(scene);
    await eventually('it answers', () => hisRequests(scene).length === 2);
    expect(await scene.run(['stop', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await lead.line(({ type }) => type === 'result');
    expect(await scene.run(['resume', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await eventually('it goes on', () => hisRequests(scene).length === 3);
    expectLineage(scene, 3);
    lead.endInput();
    expect(await lead.ended).toMatchObject({ code: 0 });
  });

  test('that has ended and is woken by a letter', async () => {
    const scene = await opened(kind, [REPORTS]);
    const lead = driven(scene);
    await lead.line(({ type }) => type === 'result');
    await eventually('it has ended', () => hisRequests(scene).length === 2);
    expect(await scene.run(['send', 'scout', 'And the swans?'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    await eventually('it answers', () => hisRequests(scene).length === 3);
    expect(lastTexts(hisRequests(scene)[2] as RequestRecord)).toContain('And the swans?');
    expectLineage(scene, 3);
    lead.endInput();
    expect(await lead.ended).toMatchObject({ code: 0 });
  });
});
