/**
 * Records of an agent's journal, the only input of its recovery. Each record is one line of JSON.
 *
 * `raw` is JSON text that is sent unchanged. It is the last key of its line and is spliced in, never rebuilt
 * from a parsed value, so that the bytes of a prompt equal the bytes of the journal (law 3). Records that are
 * folded into messages refer to each other instead of repeating contents.
 */
import { z } from 'zod';
import { parseJson } from '../../lib/json/parse-json.js';
import { isPromptContent } from '../agent/letter-text.js';
import { STOP_REASONS } from '../agent/stop.js';
import { todo } from '../agent/todo.js';
import { CACHE_CAUSES, PART_CHANGES } from '../model/cache-causes.js';
import { attemptFields, controlRecords } from './control-records.js';
import { FILE_RECORDS } from './file-records.js';
import { agentOrigin, SWARM_RECORDS } from './swarm-records.js';

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

/** Values of facts by name, at the time the agent read them. */
const factValues = z.record(z.string(), z.string());

/** The first matching shape wins and drops unknown keys, so the shape with the fewest keys is last. */
const userPart = z.union([
  /** `shown` is the block that was sent instead of the journaled result: a preview. */
  z.object({ call: z.string(), shown: z.string().optional() }),
  z.object({ letter: z.string() }),
  /** Preamble of the first message: memory files, the date; then the role of a typed agent. */
  z.object({ briefing: z.string(), facts: factValues, role: z.string().optional() }),
  /** A changed fact, or a rule for a file that was touched. */
  z.object({ reminder: z.string(), value: z.string(), text: z.string() }),
  /** First content of a fork: the placeholder results that its parent journaled. */
  z.object({ offer: z.literal(true) }),
  z.object({ text: z.string() }),
]);
export type UserPart = z.infer<typeof userPart>;

