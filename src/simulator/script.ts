/**
 * The script of a simulator: JSON that says which request gets which reply.
 *
 * Rules match content only and the first match wins, so a script has no memory; the one exception is
 * `replies`, a list that a rule gives out in order, repeating its last. Texts and tool inputs may hold
 * `{{turn}}`, `{{firstUser}}`, `{{lastUser}}`, `{{toolResult}}` and `{{model}}`.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../protocol/errors.js';

/** A substring, or a regular expression between slashes: `/fix \w+/i`. */
const pattern = z.string().min(1);
const count = z.int().min(0);

const match = z.strictObject({
  model: pattern.optional(),
  system: pattern.optional(),
  firstUser: pattern.optional(),
  /** The text blocks of the last user message. */
  lastUser: pattern.optional(),
  /** The tool results in the last user message. */
  toolResult: pattern.optional(),
  /** How many assistant messages the request holds. */
  turn: z
    .union([count, z.strictObject({ min: count.optional(), max: count.optional() })])
    .optional(),
});

const input = z.record(z.string(), z.unknown());

const toolUse = z.strictObject({
  /** Without one, an id that depends on the request only: a retry gets the same. */
  id: z.string().optional(),
  name: z.string().min(1),
  input: input.optional(),
  /** Sent as it is in place of `input`: may be malformed. */
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
    /** Without one, the server_tool_use before it. */
    tool_use_id: z.string().optional(),
    content: z.unknown(),
  }),
]);

const milliseconds = z.number().min(0);
const pacing = {
  /** Silence before the response starts. */
  delayMs: milliseconds.optional(),
  /** Silence before each delta but the first. */
  chunkDelayMs: milliseconds.optional(),
  /** Length of a delta. */
  chunkBytes: z.int().min(1).optional(),
};
const afterEvents = { afterEvents: count };

const fullReply = z
  .strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    tool_use: z.union([toolUse, z.array(toolUse)]).optional(),
    /** Any content in any order, in place of the three above. */
    blocks: z.array(block).optional(),
    stop_reason: z.string().optional(),
    stop_sequence: z.string().optional(),
    usage: z.strictObject({ output_tokens: count.optional() }).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** The whole answer is an HTTP error. */
    error: z
      .strictObject({
        status: z.int().min(400).max(599),
        type: z.string().optional(),
        message: z.string().optional(),
        /** Seconds, as in the header. */
        retryAfter: z.number().min(0).optional(),
        headers: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    /** An error event in the stream, after so many others, which ends it. */
    streamError: z
      .strictObject({ type: z.string(), message: z.string().optional(), ...afterEvents })
      .optional(),
    /** Goes silent after so many events and keeps the connection. */
    stall: z.strictObject(afterEvents).optional(),
    /** Breaks the connection after so many events. */
    cut: z.strictObject(afterEvents).optional(),
    ...pacing,
  })
  .refine((it) => !it.blocks || (!it.text && !it.thinking && !it.tool_use), {
    error: '"blocks" replaces "text", "thinking" and "tool_use": use one or the other',
  });

/** A string is short for a reply of that text. */
const reply = z.preprocess((it) => (typeof it === 'string' ? { text: it } : it), fullReply);

const rule = z
  .strictObject({
    match: match.default({}),
    reply: reply.optional(),
    replies: z.array(reply).min(1).optional(),
  })
  .refine((it) => (it.reply === undefined) !== (it.replies === undefined), {
    error: 'a rule has either "reply" or "replies"',
  });

const script = z.strictObject({
  /** Pacing of the replies that have none of their own. */
  defaults: z.strictObject(pacing).optional(),
  rules: z.array(rule),
});

export type Script = z.output<typeof script>;
/** As it is written: what tests and files hold. */
export type ScriptInput = z.input<typeof script>;
export type Match = z.output<typeof match>;
export type Reply = z.output<typeof fullReply>;
export type ReplyBlock = z.output<typeof block>;

/** Throws a UsageError whose one sentence names the source, the path and what is wrong there. */
export const parseScript = (value: unknown, source = 'the script'): Script => {
  const result = script.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.map(String).join('.') || 'the top level';
  throw new UsageError(`${source} is not a simulator script: at ${path}: ${issue?.message}.`);
};

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

/** Answers everything with what was said last. */
export const ECHO_SCRIPT: Script = parseScript({ rules: [{ reply: '{{lastUser}}' }] });
