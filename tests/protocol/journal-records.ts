/** Arbitrary journals that an agent could have written: any turns, calls that end in any order, any contents. */
import fc from 'fast-check';
import { NO_USAGE } from '../../src/protocol/model/usage.js';
import type { JournalBody, JournalRecord } from '../../src/protocol/session/journal-record.js';

/** Text with characters that are hard to encode: lone surrogates, separators, zero bytes. */
export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('\ud800', 'x\udfff', '\u2028\u2029', '\0', '"\\', '\n\r\t', '🦢', '__proto__'),
);

/** The parsed value of any JSON text. */
export const anyInput = fc
  .oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom(
      '{"b":1,"2":2,"1":1,"a":{"10":0,"9":0}}',
      '{"__proto__":{"x":1},"constructor":null}',
      '{"n":12345678901234567890,"e":1e400,"z":-0,"s":"\\ud800"}',
      '{"a":1,"a":2}',
    ),
  )
  .map((text): unknown => JSON.parse(text));

export const usage = { ...NO_USAGE, input: 10, output: 5, cacheRead: 100 };

const attempt = { turn: 1, attempt: 1 };

interface CallPlan {
  readonly tool: string;
  readonly input: unknown;
  readonly notes: {
    readonly cwd: string | null;
    readonly seen: string | null;
    readonly job: number | null;
    readonly todo: string | null;
  };
  readonly result: string;
  readonly endsFirst: boolean;
  readonly started: boolean;
}

interface RoundPlan {
  readonly letters: readonly string[];
  /** A job ended: its letter is added to a message, but does not cause a message. */
  readonly hasJobLetter: boolean;
  readonly failedAttempts: number;
  readonly text: string;
  readonly calls: readonly CallPlan[];
  /** Calls end in this order. */
  readonly order: readonly number[];
  readonly stopReason: string;
  readonly truncates: boolean;
}

const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  tool: fc.constantFrom('Read', 'Bash'),
  input: anyInput,
  notes: fc.record({
    cwd: fc.option(fc.constantFrom('/a', '/b', '/c')),
    seen: fc.option(fc.constantFrom('/a/x', '/b/y')),
    job: fc.option(fc.nat(3)),
    todo: fc.option(fc.constantFrom('Look', 'Change')),
  }),
  result: anyText,
  endsFirst: fc.boolean(),
  started: fc.boolean(),
});

const roundPlan: fc.Arbitrary<RoundPlan> = fc.record({
  letters: fc.array(anyText, { maxLength: 2 }),
  hasJobLetter: fc.boolean(),
  failedAttempts: fc.nat(1),
  text: anyText,
  calls: fc.array(callPlan, { maxLength: 4 }),
  order: fc.array(fc.nat(100), { maxLength: 4 }),
  stopReason: fc.constantFrom('end_turn', 'tool_use', 'pause_turn', 'max_tokens', 'interrupted'),
  truncates: fc.boolean(),
});

/** The bodies of a journal, in an order in which an agent could have written them. */
const bodiesOf = (rounds: readonly RoundPlan[]): JournalBody[] => {
  const bodies: JournalBody[] = [
    {
      type: 'agent.created',
      agent: 'a_1',
      parent: null,
      cwd: '/work',
      model: 'm',
      prompt: 'prompt-1.json',
    },
    { type: 'epoch.began', owner: 'o_1' },
    { type: 'run.started', run: 1 },
  ];
  let open: string[] = [];
  const jobLetters: string[] = [];
  for (const [number, plan] of rounds.entries()) {
    const letters = plan.letters.map((_, index) => `l_${number}_${index}`);
    for (const [index, text] of plan.letters.entries()) {
      const raw = JSON.stringify([{ type: 'text', text }]);
      bodies.push({ type: 'letter.received', letter: `l_${number}_${index}`, from: 'user', raw });
    }
    if (plan.hasJobLetter) {
      const raw = '[{"type":"text","text":"It ended."}]';
      bodies.push({ type: 'letter.received', letter: `j_${number}`, from: 'job', raw });
      jobLetters.push(`j_${number}`);
    }
    const parts = [...open.map((call) => ({ call })), ...letters.map((letter) => ({ letter }))];
    if (parts.length === 0) bodies.push({ type: 'user.sent', parts: [{ text: 'Go on.' }] });
    else {
      const attached = jobLetters.splice(0).map((letter) => ({ letter }));
      bodies.push({ type: 'user.sent', parts: [...parts, ...attached] });
    }
    const ids = plan.calls.map((_, index) => `c_${number}_${index}`);
    for (let failed = 0; failed < plan.failedAttempts; failed += 1) {
      bodies.push(turnStarted, ...callBodies(plan, ids, false), turnFailed);
    }
    bodies.push(turnStarted, ...callBodies(plan, ids, true), received(plan, ids));
    bodies.push(...callBodies(plan, ids, false));
    open = ids;
    if (plan.truncates && number > 1) {
      const kept = { reason: 'truncation', section: 'messages', notice: 'Gone.' } as const;
      bodies.push({ type: 'prompt.broken', ...kept, dropped: 2, tokensBefore: 9, tokensAfter: 5 });
    }
  }
  bodies.push({ type: 'run.ended', reason: 'end_turn', detail: null, turns: 1, final: true });
  return bodies;
};

