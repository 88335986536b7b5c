/**
 * The journal of one agent: the only input of its recovery. Every record is one line of JSON.
 *
 * `raw` is JSON text that goes on the wire as it stands. It is the last key of its line and is
 * spliced in, never built again from a parsed value, so the bytes of a prompt are the bytes of the
 * journal (law 3). Records that are folded into messages cite each other instead of repeating.
 */
import { z } from 'zod';
import { STOP_REASONS } from '../agent/agent.js';
import { isPrompt } from '../agent/letter-words.js';
import { todo } from '../agent/todos.js';
import { CACHE_CAUSES, CHANGES } from '../model/cache-causes.js';
import { attempt, callRuled, hookRan, questionAnswered, questionAsked } from './control-records.js';
import { FILE_RECORDS } from './file-records.js';
import { origin, SWARM_RECORDS } from './swarm-records.js';

export const JOURNAL_VERSION = 1;

const usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite5m: z.number(),
  cacheWrite1h: z.number(),
  webSearches: z.number().optional(),
});

const stamp = z.object({ digest: z.string(), mtimeMs: z.number(), size: z.number() });

const note = z.discriminatedUnion('type', [
  z.object({ type: z.literal('file.seen'), path: z.string(), stamp }),
  z.object({ type: z.literal('cwd.changed'), cwd: z.string() }),
  z.object({ type: z.literal('job.read'), job: z.string(), upTo: z.number().int() }),
  z.object({ type: z.literal('letter.told'), letter: z.string() }),
  z.object({ type: z.literal('todos.written'), todos: z.array(todo).readonly() }),
]);

/** Facts by name, as they were told. */
const told = z.record(z.string(), z.string());

/** The first that fits is taken and loses what it does not know: the one with the fewest keys is last. */
export const userPart = z.union([
  z.object({ call: z.string() }),
  z.object({ letter: z.string() }),
  /** What stands before everything else: memory files, the date. */
  z.object({ briefing: z.string(), facts: told }),
  /** Something that is no longer as it was told, or a rule for a file that was touched. */
  z.object({ reminder: z.string(), value: z.string(), text: z.string() }),
  /** The first words of a fork: what its parent offers in place of results. */
  z.object({ offer: z.literal(true) }),
  z.object({ text: z.string() }),
]);
export type UserPart = z.infer<typeof userPart>;

/** What a circle is known by: one that is the same again, with the same result, has the same digest. */
const callTrace = z.object({
  digest: z.string(),
  /** It looks at what changes by itself, so that it may well be made again and again. */
  polls: z.literal(true).optional(),
  /** The model was told that it repeats itself: so often in a row. */
  told: z.number().int().optional(),
});
export type CallTrace = z.infer<typeof callTrace>;

