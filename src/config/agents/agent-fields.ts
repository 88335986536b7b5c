/** Reads the fields of an agent definition, from the front matter of a file or from JSON. */

import { z } from 'zod';
import { isRecord } from '../../lib/json/is-record.js';
import { didYouMean } from '../../lib/text/did-you-mean.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { PERMISSION_MODES } from '../../protocol/permission/permission-mode.js';
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from '../json/settings-document.js';
import { type HookSettings, readHookSettings } from '../settings/hook-settings.js';
import { describeValue, settingName } from '../settings/settings-warnings.js';

interface FieldsSource {
  /** File or flag that has the fields, for sentences. */
  readonly path: string;
  /** Returns the line of a field, from 1. Returns undefined if the source has no lines. */
  readonly lineOf: (path: JsonPath) => number | undefined;
  /** Names of the fields that this source may have. */
  readonly knownFields: readonly string[];
}

export type AgentFields = Omit<AgentDefinition, 'name' | 'prompt' | 'path' | 'source'>;

interface InvalidField {
  readonly at: JsonPath;
  /** Imperative clause without a full stop. */
  readonly fix: string;
}

export const AGENT_NAME = /^\w[\w.:-]{0,63}$/;

/** Returns the first invalid field that could change the rights of the agent. Other mistakes are warnings. */
export const readAgentFields = (
  fields: JsonObject,
  { path, lineOf, knownFields }: FieldsSource,
): AgentFields | InvalidField => {
  const values: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [key, { schema, expects, isHarmless }] of Object.entries(FIELD_RULES)) {
    const given = Object.hasOwn(fields, key) && knownFields.includes(key) ? fields[key] : undefined;
    if (given === undefined || given === null) continue;
    const { value, foreign } = key === 'tools' ? withoutForeignNames(given) : { value: given };
    if (foreign !== undefined) {
      warnings.push(`tools of ${path}: there is no tool ${describeValue(foreign)}.`);
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) values[key] = parsed.data;
    else if (isHarmless) {
      const line = lineOf([key]);
      const where = `${path}${line === undefined ? '' : `, line ${line},`}`;
      warnings.push(
        `${key} in ${where} is ignored: write ${expects} instead of ${describeValue(value)}.`,
      );
    } else return { at: [key], fix: `${key}: write ${expects} instead of ${describeValue(value)}` };
  }
  const read = values as ReadValues;
  if (read.description === undefined) return { at: ['description'], fix: NO_DESCRIPTION };
  const unknown = Object.keys(fields).filter((key) => !knownFields.includes(key));
  if (unknown.length > 0) warnings.push(unknownSentence(path, unknown, knownFields));
  const unused = UNUSED_FIELDS.filter((key) => (read[key]?.length ?? 0) > 0);
  if (unused.length > 0) {
    warnings.push(`${unused.join(', ')} of ${path}: no effect in this version.`);
  }
  const hooks = hooksOf(fields, path, lineOf);
  const [refused] = hooks.refused;
  if (refused !== undefined) {
    const at: JsonPath = ['hooks', ...refused.path];
    return { at, fix: `${settingName(at)}: ${refused.fix}` };
  }
  const { tools, disallowedTools = [], model, prompt, ...rest } = read;
  return {
    ...rest,
    description: read.description,
    ...(tools !== undefined && { tools: [...new Set(tools.map(nameIn))] }),
    disallowedTools: disallowedTools.filter((entry) => !isLimited(entry)).map(nameIn),
    limits: limitsOf(tools ?? []),
    denials: disallowedTools.filter(isLimited),
    ...(model !== undefined && model !== 'inherit' && { model }),
    skills: read.skills ?? [],
    mcpServers: read.mcpServers ?? [],
    hooks: hooks.setups,
    background: read.background ?? false,
    proactive: read.proactive ?? false,
    ownPrompt: read.ownPrompt === true || prompt === 'own',
    warnings: [...warnings, ...hooks.warnings],
  };
};

/** Fields that are stored and have no effect in this version. */
const UNUSED_FIELDS = ['skills', 'mcpServers'] as const;

type ReadValues = { readonly prompt?: 'own' | 'shared' } & Partial<
  Omit<AgentFields, 'hooks' | 'limits' | 'denials' | 'warnings'>
>;

const hooksOf = (
  fields: JsonObject,
  file: string,
  lineOf: FieldsSource['lineOf'],
): HookSettings => {
  const { hooks } = fields;
  if (hooks === undefined || hooks === null) return { setups: [], warnings: [], refused: [] };
  const at = (path: JsonPath) => lineOf(['hooks', ...path]);
  return readHookSettings({ hooks: [{ value: hooks, file, source: 'command', lineOf: at }] });
};

const MAX_LISTED_KEYS = 10;

