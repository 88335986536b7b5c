/** Agents with worktrees: creation, instructions, and merging back. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import type { Settlement } from '../../../src/protocol/tools/worktrees.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { fakeCheckpoints } from '../../fakes/agents/fake-checkpoints.js';
import { type Answer, calls, fails, says } from '../../fakes/agents/scripted-model.js';
import { allows, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import {
  type ScriptedWorktrees,
  scriptedWorktrees,
} from '../../fakes/agents/scripted-worktrees.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const ISOLATED = { subagent_type: 'explorer', isolation: 'worktree' };
const MERGED: Settlement = { kind: 'merged', files: ['src/a.ts'], commit: 'c1' };
const CONFLICT: Settlement = {
  kind: 'conflict',
  files: ['a.ts', 'b.ts'],
  commit: 'c2',
  conflicts: [{ path: 'a.ts', why: 'both sides have changed it' }],
};

type Options = Partial<Omit<LeadOptions, 'model'>> & { readonly worktrees?: ScriptedWorktrees };

const isChild = ({ said }: Conversation) => said.some((text) => text.includes('the job'));

/** Lead that starts `the job` with this Task input, and an agent with the answers of `does`. */
const swarm = async (
  input: Record<string, unknown>,
  { worktrees = scriptedWorktrees(), ...options }: Options = {},
  does: (conversation: Conversation) => Answer = () => [says('It is done.')],
): Promise<SwarmHarness & { readonly worktrees: ScriptedWorktrees }> => {
  const answer = (conversation: Conversation) => {
    if (isChild(conversation) && !conversation.last.includes('begin')) return does(conversation);
    return conversation.turn === 0
      ? [calls('c1', 'Task', task('the job', input))]
      : [says('I see.')];
  };
  const swarmOptions = { worktrees, ...options.swarm };
  const harness = await swarmHarness(answer, { ...options, swarm: swarmOptions });
  return { ...harness, worktrees };
};

const run = async (...args: Parameters<typeof swarm>) => {
  const harness = await swarm(...args);
  await harness.say('begin');
  await allSettled();
  return harness;
};

const childRecords = async ({ store, lead }: SwarmHarness) =>
  (await store.readJournal(lead.id, 'a_2')).records;
const typesOf = async (harness: SwarmHarness) =>
  (await childRecords(harness)).map(({ type }) => type);

/** Store in memory that cannot write records of this type. */
const fullFor = (refused: string): MemorySessionStore => {
  const store = new MemorySessionStore(virtualClock());
  const create = store.create.bind(store);
  store.create = async (meta) => {
    const session = await create(meta);
    const open = session.journal.bind(session);
    session.journal = async (...of) => {
      const journal = await open(...of);
      const append: typeof journal.append = (body) => {
        if (body.type === refused) throw new StorageError('The disk is full.');
        return journal.append(body);
      };
      return { ...journal, append };
    };
    return session;
  };
  return store;
};

describe('an agent with a worktree', () => {
  test('works in the worktree, which is in its first record and in its instructions', async () => {
    const harness = await run(ISOLATED);
    const path = `/home/.skein/worktrees/${harness.lead.id}/a_2`;
    const [created] = await childRecords(harness);
    expect(created).toMatchObject({
      type: 'agent.created',
      cwd: path,
      origin: { worktree: { path, branch: 'agent/a_2', base: 'base', top: '/tmp' } },
    });
    expect(harness.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
    const [, first] = harness.requests;
    expect(first?.body).toContain(`You work in your own git worktree: ${path}`);
    expect(first?.body).toContain('For any path below /tmp, use');
  });

  test('may be isolated by its definition', async () => {
    const definitions = [agentDefinition({ isolation: 'worktree' })];
    const harness = await run({ subagent_type: 'explorer' }, { swarm: { definitions } });
    expect(harness.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
  });

  test('may be a fork, which shares the prompt head of its parent and gets the path in its task', async () => {
    const harness = await run({ isolation: 'worktree' });
    const [lead, fork] = harness.requests.map(({ body }) => body);
    const shared = lead?.slice(0, lead.indexOf('"messages"')) ?? '';
    expect(fork?.startsWith(shared)).toBe(true);
    expect(fork).toMatch(/<fork-task>\\nYou work in your own git worktree: \S+a_2\\n/);
  });

  test('is journaled as requested before the worktree is created, and rejected with the reason', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.refusal = 'There is no git here.';
    const harness = await run(ISOLATED, { worktrees });
    expect(harness.results().c1).toBe(
      'error: There is no git here. Leave out isolation to work without one.',
    );
    expect((await harness.records()).map(({ type }) => type)).toContain('agent.requested');
    expect(harness.items.some(({ type }) => type === 'agent.spawned')).toBe(false);
  });

  test('journals each wait for the lock of the tree, at its start and at its end', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.holder = 'a_9';
    const harness = await run(ISOLATED, { worktrees });
    const awaited = { type: 'lock.awaited', place: '/tmp', holder: 'a_9' };
    const ofLead = (await harness.records()).filter(({ type }) => type === 'lock.awaited');
    expect(ofLead).toMatchObject([{ ...awaited, child: 'a_2' }]);
    const own = (await childRecords(harness)).slice(-3);
    expect(own).toMatchObject([
      { type: 'run.ended', final: true },
      awaited,
      { type: 'worktree.settled' },
    ]);
    expect(own[1]).not.toHaveProperty('child');
  });

  test('is merged even if the wait for the lock cannot be journaled', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.holder = 'a_9';
    const store = fullFor('lock.awaited');
    const harness = await run(ISOLATED, { worktrees, store });
    expect(worktrees.asked).toEqual(['open a_2', 'settle a_2']);
    expect(await typesOf(harness)).toContain('worktree.settled');
  });

  test('is rejected if worktrees are not available', async () => {
    const harness = await run(ISOLATED, { swarm: { worktrees: undefined } });
    expect(harness.results().c1).toMatch(/^error: No agent can have a worktree of its own here\./);
  });

  test('cannot write outside of its worktree', async () => {
    const harness = await run(ISOLATED, {}, ({ turn }) =>
      turn === 0 ? [calls('w1', 'Change', { name: 'a.ts' })] : [says('It is done.')],
    );
    expect(harness.callLog).toEqual([]);
    expect(harness.requests.at(-2)?.body).toMatch(
      /\/tmp\/a\.ts is outside of this agent's worktree/,
    );
  });
});