export const CALL_OUTCOMES = ['ok', 'error', 'invalid', 'denied', 'interrupted'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export const journalBody = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('agent.created'),
    agent: z.string(),
    parent: z.string().nullable(),
    cwd: z.string(),
    model: z.string(),
    /** Name of the artifact that holds the bytes ahead of the messages. */
    prompt: z.string(),
    /** The session and agent whose records up to `seq` are this agent's beginning. */
    forkedFrom: z.object({ session: z.string(), agent: z.string() }).optional(),
    /** Left out for a lead. */
    origin: origin.optional(),
  }),
  z.object({ type: z.literal('epoch.began'), owner: z.string() }),
  z.object({ type: z.literal('run.started'), run: z.number().int() }),
  z.object({
    type: z.literal('letter.received'),
    letter: z.string(),
    from: z.string(),
    /** A digest of what it says, where its text also has ids or figures that are never the same twice. */
    trace: z.string().optional(),
    /** An array of user blocks. */
    raw: z.string(),
  }),
  z.object({ type: z.literal('user.sent'), parts: z.array(userPart) }),
  z.object({
    type: z.literal('turn.started'),
    ...attempt,
    model: z.string(),
    estimatedTokens: z.number(),
    tools: z.number().int(),
    messages: z.number().int(),
    /** Sent with this request and with every later one of the session. */
    betas: z.array(z.string()).optional(),
    /** Digests of the messages from the one with this index on: those that were never sent before. */
    sent: z.object({ from: z.number().int(), digests: z.array(z.string()) }).optional(),
    /** How much of the newest message ends with a mark; left out, all of it. */
    marked: z.enum(['shared', 'nothing']).optional(),
  }),
  z.object({
    type: z.literal('assistant.received'),
    ...attempt,
    model: z.string(),
    messageId: z.string().nullable(),
    requestId: z.string().nullable(),
    stopReason: z.string(),
    usage,
    /** USD; null when the price of the model is not known. */
    cost: z.number().nullable(),
    durationMs: z.number(),
    /** An array of assistant blocks, as received; `[]` when there was nothing to keep. */
    raw: z.string(),
  }),
  z.object({
    type: z.literal('turn.failed'),
    ...attempt,
    kind: z.string(),
    message: z.string(),
    status: z.number().nullable(),
    durationMs: z.number(),
    /** A stream that was cut is paid for as far as it went. */
    model: z.string(),
    usage,
    cost: z.number().nullable(),
  }),
  z.object({
    /** How requests look from here on, cache marks and messages aside; written when it changes. */
    type: z.literal('request.shaped'),
    shape: z.record(z.string(), z.string()),
  }),
  z.object({
    /** The server read much less from its cache than the request before had left there. */
    type: z.literal('cache.broken'),
    ...attempt,
    cause: z.enum(CACHE_CAUSES),
    /** It was declared ahead: a compaction, a clear, another model. */
    expected: z.boolean(),
    /** The section, the tool, the setting or the message that changed. */
    owner: z.string(),
    /** Left out when nothing of ours did. */
    change: z.enum(CHANGES).optional(),
    /**
     * Where in the owner's text the first byte differs; null when nothing of ours did, and when only
     * digests of the text before are left.
     */
    byte: z.number().int().nullable(),
    /** What the request before had left in the cache, and what was read of it. */
    cachedTokens: z.number(),
    readTokens: z.number(),
    /** In words, for people. */
    detail: z.string(),
    /** What the server says about it, where it was asked and has answered. */
    diagnosis: z.string().nullable(),
  }),
  z.object({
    /** A request beside the conversation leaves: whoever looks on sees what its agent waits for. */
    type: z.literal('consultation.started'),
    purpose: z.string(),
    /** The call that it is made for; null when the agent itself needs it. */
    call: z.string().nullable(),
    model: z.string(),
  }),
  z.object({
    /** A request beside the conversation: it is paid for, and its answer is no message. */
    type: z.literal('consultation.ended'),
    purpose: z.string(),
    /** The call that it was made for; null when the agent itself needed it. */
    call: z.string().nullable(),
    outcome: z.enum(['ok', 'failed', 'aborted']),
    model: z.string(),
    usage,
    cost: z.number().nullable(),
    durationMs: z.number(),
  }),
  callRuled,
  hookRan,
  ...FILE_RECORDS,
  ...SWARM_RECORDS,
  questionAsked,
  questionAnswered,
  z.object({
    type: z.literal('call.started'),
    ...attempt,
    call: z.string(),
    tool: z.string(),
    readOnly: z.boolean(),
    inputDigest: z.string(),
    description: z.string(),
  }),
  z.object({
    type: z.literal('call.ended'),
    ...attempt,
    call: z.string(),
    tool: z.string(),
    outcome: z.enum(CALL_OUTCOMES),
    durationMs: z.number(),
    notes: z.array(note).optional(),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    /** Left out where the call was interrupted. */
    trace: callTrace.optional(),
    /** The tool_result block. */
    raw: z.string(),
  }),
  z.object({
    type: z.literal('prompt.broken'),
    reason: z.enum(['truncation', 'compaction', 'clear', 'model', 'section']),
    /** What changed, in words. */
    section: z.string(),
    /** The artifact that holds the head of the prompt from now on. */
    prompt: z.string().optional(),
    /** Compaction: what stands before the summary. */
    briefing: z.object({ text: z.string(), facts: told }).optional(),
    /** Truncation: this many messages after the first one are gone, and the first one says so. */
    dropped: z.number().int().optional(),
    notice: z.string().optional(),
    /** Compaction: so many messages from the first on are gone, and this stands in their place. */
    summary: z.string().optional(),
    tokensBefore: z.number().optional(),
    tokensAfter: z.number().optional(),
  }),
  z.object({
    type: z.literal('run.ended'),
    reason: z.enum(STOP_REASONS),
    detail: z.string().nullable(),
    turns: z.number().int(),
    /** The agent is over; otherwise it rests and waits for a prompt. */
    final: z.boolean(),
  }),
  z.object({
    type: z.literal('bound.hit'),
    what: z.string(),
    limit: z.number(),
    detail: z.string(),
  }),
]);
export type JournalBody = z.infer<typeof journalBody>;

export const journalHead = z.object({
  v: z.literal(JOURNAL_VERSION),
  /** Counts from 1 in each journal. */
  seq: z.number().int(),
  /** Milliseconds since 1970. */
  ts: z.number(),
  /** The lease under which it was written; older epochs after newer ones are a zombie's (law 8). */
  epoch: z.number().int(),
});
export type JournalHead = z.infer<typeof journalHead>;

export type JournalRecord = JournalHead & JournalBody;

/** One line without its newline. `raw` is spliced in as it stands, as the last key. */
export const formatRecord = (record: JournalRecord): string => {
  if (!('raw' in record)) return JSON.stringify(record);
  const { raw, ...rest } = record;
  return `${JSON.stringify(rest).slice(0, -1)},"raw":${raw}}`;
};

/** Undefined when the line is not a record of this version; never throws. */
export const parseRecord = (line: string): JournalRecord | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if ('raw' in value) {
    if ('type' in value && value.type === 'letter.received' && !isPrompt(value.raw))
      return undefined;
    value.raw = JSON.stringify(value.raw);
  }
  const head = journalHead.safeParse(value);
  const body = journalBody.safeParse(value);
  // A new object of every shape that there is would take longer than all else here.
  return head.success && body.success ? Object.assign(head.data, body.data) : undefined;
};
