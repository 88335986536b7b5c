/** Damages the journals of a lead and its agents at random, after their process has died in the middle of their work. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SessionChoice } from '../../../src/actors/session/begin-session.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { randomIds } from '../../../src/protocol/ids.js';
import { defineTool } from '../../../src/protocol/tools/tool.js';
import { spawnAgent } from '../../../src/tools/agents/spawn-agent.js';
import {
  type Answer,
  calls,
  choosingModel,
  type SentRequest,
  says,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { agentDefinition, swarmSetup } from '../../fakes/agents/swarm-setup.js';
import { randomSeed } from '../../setup/random-seed.js';
import { IS_WIDE } from '../../setup/wide.js';
import { sessionFiles } from '../../store/session-folder.js';
import { anyDamage, forgottenCalls, messagesOf, refusalOf } from '../journal-damage.js';
import { finish, openRig } from '../session-rig.js';

/** Ids of the calls that had an effect, in order. */
const effects: string[] = [];

const act = defineTool({
  name: 'Act',
  kind: 'builtin',
  prompt: 'Act',
  input: z.strictObject({}),
  describe: () => 'Act',
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call(_, { call }) {
    effects.push(call);
    return { content: 'Act is done.' };
  },
});

const root = fs.mkdtempSync(join(tmpdir(), 'damaged-swarm-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const ID = 's_swarm';
const folder = join(root, ID);

const never = waits(new Promise(() => {}));
const job = (name: string, more: Record<string, unknown>) =>
  calls(`task_${name}`, 'Task', { description: name, prompt: `job ${name}`, ...more });

const BACKGROUND = { subagent_type: 'explorer', run_in_background: true };

/** Every agent acts in its first turn and dies in its second. The fork has the lead's messages too. */
const firstAnswer = ({ body }: SentRequest): Answer => {
  const messages = messagesOf(body);
  const text = JSON.stringify(messages.at(-1));
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (text.includes('begin'))
    return [
      calls('act_lead', 'Act'),
      job('back', BACKGROUND),
      job('sync', { subagent_type: 'explorer' }),
      job('fork', {}),
      calls('act_later', 'Act'),
    ];
  if (text.includes('hello')) return [says('Hello.')];
  const name = ['back', 'sync'].find((it) => JSON.stringify(messages[0]).includes(`job ${it}`));
  if (name !== undefined && turn === 0) return [calls(`act_${name}`, 'Act')];
  if (name === undefined && text.includes('job fork')) return [calls('act_fork', 'Act')];
  return [says('half'), never];
};

const open = async (choice: SessionChoice, answer: (request: SentRequest) => Answer) => {
  const model = choosingModel(answer);
  const session = await openRig({
    model,
    choice,
    store: sessionFiles(root, { clock: systemClock }),
    tools: [act, spawnAgent],
    mode: 'bypassPermissions',
    options: { ids: randomIds, swarm: swarmSetup({ definitions: [agentDefinition()] }) },
    staysIdle: true,
  });
  return { session, requests: model.requests };
};

/** Files of the undamaged session by path, and the effects that its agents had. */
const files = new Map<string, Buffer>();
const before: string[] = [];

beforeAll(async () => {
  const { session, requests } = await open({ kind: 'new', id: ID }, firstAnswer);
  await finish(session, 'hello');
  void finish(session, 'begin').catch(() => undefined);
  const isHalfWay = () => requests.filter(({ body }) => body.includes('Act is done.')).length >= 3;
  while (!isHalfWay()) await new Promise((resolve) => setImmediate(resolve));
  await session.close();
  before.push(...effects);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, fs.readFileSync(path));
  }
});

const resume = async (): Promise<readonly string[]> => {
  const { session, requests } = await open({ kind: 'resume', id: ID }, () => [says('Fine.')]);
  try {
    await finish(session, 'go on');
    return requests.map(({ body }) => body);
  } finally {
    await session.close();
  }
};

