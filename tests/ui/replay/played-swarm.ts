/** Journals and replay log of a finished swarm: a lead, two children, a question and a failure. */

import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { ReplaySource } from '../../../src/ui/replay/replay-source.js';
import { type ReplayLog, readReplayLog } from '../../../src/views/replay/replay-log.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { createdFor, letter, meta } from '../../store/contracts/records.js';

const attempt = { turn: 1, attempt: 1 };
const usage = { ...NO_USAGE, input: 1_000, output: 100, cacheRead: 9_000 };

const turnStarted: JournalBody = {
  type: 'turn.started',
  ...attempt,
  model: 'm',
  estimatedTokens: 5,
  tools: 4,
  messages: 1,
};
const answered = (content: readonly object[], stopReason = 'tool_use'): JournalBody => ({
  type: 'assistant.received',
  ...attempt,
  model: 'm',
  messageId: 'msg',
  requestId: null,
  stopReason,
  usage,
  cost: 0.01,
  durationMs: 5,
  raw: JSON.stringify(content),
});
const text = (content: string) => ({ type: 'text', text: content });
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const started = (call: string, tool: string, description: string): JournalBody => ({
  type: 'call.started',
  ...attempt,
  call,
  tool,
  readOnly: false,
  inputDigest: 'd',
  description,
});
const ended = (call: string, tool: string, content: string): JournalBody => ({
  type: 'call.ended',
  ...attempt,
  call,
  tool,
  outcome: 'ok',
  durationMs: 1,
  raw: JSON.stringify({ type: 'tool_result', tool_use_id: call, content }),
});
const runEnded = (reason: 'end_turn' | 'model_error', final: boolean): JournalBody => ({
  type: 'run.ended',
  reason,
  detail: null,
  turns: 1,
  final,
});
const childCreated = (agent: string, name: string): JournalBody =>
  ({
    ...createdFor(agent, 'a_1'),
    origin: {
      kind: 'background',
      type: 'runner',
      name,
      description: `the ${name} job`,
      call: `c_${name}`,
      depth: 1,
    },
  }) as JournalBody;

/** Start time of the log. */
export const BEGAN = Date.UTC(2026, 4, 1, 12);

/** Agent, milliseconds since the previous record, and record. */
const RECORDS: readonly (readonly [agent: string, after: number, body: JournalBody])[] = [
  ['a_1', 0, createdFor('a_1')],
  ['a_1', 0, { type: 'epoch.began', owner: 'o_1' }],
  ['a_1', 0, letter('l_1', 'Mend it.')],
  ['a_1', 0, { type: 'run.started', run: 1 }],
  ['a_1', 100, turnStarted],
  [
    'a_1',
    900,
    answered([text('I ask two.'), use('c_docs', 'Task', {}), use('c_edit', 'Task', {})]),
  ],
  ['a_2', 50, childCreated('a_2', 'docs')],
  ['a_2', 0, { type: 'run.started', run: 1 }],
  ['a_3', 50, childCreated('a_3', 'edit')],
  ['a_3', 0, { type: 'run.started', run: 1 }],
  ['a_2', 100, turnStarted],
  [
    'a_2' as const,
    800,
    {
      type: 'turn.failed',
      ...attempt,
      kind: 'overloaded',
      message: 'Too much.',
      status: 529,
      durationMs: 5,
      model: 'm',
      usage: NO_USAGE,
      cost: 0,
    },
  ],
  ['a_3', 0, turnStarted],
  [
    'a_3' as const,
    1_000,
    answered([
      text('I change it.'),
      use('c_1', 'Edit', { file_path: 'a.ts', old_string: 'one', new_string: 'two' }),
    ]),
  ],
  [
    'a_3' as const,
    0,
    {
      type: 'question.asked',
      ...attempt,
      question: 'q_1',
      call: 'c_1',
      tool: 'Edit',
      inputDigest: 'd',
      description: 'Edit a.ts',
      reason: 'no rule allows it',
    },
  ],
  // A long pause.
  [
    'a_3' as const,
    600_000,
    {
      type: 'call.ruled',
      ...attempt,
      call: 'c_1',
      tool: 'Edit',
      behavior: 'allow',
      step: 'callback',
      reason: 'yes',
    },
  ],
  ['a_3', 10, started('c_1', 'Edit', 'Edit a.ts')],
  ['a_3', 90, ended('c_1', 'Edit', 'Replaced one passage.')],
  ['a_3', 500, runEnded('end_turn', true)],
  ['a_2', 500, runEnded('model_error', true)],
  ['a_1', 500, answered([text('It is mended.')], 'end_turn')],
  ['a_1', 0, runEnded('end_turn', false)],
];

export const playedSwarm = async (): Promise<{ store: MemorySessionStore; log: ReplayLog }> => {
  const clock = virtualClock(BEGAN);
  const store = new MemorySessionStore(clock);
  const session = await store.create(meta({ title: 'Mend it.' }));
  for (const [agent, after, body] of RECORDS) {
    await clock.advance(after);
    (await session.journal(agent, agent === 'a_1' ? null : 'a_1')).append(body);
  }
  await session.close();
  return { store, log: await readReplayLog(store, meta({ title: 'Mend it.' })) };
};

export const openReplay = async (): Promise<ReplaySource> => {
  const { store, log } = await playedSwarm();
  return new ReplaySource(store, log);
};
