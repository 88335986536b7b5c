/**
 * Script of a simulator: JSON rules that map requests to replies.
 *
 * Rules match content only, and the first match wins. A script has no state except the position in
 * a list of `replies`, which a rule returns in order and whose last reply repeats. Texts and tool
 * inputs may contain `{{turn}}`, `{{firstUser}}`, `{{lastUser}}`, `{{toolResult}}` and `{{model}}`.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../protocol/skein-error.js';

/** Substring, or a regular expression between slashes: `/fix \w+/i`. */
const pattern = z.string().min(1);
const count = z.int().min(0);

const match = z.strictObject({
  model: pattern.optional(),
  system: pattern.optional(),
  firstUser: pattern.optional(),
  /** Text blocks of the last user message. */
  lastUser: pattern.optional(),
  /** Tool results in the last user message. */
  toolResult: pattern.optional(),
  /** Number of assistant messages in the request. */
  turn: z
    .union([count, z.strictObject({ min: count.optional(), max: count.optional() })])
    .optional(),
});

const input = z.record(z.string(), z.unknown());

const toolUse = z.strictObject({
  /** Default: an id derived from the request, so that a retry gets the same id. */
  id: z.string().optional(),
  name: z.string().min(1),
  input: input.optional(),
  /** Raw text that is sent instead of `input`. May be malformed. */
  input_json: z.string().optional(),
});

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  toolUse.extend({ type: z.literal('tool_use') }),
  toolUse.extend({ type: z.literal('server_tool_use') }),
  z.strictObject({
    type: z.enum([
      'web_search_tool_result',
      'web_fetch_tool_result',
      'code_execution_tool_result',
      'bash_code_execution_tool_result',
      'tool_search_tool_result',
    ]),
    /** Default: the id of the preceding `server_tool_use`. */
    tool_use_id: z.string().optional(),
    content: z.unknown(),
  }),
]);

const milliseconds = z.number().min(0);
const pacing = {
  /** Delay before the response starts, in milliseconds. */
  delayMs: milliseconds.optional(),
  /** Delay before each delta except the first, in milliseconds. */
  chunkDelayMs: milliseconds.optional(),
  /** Length of a delta in bytes. */
  chunkBytes: z.int().min(1).optional(),
};
const afterEvents = { afterEvents: count };

const fullReply = z
  .strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    tool_use: z.union([toolUse, z.array(toolUse)]).optional(),
    /** Content blocks in any order, instead of `text`, `thinking` and `tool_use`. */
    blocks: z.array(block).optional(),
    stop_reason: z.string().optional(),
    stop_sequence: z.string().optional(),
    usage: z.strictObject({ output_tokens: count.optional() }).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** HTTP error to answer with. */
    error: z
      .strictObject({
        status: z.int().min(400).max(599),
        type: z.string().optional(),
        message: z.string().optional(),
        /** Value of the `retry-after` header, in seconds. */
        retryAfter: z.number().min(0).optional(),
        headers: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    /** Ends the stream with an error event after `afterEvents` events. */
    streamError: z
      .strictObject({ type: z.string(), message: z.string().optional(), ...afterEvents })
      .optional(),
    /** Stops sending after `afterEvents` events and keeps the connection open. */
    stall: z.strictObject(afterEvents).optional(),
    /** Breaks the connection after `afterEvents` events. */
    cut: z.strictObject(afterEvents).optional(),
    ...pacing,
  })
  .refine((reply) => !reply.blocks || (!reply.text && !reply.thinking && !reply.tool_use), {
    error: '"blocks" replaces "text", "thinking" and "tool_use": use one or the other',
  });

/** Accepts a string as a reply with that text. */
const reply = z.preprocess(
  (input) => (typeof input === 'string' ? { text: input } : input),
  fullReply,
);

const rule = z
  .strictObject({
    match: match.default({}),
    reply: reply.optional(),
    replies: z.array(reply).min(1).optional(),
  })
  .refine((rule) => (rule.reply === undefined) !== (rule.replies === undefined), {
    error: 'a rule has either "reply" or "replies"',
  });

const script = z.strictObject({
  /** Default pacing of replies. */
  defaults: z.strictObject(pacing).optional(),
  rules: z.array(rule),
});

export type Script = z.output<typeof script>;
/** Script before parsing, as tests and files contain it. */
export type ScriptInput = z.input<typeof script>;
export type Match = z.output<typeof match>;
export type Reply = z.output<typeof fullReply>;
export type ReplyBlock = z.output<typeof block>;

/** Throws UsageError that names the source, the path and the first problem. */
export const parseScript = (value: unknown, source = 'the script'): Script => {
  const result = script.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.map(String).join('.') || 'the top level';
  throw new UsageError(`${source} is not a simulator script: at ${path}: ${issue?.message}.`);
};

/** Rejects with UsageError if the file cannot be read, is not JSON or is not a script. */
export const loadScript = async (file: string): Promise<Script> => {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}.`, { cause });
  });
  try {
    return parseScript(JSON.parse(text), file);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UsageError(`${file} is not JSON: ${cause.message}.`, { cause });
  }
};

/** Script that answers every request with the last user text. */
export const ECHO_SCRIPT: Script = parseScript({ rules: [{ reply: '{{lastUser}}' }] });