const unknownSentence = (
  path: string,
  unknown: readonly string[],
  knownFields: readonly string[],
) => {
  const listed = unknown.slice(0, MAX_LISTED_KEYS).map((key) => {
    const suggestion = didYouMean(key, knownFields);
    const shown = key.length > 40 ? `${key.slice(0, 40)}…` : key;
    return suggestion === undefined ? shown : `${shown} (did you mean ${suggestion}?)`;
  });
  const more =
    unknown.length > MAX_LISTED_KEYS ? ` and ${unknown.length - MAX_LISTED_KEYS} more` : '';
  return `${path} has keys that Skein does not know and does not use: ${listed.join(', ')}${more}.`;
};

/** Tool name with an optional pattern, such as `Bash(git diff:*)`. Files for other programs have names with `/`. */
const ENTRY = /^([A-Za-z_*][\w.:*/-]*)(?:\((.+)\))?$/s;
const nameIn = (entry: string) => ENTRY.exec(entry)?.[1] ?? entry;
const isLimited = (entry: string) => !/^[*:\s]*$/.test(ENTRY.exec(entry)?.[2] ?? '');

/** Returns the entries with a pattern. A tool that is also listed without a pattern is not limited. */
const limitsOf = (entries: readonly string[]): readonly string[] => {
  const whole = new Set(entries.filter((entry) => !isLimited(entry)).map(nameIn));
  return entries.filter((entry) => isLimited(entry) && !whole.has(nameIn(entry)));
};

/** Splits at commas outside of parentheses, because a command may contain commas. */
const separated = (text: string): string[] => {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text[at];
    if (letter === '(') depth += 1;
    else if (letter === ')') depth -= 1;
    else if (letter === undefined || (letter === ',' && depth <= 0)) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return parts.filter((part) => part !== '');
};

/** Name with blanks that a file for another program may list. */
const FOREIGN_NAME = /^[A-Za-z][\w ./-]*$/;

/**
 * Removes names with blanks, which no tool has, from a list that also has other names. Without them the
 * agent has fewer rights. `foreign` is the first removed name.
 */
const withoutForeignNames = (value: unknown) => {
  const entries = typeof value === 'string' ? separated(value) : value;
  if (!Array.isArray(entries)) return { value };
  const isForeign = (entry: unknown) =>
    typeof entry === 'string' && !ENTRY.test(entry) && FOREIGN_NAME.test(entry);
  const rest = entries.filter((entry) => !isForeign(entry));
  return rest.length === 0 || rest.length === entries.length
    ? { value }
    : { value: rest, foreign: entries.find(isForeign) };
};

/** Schema for a list, or for words with commas between them. */
const wordList = (word: z.ZodString) =>
  z.union([z.array(word), z.string().transform(separated).pipe(z.array(word))]);

const text = z.string().trim().min(1);
const tools = wordList(text.max(500).regex(ENTRY));
const names = wordList(text.max(100));

interface FieldRule {
  readonly schema: z.ZodType;
  /** Completes "write …". */
  readonly expects: string;
  /** True if ignoring a wrong value is safe, so that it is only a warning. Default: false. */
  readonly isHarmless?: boolean;
}

const FIELD_RULES: Readonly<Record<string, FieldRule>> = {
  description: { schema: text, expects: 'when to choose it, in a text' },
  tools: { schema: tools, expects: 'names of tools, such as "Read, Grep",' },
  disallowedTools: { schema: tools, expects: 'names of tools, such as "Bash, Write",' },
  model: { schema: text, expects: 'the name of a model, or inherit' },
  permissionMode: {
    schema: z.enum(PERMISSION_MODES),
    expects: `one of ${PERMISSION_MODES.join(', ')}`,
  },
  maxTurns: { schema: z.int().min(1), expects: 'a whole number of 1 or more' },
  maxBudgetUsd: { schema: z.number().min(0), expects: 'an amount in US dollars of 0 or more' },
  maxBudgetTokens: { schema: z.int().min(0), expects: 'a number of tokens of 0 or more' },
  skills: { schema: names, expects: 'names of skills' },
  mcpServers: { schema: names, expects: 'names of servers' },
  hooks: { schema: z.custom<JsonObject>(isRecord), expects: 'an object of events' },
  background: { schema: z.boolean(), expects: 'true or false' },
  isolation: { schema: z.literal('worktree'), expects: 'worktree' },
  color: { schema: text.max(40).regex(/^[\w#-]+$/), expects: 'a color', isHarmless: true },
  proactive: { schema: z.boolean(), expects: 'true or false' },
  prompt: { schema: z.enum(['own', 'shared']), expects: 'own or shared' },
  // JSON has `ownPrompt` instead of `prompt: own`, because its `prompt` is the text.
  ownPrompt: { schema: z.boolean(), expects: 'true or false' },
};

const NO_DESCRIPTION =
  'say when to choose it, such as "description: Reviews a change before it is merged"';
