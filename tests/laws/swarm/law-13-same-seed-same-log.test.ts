/** Law 13: two runs of the same script write the same log, byte for byte in one process. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Clock } from '../../../src/protocol/clock.js';
import { ModelFailure, type ModelPort } from '../../../src/protocol/model/model-port.js';
import type { Surface } from '../../../src/protocol/permission/permission-question.js';
import type { Shell } from '../../../src/protocol/tools/shell.js';
import { defineTool, type Tool } from '../../../src/protocol/tools/tool.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { spawnAgent } from '../../../src/tools/agents/spawn-agent.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { type Conversation, conversationOf } from '../../actors/swarm/swarm-harness.js';
import {
  type Answer,
  calls,
  choosingModel,
  fails,
  says,
} from '../../fakes/agents/scripted-model.js';
import { agentDefinition, swarmSetup } from '../../fakes/agents/swarm-setup.js';
import { finish, openRig, type ScriptedTurn, speaks } from '../session-rig.js';
import { openPrintScene } from '../workspace.js';

/** Clock whose time passes only when a caller waits for it. */
const autoClock = (): Clock => {
  let now = 1_000;
  return {
    now: () => now,
    wakeAt(at, wake) {
      const timer = setImmediate(() => {
        now = Math.max(now, at);
        wake();
      });
      return () => clearImmediate(timer);
    },
  };
};

