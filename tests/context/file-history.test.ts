import { describe, expect, test } from 'vitest';
import { irreversibleSince } from '../../src/context/file-history.js';
import type {
  CallOutcome,
  JournalBody,
  JournalRecord,
} from '../../src/protocol/session/journal-record.js';

const at = { turn: 1, attempt: 1 };

/** A call from its start to its end, with the records in between. */
const call = (tool: string, outcome: CallOutcome, ...between: JournalBody[]): JournalBody[] => [
  {
    type: 'call.started',
    ...at,
    call: 'c',
    tool,
    readOnly: false,
    inputDigest: 'd',
    description: tool,
  },
  ...between,
  { type: 'call.ended', ...at, call: 'c', tool, outcome, durationMs: 1, raw: '{}' },
];

const requested: JournalBody = {
  type: 'agent.requested',
  call: 'c',
  child: 'a_2',
  kind: 'sync',
  agentType: 'worker',
  description: 'work',
};
const watched: JournalBody = { type: 'files.watched', call: 'c', manifest: 'm' };

const effectsOf = (bodies: readonly JournalBody[]) =>
  irreversibleSince(
    bodies.map(
      (body, index): JournalRecord => ({ v: 1, seq: index + 1, ts: 0, epoch: 1, ...body }),
    ),
    0,
  );

const NONE = { commands: [], unwatched: [] };

describe('the effects that a rewind cannot undo', () => {
  test.each([
    ['a Task call that was refused', call('Task', 'error')],
    ['a Task call that was interrupted before it had an agent', call('Task', 'interrupted')],
    ['a letter that no agent received', call('SendMessage', 'error')],
    ['a stop of an unknown task', call('TaskStop', 'error')],
    ['an update of an unknown task', call('TaskUpdate', 'error')],
    ['a question to the person', call('AskUser', 'ok')],
    ['a list of to-dos', call('TodoWrite', 'ok')],
    ['a watched edit', call('Edit', 'ok', watched)],
  ])('leave out %s', (_, bodies) => {
    expect(effectsOf(bodies)).toEqual(NONE);
  });

  test.each([
    ['a Task call whose agent failed', call('Task', 'error', requested)],
    ['a letter that arrived', call('SendMessage', 'ok')],
    ['a request that failed', call('WebFetch', 'error')],
    ['a watched command that failed', call('Bash', 'error', watched)],
  ])('name %s, and count no unsaved files for it', (_, bodies) => {
    const [started] = bodies;
    const tool = started?.type === 'call.started' ? started.tool : '';
    expect(effectsOf(bodies)).toEqual({ commands: [tool], unwatched: [] });
  });

  test('count an unwatched command and an unwatched edit as unsaved files', () => {
    expect(effectsOf([...call('Bash', 'ok'), ...call('Edit', 'ok')])).toEqual({
      commands: ['Bash'],
      unwatched: ['Bash', 'Edit'],
    });
  });
});