const reset = () => {
  fs.rmSync(folder, { recursive: true, force: true });
  for (const [path, bytes] of files) {
    fs.mkdirSync(join(path, '..'), { recursive: true });
    fs.writeFileSync(path, bytes);
  }
  effects.splice(0, Number.POSITIVE_INFINITY, ...before);
};

/** Calls that no file knows as started. They may run a second time. */
const forgotten = (): readonly string[] => {
  const textOf = (path: string) => (fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '');
  const index = textOf(join(folder, 'events.jsonl'));
  const agents = journals().filter((path) => dirname(path) !== folder);
  const isOnly = agents.filter((path) => fs.existsSync(path)).length === 1;
  return agents.flatMap((path) => {
    const written = files.get(path)?.toString() ?? '';
    const agent = basename(path, '.jsonl');
    return forgottenCalls({ agent, written, text: textOf(path), index, isOnly });
  });
};

const expectUsable = (bodies: readonly string[], lost: readonly string[] = []) => {
  expect(bodies.length).toBeGreaterThan(0);
  expect(bodies.map((body) => refusalOf(messagesOf(body)))).toEqual(bodies.map(() => undefined));
  const repeated = effects.filter((call, at) => effects.indexOf(call) < at);
  expect(repeated.filter((call) => !lost.includes(call))).toEqual([]);
  expect(repeated).toEqual([...new Set(repeated)]);
};

const journals = () => [...files.keys()].filter((path) => path.endsWith('.jsonl')).toSorted();

describe('law 7, the damaged journals of a swarm', () => {
  test('without damage continue every agent, and no effect is repeated', async () => {
    reset();
    expectUsable(await resume());
    expect(effects.toSorted()).toEqual([
      'act_back',
      'act_fork',
      'act_later',
      'act_lead',
      'act_sync',
    ]);
  });

  test('without any single record, or all records up to it, are usable, and no effect is repeated', async () => {
    for (const path of journals().filter((it) => !it.endsWith('events.jsonl'))) {
      const lines = (files.get(path) ?? '').toString().split('\n');
      for (const at of lines.slice(0, -1).keys()) {
        if (!IS_WIDE && at % 3 !== randomSeed % 3) continue;
        for (const left of [lines.toSpliced(at, 1), lines.slice(at + 1)]) {
          reset();
          fs.writeFileSync(path, left.join('\n'));
          expectUsable(await resume());
          if (IS_WIDE) expectUsable(await resume());
        }
      }
    }
  }, 600_000);

  test('without several records in a row are usable, and no effect is repeated', async () => {
    for (const path of journals()) {
      const lines = (files.get(path) ?? '').toString().split('\n').slice(0, -1);
      for (const [at] of lines.entries()) {
        for (let count = 2; count <= Math.min(9, lines.length - at); count += 1) {
          if (!IS_WIDE && (at + count) % 12 !== randomSeed % 12) continue;
          reset();
          const left = lines.toSpliced(at, count);
          fs.writeFileSync(path, left.map((line) => `${line}\n`).join(''));
          expectUsable(await resume());
          if (IS_WIDE) expectUsable(await resume());
        }
      }
    }
  }, 600_000);

  test('in several places, or lost, never make the session unusable', async () => {
    const place = fc.tuple(fc.nat(), fc.option(anyDamage, { freq: 8 }));
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), async (all) => {
        reset();
        const paths = journals();
        for (const [at, damage] of all) {
          const path = paths[at % paths.length] ?? '';
          if (damage === null) fs.rmSync(path, { force: true });
          else if (fs.existsSync(path)) fs.writeFileSync(path, damage[1](fs.readFileSync(path)));
        }
        const lost = forgotten();
        expectUsable(await resume(), lost);
        expectUsable(await resume(), lost);
      }),
      { numRuns: IS_WIDE ? 1_000 : 40 },
    );
  }, 600_000);
});