const look = defineTool({
  name: 'Look',
  kind: 'builtin',
  prompt: 'Looks.',
  interruptBehavior: 'cancel',
  input: z.object({ at: z.string(), slow: z.number().default(0) }),
  describe: ({ at }) => `Look ${at}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: () => ({ action: 'read', target: 'x' }),
  async call({ at, slow }) {
    for (let tick = 0; tick < slow; tick += 1) await Promise.resolve();
    return { content: `seen ${at}` };
  },
}) as Tool;

/** Needs a permission, so that the log contains a question. */
const touch = defineTool({
  name: 'Touch',
  kind: 'builtin',
  prompt: 'Touches.',
  interruptBehavior: 'cancel',
  input: z.object({}),
  describe: () => 'Touch',
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'write', target: 'x' }),
  call: async () => ({ content: 'touched' }),
}) as Tool;

const surface: Surface = { ask: async () => ({ behavior: 'allow' }) };

const turns = (word: string): readonly ScriptedTurn[] => [
  {
    text: word,
    calls: [
      { id: 'c1', tool: 'Look', input: { at: 'a', slow: 9 } },
      { id: 'c2', tool: 'Look', input: { at: 'b' } },
      { id: 'c3', tool: 'Lost', input: {} },
    ],
  },
  {
    calls: [
      { id: 'c4', tool: 'Look', input: { at: 3 } },
      { id: 'c5', tool: 'Touch', input: {} },
    ],
  },
  { text: 'Done.' },
];

/** Fails once, so that the log contains a random delay and the clock. */
const failsOnce = (model: ModelPort): ModelPort => {
  let calls = 0;
  return {
    stream(request, sink, signal) {
      calls += 1;
      if (calls === 1) return Promise.reject(new ModelFailure('overloaded', 'busy'));
      return model.stream(request, sink, signal);
    },
  };
};

const logOf = async (word: string): Promise<string> => {
  const clock = autoClock();
  const store = new MemorySessionStore(clock);
  const session = await openRig({
    clock,
    store,
    surface,
    tools: [look, touch],
    model: failsOnce(speaks(turns(word))),
  });
  await finish(session, 'Go.');
  const { records } = await store.readJournal(session.id, session.meta.lead);
  await session.close();
  const reopened = await store.open(session.id);
  const events = await reopened.readEvents();
  await reopened.close();
  return JSON.stringify({ records, events });
};

/** Shell that needs no time: each command prints `word`, and ends when the next command starts. */
const instantShell = (word: string): Shell => {
  let end = () => {};
  return {
    run: (command) =>
      new Promise((resolve) => {
        const first = end;
        end = () => {
          const base = { exitCode: 0, signal: null, cwd: command.cwd, durationMs: 1 };
          resolve({ ...base, reason: command.signal.aborted ? 'aborted' : 'exited' });
        };
        command.signal.addEventListener('abort', end);
        command.onStarted?.();
        command.onOutput('stdout', Buffer.from(`${word}\n`));
        first();
      }),
  };
};

const background = (id: string) => ({
  id,
  tool: 'Bash',
  input: { command: 'serve', run_in_background: true },
});

/** Two jobs, a todo list, and a question. One job ends itself, and the other is stopped. */
const busyLogOf = async (word: string): Promise<string> => {
  const clock = autoClock();
  const store = new MemorySessionStore(clock);
  const options = [{ label: 'Left' }, { label: 'Right' }];
  const session = await openRig({
    clock,
    store,
    mode: 'bypassPermissions',
    shell: instantShell(word),
    tools: builtinTools,
    surface: { ...surface, choose: async () => ({ chosen: ['Left'] }) },
    model: speaks([
      { calls: [background('c1'), background('c2')] },
      {
        calls: [
          { id: 'c3', tool: 'TaskOutput', input: { task_id: 'bash_1' } },
          { id: 'c4', tool: 'TaskOutput', input: { task_id: 'bash_2', timeout: 5 } },
          { id: 'c5', tool: 'TodoWrite', input: { todos: [{ content: 'x', status: 'pending' }] } },
          { id: 'c6', tool: 'AskUser', input: { question: 'Where?', options } },
        ],
      },
      { calls: [{ id: 'c7', tool: 'TaskStop', input: { task_id: 'bash_2' } }] },
      { text: 'Done.' },
    ]),
  });
  await finish(session, 'Go.');
  const { records } = await store.readJournal(session.id, session.meta.lead);
  await session.close();
  return JSON.stringify(records);
};

const taskInput = (prompt: string, more: Record<string, unknown> = {}) => ({
  description: 'A part',
  prompt,
  ...more,
});

/** Answers each agent of the swarm below by the words of its conversation. */
const answerOf = ({ said, last, turn }: Conversation, word: string): Answer => {
  const isAbout = (part: string) => said.some((text) => text.includes(part));
  if (isAbout('deep part')) {
    return turn === 0 ? [calls('d1', 'Look', { at: 'd', slow: 5 })] : [says(`deep ${word}`)];
  }
  if (isAbout('typed part')) {
    const below = taskInput('the deep part', { subagent_type: 'explorer' });
    return turn === 0
      ? [calls('t1', 'Look', { at: 't', slow: 2 }), calls('t2', 'Task', below)]
      : [says('typed')];
  }
  if (last.includes('forked part')) return [calls('f1', 'Look', { at: 'f' })];
  if (last.includes('seen f')) return [says('forked')];
  if (turn > 0) return [says('Done.')];
  return [
    ...[1, 2, 3].map((at) => calls(`c${at}`, 'Task', taskInput(`forked part ${at}`))),
    calls('c4', 'Task', taskInput('typed part', { subagent_type: 'explorer' })),
    calls('c5', 'Task', taskInput('the deep part', { run_in_background: true })),
    calls('c6', 'Touch'),
  ];
};

/**
 * Forks, typed agents, a nested agent and a background agent. Every fifth request fails at first.
 */
const swarmLogOf = async (word: string): Promise<string> => {
  const clock = autoClock();
  const store = new MemorySessionStore(clock);
  const failed = new Set<string>();
  const model = choosingModel((request, number) => {
    const isFirst = !failed.has(request.body);
    failed.add(request.body);
    if (isFirst && number % 5 === 0) return [fails('overloaded')];
    return answerOf(conversationOf(request), word);
  });
  const limits = { maxAgents: 100, maxConcurrentAgents: 3, maxDepth: 3 };
  const session = await openRig({
    clock,
    store,
    surface,
    model,
    tools: [look, touch, spawnAgent],
    options: { swarm: swarmSetup({ limits, definitions: [agentDefinition()] }) },
  });
  await finish(session, 'Go.');
  const journals: unknown[] = [];
  for (const agent of await store.agents(session.id)) {
    journals.push(await store.readJournal(session.id, agent));
  }
  await session.close();
  const reopened = await store.open(session.id);
  const events = await reopened.readEvents();
  await reopened.close();
  return JSON.stringify({ journals, events });
};

/** Fields that differ between two runs with real processes: times, durations and ids. */
const VARIES = new Set([
  'ts',
  'durationMs',
  'swarm',
  'agent',
  'owner',
  'letter',
  'from',
  'mtimeMs',
]);

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner) => (VARIES.has(key) ? undefined : inner)));

describe('law 13, same seed, same log', () => {
  test('two runs in one process write the same journal and the same events', async () => {
    const log = await logOf('Look.');
    expect(log).toContain('"type":"permission.requested"');
    expect(await logOf('Look.')).toBe(log);
  });

  test('two runs with background shells, todo lists and questions write the same journal', async () => {
    const log = await busyLogOf('hum');
    for (const part of ['"from":"job"', 'bash_2', '"todos.written"', 'The user chose: Left']) {
      expect(log).toContain(part);
    }
    expect(await busyLogOf('hum')).toBe(log);
    expect(await busyLogOf('buzz')).not.toBe(log);
  });

  test('two runs of a swarm write the same journals and the same events', async () => {
    const log = await swarmLogOf('one');
    for (const part of ['"fork.offered"', '"agent.queued"', '"turn.failed"', '"from":"agent"']) {
      expect(log).toContain(part);
    }
    expect(await swarmLogOf('one')).toBe(log);
    expect(await swarmLogOf('two')).not.toBe(log);
  });

  test('catches two runs with a different word', async () => {
    expect(await logOf('Look.')).not.toBe(await logOf('Look!'));
  });

  test('two runs over HTTP with real processes write the same records in the same order', async () => {
    const script = {
      rules: [
        {
          match: { turn: 0 },
          reply: { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
        },
        { reply: 'Done.' },
      ],
    };
    const run = async () => {
      const scene = await openPrintScene(script, { 'a.txt': 'x\n' });
      await scene.run(['Go.', '--session-id', 'same']);
      const journal = scene.journal('same');
      await scene.close();
      return JSON.stringify(withoutTimes(journal)).replaceAll(scene.workspace, '/work');
    };
    // The simulator derives its ids from the prompt, and the prompt contains the working directory.
    // So the digests of that section, of its block and of the messages with those ids differ.
    const normalise = (text: string) =>
      text
        .replaceAll(/"(letter|prompt|owner|requestId)":"[^"]*"/g, '"$1":""')
        .replaceAll(/"(section env info|system block 4)":"[^"]*"/g, '"$1":""')
        .replaceAll(/"digests":\[[^\]]*\]/g, '"digests":[]')
        .replaceAll(/\b(toolu|msg)_\w+/g, '$1');
    expect(normalise(await run())).toBe(normalise(await run()));
  });
});
