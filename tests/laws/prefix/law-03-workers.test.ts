/**
 * Laws 2 and 3 for agents on workers: a fork sends the prefix of its parent and siblings there, and
 * an agent that another worker takes over continues its prompt byte for byte.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import { backgroundTask, begins } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import type { Reply, Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';
import { firstBreak, promptOf } from '../prompts.js';
import { bodyOf, isForkStart, lastTexts, turnsIn } from '../swarm-wire.js';

const FLAGS = [
  '--effort',
  'low',
  '--append-system-prompt',
  'Mind the geese. ü🪿',
  '--settings',
  JSON.stringify({ skein: { maxOutputTokens: 4_321 } }),
];
const LEAD = ['-p', 'Begin', '--session-id', 'one', ...FLAGS];
const STALLS: Reply = { text: 'They were', stall: { afterEvents: 3 } };
const READS: Reply = { thinking: 'Hm.', tool_use: { name: 'Read', input: { file_path: 'a.txt' } } };

const openScene = async (rules: Rules, env: Record<string, string> = {}) => {
  const scene = await workerScene(rules, env);
  await writeFile(join(scene.workspace, 'a.txt'), 'a goose\n'.repeat(100));
  await writeFile(join(scene.workspace, 'CLAUDE.md'), 'Be brief. ü🪿\n');
  return scene;
};

const sent = ({ simulator }: WorkerScene) =>
  simulator.requests.filter(({ path }) => path === '/v1/messages');

/** Start of the last block of the newest message, the only part that may differ. */
const directiveAt = ({ body }: RequestRecord): number => {
  const last = bodyOf({ body }).messages.at(-1).content.at(-1);
  return body.length - Buffer.byteLength(`${JSON.stringify(last)}]}]}`);
};

needs.describe('redis')('laws 2 and 3, for forks on workers', () => {
  test("send the same prompt up to their directive, which extends the parent's request", async () => {
    const parts = [0, 1, 2, 3].map((part) => backgroundTask(`Do part ${part}.`));
    // One fork runs in the process of the lead.
    parts.push({ name: 'Task', input: { description: 'Part 4', prompt: 'Do part 4.' } } as never);
    const scene = await openScene([
      { match: { lastUser: '<fork-task>' }, reply: 'This part is done.' },
      { match: { firstUser: 'Begin', turn: 0 }, reply: READS },
      {
        match: { firstUser: 'Begin', turn: 1 },
        reply: { thinking: 'So.', text: 'I send some.', tool_use: parts },
      },
      { match: { firstUser: 'Begin' }, reply: 'I see.' },
    ]);
    const workers = await Promise.all([scene.worker(), scene.worker()]);
    expect(await scene.run(LEAD)).toMatchObject({ code: 0 });
    const forks = sent(scene).filter(isForkStart);
    expect(new Set(forks.map((fork) => /part \d/.exec(lastTexts(fork))?.[0])).size).toBe(5);
    const parent = sent(scene).find((request) => turnsIn(request) === 1) as RequestRecord;
    const [first] = forks as [RequestRecord];
    for (const fork of forks) {
      expect(promptOf(fork.body).startsWith(promptOf(parent.body))).toBe(true);
      const at = directiveAt(fork);
      expect(fork.body.subarray(0, at)).toEqual(first.body.subarray(0, directiveAt(first)));
      expect(fork.headers['anthropic-beta']).toBe(parent.headers['anthropic-beta']);
      expect(bodyOf(fork)).toMatchObject({ max_tokens: 4_321 });
    }
    const started = workers.map(({ stderr }) => stderr.split('is started').length - 1);
    expect(started.reduce((sum, count) => sum + count, 0)).toBe(4);
  });
});

needs.describe('redis')('law 3, for an agent that another worker takes over', () => {
  test.each([
    ['a typed agent', { subagent_type: 'explorer' }],
    ['a fork', {}],
  ])('%s continues its prompt byte for byte', async (_, kind) => {
    const scene = await openScene(
      [
        { match: { lastUser: 'Find the geese' }, reply: READS },
        { match: { toolResult: 'a goose' }, replies: [STALLS, { text: 'They are here.' }] },
        ...begins(backgroundTask('Find the geese', { description: 'One part', ...kind })),
      ],
      SOON,
    );
    const first = await scene.worker();
    const lead = scene.begin(LEAD);
    const childRequests = () =>
      sent(scene).filter(({ body }) =>
        JSON.stringify(bodyOf({ body }).messages.filter(isUser)).includes('Find the geese'),
      );
    await eventually('the agent is answered', () => childRequests().length === 2);
    first.kill('SIGKILL');
    await first.ended;
    // The settings of the worker do not apply, because the lead's settings count.
    await scene.worker(['--settings', JSON.stringify({ skein: { maxOutputTokens: 999 } })]);
    expect(await lead.ended).toMatchObject({ code: 0 });
    const bodies = childRequests().map(({ body }) => body);
    expect(bodies).toHaveLength(3);
    expect(firstBreak(bodies)).toBeUndefined();
    const [, before, after] = bodies as [Buffer, Buffer, Buffer];
    expect(after).toEqual(before);
    const other = Buffer.from(after.toString().replace('Mind the geese', 'Mind the swans'));
    expect(firstBreak([before, other])).toBeDefined();
  });
});

const isUser = ({ role }: { readonly role: string }): boolean => role === 'user';