const turnStarted: JournalBody = {
  type: 'turn.started',
  ...attempt,
  model: 'm',
  estimatedTokens: 5,
  tools: 4,
  messages: 1,
};
const turnFailed: JournalBody = {
  type: 'turn.failed',
  ...attempt,
  kind: 'dropped',
  message: 'Cut.',
  status: null,
  durationMs: 5,
  model: 'm',
  usage,
  cost: 0.5,
};

const received = ({ text, calls, stopReason }: RoundPlan, ids: readonly string[]): JournalBody => ({
  type: 'assistant.received',
  ...attempt,
  model: 'm',
  messageId: 'msg',
  requestId: null,
  stopReason,
  usage,
  cost: 0.25,
  durationMs: 5,
  raw: JSON.stringify([
    { type: 'text', text },
    ...calls.map(({ tool, input }, index) => {
      return { type: 'tool_use', id: ids[index], name: tool, input };
    }),
  ]),
});

const callBodies = ({ calls, order }: RoundPlan, ids: readonly string[], first: boolean) => {
  const rank = (index: number) => order[index] ?? 0;
  return calls
    .map((plan, index) => ({ plan, index }))
    .filter(({ plan }) => plan.endsFirst === first)
    .sort((a, b) => rank(a.index) - rank(b.index))
    .flatMap(({ plan, index }) => callRecords(plan, ids[index] ?? ''));
};

const job = { type: 'job.read' } as const;
const todos = { type: 'todos.written' } as const;
const pending = { status: 'pending' } as const;

const callRecords = ({ tool, notes, result, started }: CallPlan, call: string): JournalBody[] => {
  const stamp = { digest: `d-${call}`, mtimeMs: 1, size: 2 };
  const start: JournalBody = {
    type: 'call.started',
    ...attempt,
    call,
    tool,
    readOnly: true,
    inputDigest: 'd',
    description: tool,
  };
  const end: JournalBody = {
    type: 'call.ended',
    ...attempt,
    call,
    tool,
    outcome: 'ok',
    durationMs: 1,
    notes: [
      ...(notes.cwd === null ? [] : [{ type: 'cwd.changed' as const, cwd: notes.cwd }]),
      ...(notes.seen === null ? [] : [{ type: 'file.seen' as const, path: notes.seen, stamp }]),
      ...(notes.job === null ? [] : [{ ...job, job: `bash_${notes.job}`, upTo: notes.job }]),
      ...(notes.todo === null ? [] : [{ ...todos, todos: [{ ...pending, content: notes.todo }] }]),
    ],
    raw: JSON.stringify({ type: 'tool_result', tool_use_id: call, content: result }),
  };
  return started ? [start, end] : [end];
};

export const anyJournal: fc.Arbitrary<JournalRecord[]> = fc
  .array(roundPlan, { minLength: 1, maxLength: 5 })
  .map((rounds) =>
    bodiesOf(rounds).map(
      (body, index) => ({ v: 1, seq: index + 1, ts: 1000 + index, epoch: 1, ...body }) as const,
    ),
  );