/** Identity of a call for loop detection: the same call with the same result has the same digest. */
const callTrace = z.object({
  digest: z.string(),
  /** The call polls for an external change, so repetitions are not a loop. */
  polls: z.literal(true).optional(),
  /** Number of consecutive repetitions at which the model was warned. */
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
    /** Name of the artifact with the prompt head. */
    prompt: z.string(),
    /** Session and agent whose records up to `seq` this agent starts with. */
    forkedFrom: z.object({ session: z.string(), agent: z.string() }).optional(),
    /** Left out for leads. */
    origin: agentOrigin.optional(),
  }),
  z.object({ type: z.literal('epoch.began'), owner: z.string() }),
  z.object({ type: z.literal('run.started'), run: z.number().int() }),
  z.object({
    type: z.literal('letter.received'),
    letter: z.string(),
    from: z.string(),
    /** Digest of the content without ids and numbers that differ each time. Left out if there are none. */
    trace: z.string().optional(),
    /** An array of user blocks. */
    raw: z.string(),
  }),
  z.object({ type: z.literal('user.sent'), parts: z.array(userPart) }),
  z.object({
    type: z.literal('turn.started'),
    ...attemptFields,
    model: z.string(),
    estimatedTokens: z.number(),
    tools: z.number().int(),
    messages: z.number().int(),
    /** Beta features of this request and all later requests of the session. */
    betas: z.array(z.string()).optional(),
    /** Digests of the messages from index `from`, which were not sent before. */
    sent: z.object({ from: z.number().int(), digests: z.array(z.string()) }).optional(),
    /** Part of the newest message that is cached. Default: all of it. */
    marked: z.enum(['shared', 'nothing']).optional(),
  }),
  z.object({
    type: z.literal('assistant.received'),
    ...attemptFields,
    model: z.string(),
    messageId: z.string().nullable(),
    requestId: z.string().nullable(),
    stopReason: z.string(),
    usage,
    /** USD. Null if the price of the model is unknown. */
    cost: z.number().nullable(),
    durationMs: z.number(),
    /** An array of assistant blocks, as received. `[]` if there was no complete block. */
    raw: z.string(),
  }),
  z.object({
    type: z.literal('turn.failed'),
    ...attemptFields,
    kind: z.string(),
    message: z.string(),
    status: z.number().nullable(),
    durationMs: z.number(),
    /** Model of the failed request. An interrupted stream is billed for its usage. */
    model: z.string(),
    usage,
    cost: z.number().nullable(),
  }),
  z.object({
    /** Shape of later requests, without cache breakpoints and messages. Written when it changes. */
    type: z.literal('request.shaped'),
    shape: z.record(z.string(), z.string()),
  }),
  z.object({
    /** The server read much less from its cache than the previous request had left there. */
    type: z.literal('cache.broken'),
    ...attemptFields,
    cause: z.enum(CACHE_CAUSES),
    /** True if the miss was declared in advance: a compaction, a clear, another model. */
    expected: z.boolean(),
    /** The section, tool, setting or message that changed. */
    owner: z.string(),
    /** Left out if no part of the request changed. */
    change: z.enum(PART_CHANGES).optional(),
    /**
     * Offset of the first different byte in the owner's text. Null if no part of the request changed,
     * or if only digests of the previous text are left.
     */
    byte: z.number().int().nullable(),
    /** Tokens that the previous request had left in the cache. `readTokens` of them were read. */
    cachedTokens: z.number(),
    readTokens: z.number(),
    /** Explanation for people. */
    detail: z.string(),
    /** The server's diagnosis. Null if it was not asked or did not answer. */
    diagnosis: z.string().nullable(),
  }),
  z.object({
    /** A side request was sent. Viewers show that the agent waits for it. */
    type: z.literal('consultation.started'),
    purpose: z.string(),
    /** Id of the call that needs it. Null if the agent itself needs it. */
    call: z.string().nullable(),
    model: z.string(),
  }),
  z.object({
    /** A side request ended. It is billed, but its answer is not a message. */
    type: z.literal('consultation.ended'),
    purpose: z.string(),
    /** Id of the call that needed it. Null if the agent itself needed it. */
    call: z.string().nullable(),
    outcome: z.enum(['ok', 'failed', 'aborted']),
    model: z.string(),
    usage,
    cost: z.number().nullable(),
    durationMs: z.number(),
  }),
  controlRecords.callRuled,
  controlRecords.hookRan,
  controlRecords.retryScheduled,
  ...FILE_RECORDS,
  ...SWARM_RECORDS,
  controlRecords.questionAsked,
  controlRecords.questionAnswered,
  controlRecords.ordersFound,
  z.object({
    type: z.literal('call.started'),
    ...attemptFields,
    call: z.string(),
    tool: z.string(),
    readOnly: z.boolean(),
    inputDigest: z.string(),
    description: z.string(),
  }),
  z.object({
    type: z.literal('call.ended'),
    ...attemptFields,
    call: z.string(),
    tool: z.string(),
    outcome: z.enum(CALL_OUTCOMES),
    durationMs: z.number(),
    notes: z.array(note).optional(),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    /** Left out if the call was interrupted. */
    trace: callTrace.optional(),
    /** The tool_result block. */
    raw: z.string(),
  }),
  z.object({
    type: z.literal('prompt.broken'),
    reason: z.enum(['truncation', 'compaction', 'clear', 'model', 'section']),
    /** The part that changed, in words. */
    section: z.string(),
    /** Name of the artifact with the new prompt head. */
    prompt: z.string().optional(),
    /** Compaction: preamble before the summary. */
    briefing: z
      .object({ text: z.string(), facts: factValues, role: z.string().optional() })
      .optional(),
    /** Truncation: number of messages dropped after the first message, whose text then is `notice`. */
    dropped: z.number().int().optional(),
    notice: z.string().optional(),
    /** Compaction: text that replaces the first `dropped` messages. */
    summary: z.string().optional(),
    tokensBefore: z.number().optional(),
    tokensAfter: z.number().optional(),
  }),
  z.object({
    type: z.literal('run.ended'),
    reason: z.enum(STOP_REASONS),
    detail: z.string().nullable(),
    turns: z.number().int(),
    /** True if the agent has ended. False: the agent is idle and waits for a prompt. */
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

const journalHead = z.object({
  v: z.literal(JOURNAL_VERSION),
  /** Number in the journal, starting at 1. */
  seq: z.number().int(),
  /** Milliseconds since 1970. */
  ts: z.number(),
  /** Epoch of the lease. A record with an older epoch after a newer one is a zombie's write (law 8). */
  epoch: z.number().int(),
});
type JournalHead = z.infer<typeof journalHead>;

export type JournalRecord = JournalHead & JournalBody;

/** Returns one line without its newline. `raw` is spliced in unchanged, as the last key. */
export const formatRecord = (record: JournalRecord): string => {
  if (!('raw' in record)) return JSON.stringify(record);
  const { raw, ...rest } = record;
  return `${JSON.stringify(rest).slice(0, -1)},"raw":${raw}}`;
};

/** True if the content has the shape that the fold of a journal expects. A damaged line may not. */
const isFittingRaw = (value: {
  readonly raw?: unknown;
  readonly [key: string]: unknown;
}): boolean => {
  const { type, raw, call } = value;
  switch (type) {
    case 'letter.received':
      return isPromptContent(raw);
    case 'assistant.received':
      return Array.isArray(raw) && raw.every(isAnswerBlock);
    case 'call.ended':
      return isBlock(raw) && (raw.tool_use_id === undefined || raw.tool_use_id === call);
    default:
      return true;
  }
};

const isBlock = (block: unknown): block is Readonly<Record<string, unknown>> =>
  typeof block === 'object' && block !== null && !Array.isArray(block);

const isAnswerBlock = (block: unknown): boolean =>
  isBlock(block) &&
  typeof block.type === 'string' &&
  (block.type !== 'tool_use' || (typeof block.id === 'string' && typeof block.name === 'string'));

/** Returns undefined if the line is not a record of this version. Never throws. */
export const parseRecord = (line: string): JournalRecord | undefined => {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null) return undefined;
  if ('raw' in value) {
    if (!isFittingRaw(value)) return undefined;
    value.raw = JSON.stringify(value.raw);
  }
  const head = journalHead.safeParse(value);
  const body = journalBody.safeParse(value);
  // Object.assign is much faster here than a new object, because records have many shapes.
  return head.success && body.success ? Object.assign(head.data, body.data) : undefined;
};
