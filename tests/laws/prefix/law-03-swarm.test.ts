/**
 * Law 3 for sub-agents: an agent that is killed, stopped or woken continues its prompt byte for
 * byte, and the server finds it in its cache.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import { eventually } from '../../fakes/eventually.js';
import { DRIVEN, type Reply, type Scene, setScene, userLine } from '../../fakes/skein-process.js';
import { firstBreak, promptOf } from '../prompts.js';
import { lastTexts, taskCall } from '../swarm-wire.js';

const TASK = 'Find the geese.';
const STALLS: Reply = { text: 'They were', stall: { afterEvents: 3 } };

const REPORTS: Reply = { text: 'They are here.' };
const READS: Reply = {
  thinking: 'Hm.',
  tool_use: { name: 'Read', input: { file_path: 'a.txt' } },
};

/** Agent that reads a file and reports. `reports` are its answers after the read. */
const openScoutScene = async (
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

const isScoutRequest = (request: RequestRecord): boolean => {
  const { messages } = JSON.parse(request.body.toString()) as { messages: readonly unknown[] };
  return JSON.stringify(messages.filter((message) => isUser(message))).includes(TASK);
};

const isUser = (message: unknown): boolean => (message as { role: string }).role === 'user';

const scoutRequests = ({ simulator }: Scene) => simulator.requests.filter(isScoutRequest);

/** Each request of the agent extends the previous request and reads the cached part. */
const expectLineage = (scene: Scene, count: number) => {
  const requests = scoutRequests(scene);
  expect(requests).toHaveLength(count);
  expect(firstBreak(requests.map(({ body }) => body))).toBeUndefined();
  let left = 0;
  for (const { usage } of requests) {
    const { cacheRead = 0, cacheWrite5m = 0 } = usage ?? {};
    expect(cacheRead).toBeGreaterThanOrEqual(left);
    left = cacheRead + cacheWrite5m;
    expect(left).toBeGreaterThan(5_000);
  }
};

/** Lead that stays alive, so that a second terminal can write to its agents. */
const startLead = (scene: Scene) => {
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
  ])(
    'continues its prompt after its process is killed in %s',
    async (_where, at, first, reports) => {
      const scene = await openScoutScene(kind, reports, first);
      const killed = scene.start(['-p', 'Go.', '--session-id', 'line']);
      killed.endInput();
      await eventually('the agent is answered', () => scoutRequests(scene).length === at);
      killed.kill('SIGKILL');
      await killed.ended;
      const { code, stdout } = await scene.run(['-p', '--resume', 'line']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'I see.\n' });
      expectLineage(scene, 3);
      const [before, after] = scoutRequests(scene).slice(at - 1);
      expect(promptOf(after?.body as Buffer)).toBe(promptOf(before?.body as Buffer));
    },
  );
});

describe.each(KINDS.slice(0, 2))('law 3, for %s', (_, kind) => {
  test('continues its prompt after it is stopped and resumed', async () => {
    const scene = await openScoutScene(kind, [STALLS, REPORTS]);
    const lead = startLead(scene);
    await eventually('the agent is answered', () => scoutRequests(scene).length === 2);
    expect(await scene.run(['stop', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await lead.line(({ type }) => type === 'result');
    expect(await scene.run(['resume', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await eventually('the agent continues', () => scoutRequests(scene).length === 3);
    expectLineage(scene, 3);
    lead.endInput();
    expect(await lead.ended).toMatchObject({ code: 0 });
  });

  test('continues its prompt when a letter wakes it after its end', async () => {
    const scene = await openScoutScene(kind, [REPORTS]);
    const lead = startLead(scene);
    await lead.line(({ type }) => type === 'result');
    await eventually('the agent has ended', () => scoutRequests(scene).length === 2);
    expect(await scene.run(['send', 'scout', 'And the swans?'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    await eventually('the agent is answered', () => scoutRequests(scene).length === 3);
    expect(lastTexts(scoutRequests(scene)[2] as RequestRecord)).toContain('And the swans?');
    expectLineage(scene, 3);
    lead.endInput();
    expect(await lead.ended).toMatchObject({ code: 0 });
  });
});
