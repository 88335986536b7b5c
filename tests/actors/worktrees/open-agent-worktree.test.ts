/** Agents with worktrees: creation, instructions, and merging back. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import type { Settlement } from '../../../src/protocol/tools/worktrees.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { sendMessage } from '../../../src/tools/agents/send-message.js';
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

const ALONE = { subagent_type: 'explorer', isolation: 'worktree' };
const MERGED: Settlement = { kind: 'merged', files: ['src/a.ts'], commit: 'c1' };
const CONFLICT: Settlement = {
  kind: 'conflict',
  files: ['a.ts', 'b.ts'],
  commit: 'c2',
  conflicts: [{ path: 'a.ts', why: 'both sides have changed it' }],
};

type Options = Partial<Omit<LeadOptions, 'model'>> & { readonly worktrees?: ScriptedWorktrees };

const isChild = ({ said }: Conversation) => said.some((words) => words.includes('the job'));

/** A lead that starts `the job` with these options, and an agent that does it. */
const swarm = async (
  terms: Record<string, unknown>,
  { worktrees = scriptedWorktrees(), ...options }: Options = {},
  does: (conversation: Conversation) => Answer = () => [says('It is done.')],
): Promise<SwarmHarness & { readonly worktrees: ScriptedWorktrees }> => {
  const answer = (conversation: Conversation) => {
    if (isChild(conversation) && !conversation.last.includes('begin')) return does(conversation);
    return conversation.turn === 0
      ? [calls('c1', 'Task', task('the job', terms))]
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

/** Sessions in memory with a disk that is full for one kind of record. */
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
  test('has its place on record from the first, works there, and is told so', async () => {
    const harness = await run(ALONE);
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

  test('may have it by its definition', async () => {
    const definitions = [agentDefinition({ isolation: 'worktree' })];
    const harness = await run({ subagent_type: 'explorer' }, { swarm: { definitions } });
    expect(harness.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
  });

  test('may be a fork, which shares the words of its parent and is told in its directive', async () => {
    const harness = await run({ isolation: 'worktree' });
    const [lead, fork] = harness.requests.map(({ body }) => body);
    const shared = lead?.slice(0, lead.indexOf('"messages"')) ?? '';
    expect(fork?.startsWith(shared)).toBe(true);
    expect(fork).toMatch(/<fork-task>\\nYou work in your own git worktree: \S+a_2\\n/);
  });

  test('is asked for on record before it has one, and refused in a sentence', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.refusal = 'There is no git here.';
    const harness = await run(ALONE, { worktrees });
    expect(harness.results().c1).toBe(
      'error: There is no git here. Leave out isolation to work without one.',
    );
    expect((await harness.records()).map(({ type }) => type)).toContain('agent.requested');
    expect(harness.items.some(({ type }) => type === 'agent.spawned')).toBe(false);
  });

  test('has it on record when it waits for another at the same tree, before it begins and after', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.holder = 'a_9';
    const harness = await run(ALONE, { worktrees });
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

  test('comes home also where its wait cannot be written down', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.holder = 'a_9';
    const store = fullFor('lock.awaited');
    const harness = await run(ALONE, { worktrees, store });
    expect(worktrees.asked).toEqual(['open a_2', 'settle a_2']);
    expect(await typesOf(harness)).toContain('worktree.settled');
  });

  test('is refused where there are none', async () => {
    const harness = await run(ALONE, { swarm: { worktrees: undefined } });
    expect(harness.results().c1).toMatch(/^error: No agent can have a worktree of its own here\./);
  });

  test('writes nowhere else', async () => {
    const harness = await run(ALONE, {}, ({ turn }) =>
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

describe('what an agent may do in its worktree', () => {
  const definitions = [agentDefinition({ tools: ['Put', 'Task'] })];
  const puts = (path: string) => [calls('p1', 'Put', { path })];
  const heardBy = ({ requests }: SwarmHarness) => requests.at(-2)?.body ?? '';

  test.each([
    ['acceptEdits', 'put a.ts'],
    ['default', 'No person or program can answer questions in this run'],
  ] as const)('is what its parent may do in its own tree, in mode %s', async (mode, said) => {
    const options = { mode, tools: [put], swarm: { definitions } };
    const does = ({ turn }: Conversation) => (turn === 0 ? puts('a.ts') : [says('It is done.')]);
    expect(heardBy(await run(ALONE, options, does))).toContain(said);
  });

  test('is asked of a person under the name that it has there', async () => {
    const surface = scriptedSurface(allows);
    const options = { mode: 'default', surface, tools: [put], swarm: { definitions } } as const;
    const does = ({ turn }: Conversation) => (turn === 0 ? puts('a.ts') : [says('It is done.')]);
    const harness = await run(ALONE, options, does);
    expect(heardBy(harness)).toContain('put a.ts');
    expect(surface.questions).toMatchObject([{ tool: 'Put', cwd: expect.stringMatching(/a_2$/) }]);
  });

  test('is all that those below it may do', async () => {
    const below = { subagent_type: 'explorer', description: 'below', prompt: 'deeper' };
    const does = ({ turn, said }: Conversation): Answer => {
      if (turn > 0) return [says('It is done.')];
      return said.at(-1)?.includes('deeper') === true
        ? [calls('d1', 'Put', { path: '/tmp/a.ts' }), calls('d2', 'Put', { path: 'b.ts' })]
        : [calls('t1', 'Task', { ...below, prompt: 'the job, deeper' })];
    };
    const options = { mode: 'acceptEdits', tools: [put], swarm: { definitions } } as const;
    const harness = await run(ALONE, options, does);
    const told = harness.requests.map(({ body }) => body).find((body) => body.includes('"d1"'));
    expect(harness.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
    expect(told).toContain("/tmp/a.ts is outside of this agent's worktree");
    expect(told).toContain('put b.ts');
  });
});

describe('the work of an agent', () => {
  const ending = (becomes: Settlement, does?: (conversation: Conversation) => Answer) => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = becomes;
    return run(ALONE, { worktrees }, does);
  };

  test('is on record as merged before its parent hears of it', async () => {
    const harness = await ending(MERGED);
    expect((await typesOf(harness)).slice(-2)).toEqual(['run.ended', 'worktree.settled']);
    expect(harness.results().c1).toContain(
      'Its work is merged into /tmp (1 file), and also on the branch agent/a_2. As a diff it is in /a_2.diff.',
    );
    expect(harness.results().c1).toContain('Changed: /tmp/src/a.ts');
    const ended = harness.items.find((it) => it.type === 'agent.ended');
    expect(ended).toMatchObject({ report: { worktree: { outcome: MERGED, diff: '/a_2.diff' } } });
  });

  test('that conflicts is told with what, where and what to do', async () => {
    const harness = await ending(CONFLICT);
    const said = harness.results().c1;
    expect(said).toContain('Its work is NOT merged: a.ts: both sides have changed it.');
    expect(said).toContain('Nothing in /tmp was changed. Its version is on the branch agent/a_2');
    expect(said).toContain('git show agent/a_2:<file>');
    expect(said).not.toContain('Changed:');
  });

  test('is brought home of one that failed as well', async () => {
    const harness = await ending(MERGED, () => [fails('rejected')]);
    expect(harness.results().c1).toMatch(/^error: Agent .* failed.*\n.*\nIts work is merged/);
  });

  test('says so when there is none, and where it is when it cannot be brought home', async () => {
    expect((await ending({ kind: 'unchanged' })).results().c1).toContain(
      'It changed nothing in its worktree.',
    );
    expect((await ending({ kind: 'kept', why: 'The disk is full.' })).results().c1).toMatch(
      /NOT merged: The disk is full\. It is kept in \/home\/\S+a_2, and its commits on the branch agent\/a_2\./,
    );
  });

  test('is kept by a checkpoint of the lead before it changes files', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    worktrees.changes = ['/tmp/src/a.ts'];
    const seen: unknown[] = [];
    const harness = await run(ALONE, {
      worktrees,
      checkpoints: (record) => ({
        settle: async () => undefined,
        async watch(watched) {
          seen.push(watched);
          record({ type: 'files.watched', call: watched.call });
          return { changes: async () => [] };
        },
      }),
    });
    expect(seen).toEqual([{ call: 'merge_a_2', paths: ['/tmp/src/a.ts'] }]);
    const kept = (await harness.records()).filter(({ type }) => type.startsWith('files.'));
    expect(kept).toMatchObject([{ type: 'files.watched' }, { type: 'files.changed' }]);
  });

  test('in the background comes home before the letter', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    const harness = await run({ ...ALONE, run_in_background: true }, { worktrees });
    const letter = (await harness.records()).find(
      (it) => it.type === 'letter.received' && it.from === 'agent',
    );
    expect(JSON.stringify(letter)).toContain('Its work is merged into /tmp');
  });

  test('of a teammate comes home whenever it rests, and it stays where it is', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.becomes = MERGED;
    const terms = { ...ALONE, name: 'ada', team_name: 'geese' };
    const harness = await run(terms, { worktrees, staysIdle: true, tools: [sendMessage] });
    expect(worktrees.asked).toEqual(['open a_2', 'stay a_2']);
    const rested = harness.items.find((it) => it.type === 'agent.rested');
    expect(rested).toMatchObject({ report: { worktree: { outcome: MERGED } } });
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
    const after = await swarm(ALONE, { ...options, store, clock, choice });
    after.lead.start();
    await allSettled();
    return after;
  };

  test('an agent that worked goes on in the place that it had', async () => {
    const before = await run(ALONE, { effects: { it: () => new Promise(() => {}) } }, () => [
      calls('l1', 'Look', { name: 'it' }),
    ]);
    const after = await next(before);
    expect(after.worktrees.asked).toEqual(['reopen a_2 from base', 'settle a_2']);
    expect(after.results().c1).toContain('It changed nothing in its worktree.');
  });

  test('work that had not come home when its agent had ended is brought home', async () => {
    const worktrees = scriptedWorktrees();
    worktrees.dies = true;
    const before = await run(ALONE, { worktrees });
    expect((await typesOf(before)).at(-1)).toBe('run.ended');
    const again = scriptedWorktrees();
    again.becomes = MERGED;
    const after = await next(before, { worktrees: again });
    expect(again.asked).toEqual(['settle a_2']);
    expect(after.results().c1).toContain('Its work is merged into /tmp');
    expect((await typesOf(after)).at(-1)).toBe('worktree.settled');
  });

  test('a worktree that was made and not written down is found by the id of its agent', async () => {
    const worktrees = scriptedWorktrees();
    const before = await swarm(ALONE, {
      worktrees: Object.assign(worktrees, { open: () => new Promise(() => {}) }),
    });
    await before.say('begin');
    await allSettled();
    const after = await next(before);
    expect(after.worktrees.asked).toEqual(['open a_2', 'settle a_2']);
  });
});