/** Tool that writes a file at any path. */
const put = defineTool({
  name: 'Put',
  kind: 'builtin',
  prompt: 'Put',
  interruptBehavior: 'block',
  input: z.object({ path: z.string() }),
  describe: ({ path }) => `Put ${path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ path }) => ({ action: 'write', target: path }),
  call: async ({ path }) => ({ content: `put ${path}` }),
}) as Tool;

describe('the permissions of an agent in its worktree', () => {
  const definitions = [agentDefinition({ tools: ['Put', 'Task'] })];
  const puts = (path: string) => [calls('p1', 'Put', { path })];
  const resultSentBy = ({ requests }: SwarmHarness) => requests.at(-2)?.body ?? '';

  test.each([
    ['acceptEdits', 'put a.ts'],
    ['default', 'No person or program can answer questions in this run'],
  ] as const)(
    'equal the permissions of its parent in its tree, in mode %s',
    async (mode, expected) => {
      const options = { mode, tools: [put], swarm: { definitions } };
      const does = ({ turn }: Conversation) => (turn === 0 ? puts('a.ts') : [says('It is done.')]);
      expect(resultSentBy(await run(ISOLATED, options, does))).toContain(expected);
    },
  );

  test('lead to questions with the path in the worktree', async () => {
    const surface = scriptedSurface(allows);
    const options = { mode: 'default', surface, tools: [put], swarm: { definitions } } as const;
    const does = ({ turn }: Conversation) => (turn === 0 ? puts('a.ts') : [says('It is done.')]);
    const harness = await run(ISOLATED, options, does);
    expect(resultSentBy(harness)).toContain('put a.ts');
    expect(surface.questions).toMatchObject([{ tool: 'Put', cwd: expect.stringMatching(/a_2$/) }]);
  });

  test('also bind its descendants', async () => {
    const below = { subagent_type: 'explorer', description: 'below', prompt: 'deeper' };
    const does = ({ turn, said }: Conversation): Answer => {
      if (turn > 0) return [says('It is done.')];
      return said.at(-1)?.includes('deeper') === true
        ? [calls('d1', 'Put', { path: '/tmp/a.ts' }), calls('d2', 'Put', { path: 'b.ts' })]
        : [calls('t1', 'Task', { ...below, prompt: 'the job, deeper' })];
    };
    const options = { mode: 'acceptEdits', tools: [put], swarm: { definitions } } as const;
    const harness = await run(ISOLATED, options, does);
    const results = harness.requests.map(({ body }) => body).find((body) => body.includes('"d1"'));
    expect(harness.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
    expect(results).toContain("/tmp/a.ts is outside of this agent's worktree");
    expect(results).toContain('put b.ts');
  });
});

describe('the work of an isolated agent', () => {
  const ending = (becomes: Settlement, does?: (conversation: Conversation) => Answer) => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = becomes;
    return run(ISOLATED, { worktrees }, does);
  };

  test('is journaled as merged before the report to the parent', async () => {
    const harness = await ending(MERGED);
    expect((await typesOf(harness)).slice(-2)).toEqual(['run.ended', 'worktree.settled']);
    expect(harness.results().c1).toContain(
      'Its work is merged into /tmp (1 file), and also on the branch agent/a_2. Its diff is in /a_2.diff.',
    );
    expect(harness.results().c1).toContain('Changed: /tmp/src/a.ts');
    const ended = harness.items.find((it) => it.type === 'agent.ended');
    expect(ended).toMatchObject({ report: { worktree: { outcome: MERGED, diff: '/a_2.diff' } } });
  });

  test('is reported with conflicts, branch and advice if it conflicts', async () => {
    const harness = await ending(CONFLICT);
    const result = harness.results().c1;
    expect(result).toContain('Its work is NOT merged: a.ts: both sides have changed it.');
    expect(result).toContain('Nothing in /tmp was changed. Its version is on the branch agent/a_2');
    expect(result).toContain('git show agent/a_2:<file>');
    expect(result).not.toContain('Changed:');
  });

  test('is merged even if the agent failed', async () => {
    const harness = await ending(MERGED, () => [fails('rejected')]);
    expect(harness.results().c1).toMatch(/^error: Agent .* failed.*\n.*\nIts work is merged/);
  });

  test('is reported as unchanged, or with its location if it cannot be merged', async () => {
    expect((await ending({ kind: 'unchanged' })).results().c1).toContain(
      'It changed nothing in its worktree.',
    );
    expect((await ending({ kind: 'kept', why: 'The disk is full.' })).results().c1).toMatch(
      /NOT merged: The disk is full\. It is kept in \/home\/\S+a_2, and its commits on the branch agent\/a_2\./,
    );
  });

  test('is merged after a checkpoint of the lead', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    worktrees.changes = ['/tmp/src/a.ts'];
    const seen: unknown[] = [];
    const harness = await run(ISOLATED, {
      worktrees,
      checkpoints: (record) =>
        fakeCheckpoints(async (watched) => {
          seen.push(watched);
          record({ type: 'files.watched', call: watched.call });
          return async () => [];
        }),
    });
    expect(seen).toEqual([{ call: 'merge_a_2', paths: ['/tmp/src/a.ts'] }]);
    const kept = (await harness.records()).filter(({ type }) => type.startsWith('files.'));
    expect(kept).toMatchObject([{ type: 'files.watched' }, { type: 'files.changed' }]);
  });

  test('is merged before the letter of a background agent', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    const harness = await run({ ...ISOLATED, run_in_background: true }, { worktrees });
    const letter = (await harness.records()).find(
      (it) => it.type === 'letter.received' && it.from === 'agent',
    );
    expect(JSON.stringify(letter)).toContain('Its work is merged into /tmp');
  });

  test('is merged whenever a teammate becomes idle, and the worktree is kept', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    const input = { ...ISOLATED, name: 'ada', team_name: 'geese' };
    const harness = await run(input, { worktrees, staysIdle: true, tools: [sendMessage] });
    expect(worktrees.asked).toEqual(['open a_2', 'stay a_2']);
    const idle = harness.items.find((it) => it.type === 'agent.rested');
    expect(idle).toMatchObject({ report: { worktree: { outcome: MERGED } } });
  });
});

describe('after a crash', () => {
  const next = async (
    before: SwarmHarness & { worktrees: ScriptedWorktrees },
    options: Options = {},
  ) => {
    await before.lead.close();
    const { store, clock } = before;
    const choice = { kind: 'resume', id: before.lead.id } as const;
    const after = await swarm(ISOLATED, { ...options, store, clock, choice });
    after.lead.start();
    await allSettled();
    return after;
  };

  test('a running agent resumes in its worktree', async () => {
    const before = await run(ISOLATED, { effects: { it: () => new Promise(() => {}) } }, () => [
      calls('l1', 'Look', { name: 'it' }),
    ]);
    const after = await next(before);
    expect(after.worktrees.asked).toEqual(['reopen a_2 from base', 'settle a_2']);
    expect(after.results().c1).toContain('It changed nothing in its worktree.');
  });

  test('the unmerged work of an ended agent is merged', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.dies = true;
    const before = await run(ISOLATED, { worktrees });
    expect((await typesOf(before)).at(-1)).toBe('run.ended');
    const again = scriptedWorktrees();
    again.becomes = MERGED;
    const after = await next(before, { worktrees: again });
    expect(again.asked).toEqual(['settle a_2']);
    expect(after.results().c1).toContain('Its work is merged into /tmp');
    expect((await typesOf(after)).at(-1)).toBe('worktree.settled');
  });

  test('a worktree that was created but not journaled is found by the agent id', async () => {
    const worktrees = scriptedWorktrees();
    const before = await swarm(ISOLATED, {
      worktrees: Object.assign(worktrees, { open: () => new Promise(() => {}) }),
    });
    await before.say('begin');
    await allSettled();
    const after = await next(before);
    expect(after.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
  });
});
