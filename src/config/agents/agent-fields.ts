/** What an agent may be described with, wherever that stands: front matter of a file, or JSON. */
import { z } from 'zod';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import { PERMISSION_MODES } from '../../protocol/permission/permission.js';
import { nearest } from '../json/did-you-mean.js';
import type { JsonPath } from '../json/json-places.js';
import { type HookReading, readHooks } from '../settings/hook-settings.js';
import { isObject, type JsonObject } from '../settings/settings-file.js';
import { describe, nameOf } from '../settings/settings-warnings.js';

/** Where the fields stand. */
export interface FieldsPlace {
  /** Begins a sentence: a file, or what else they came from. */
  readonly path: string;
  /** Undefined where nobody could find a line. */
  readonly lineOf: (path: JsonPath) => number | undefined;
  /** The fields that may be written there. */
  readonly known: readonly string[];
}

export type DefinitionFields = Omit<AgentDefinition, 'name' | 'prompt' | 'path' | 'source'>;

export interface BadField {
  readonly at: JsonPath;
  /** What to do, without a full stop. */
  readonly fix: string;
}

/** What a name must be, in every place. */
export const AGENT_NAME = /^\w[\w.:-]{0,63}$/;

/** Values that would change what an agent may do are never passed over: then there is no agent. */
export const readFields = (
  fields: JsonObject,
  { path, lineOf, known }: FieldsPlace,
): DefinitionFields | BadField => {
  const values: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [key, { schema, expects, isHarmless }] of Object.entries(KEYS)) {
    const value = Object.hasOwn(fields, key) && known.includes(key) ? fields[key] : undefined;
    if (value === undefined || value === null) continue;
    const parsed = schema.safeParse(value);
    if (parsed.success) values[key] = parsed.data;
    else if (isHarmless) {
      const line = lineOf([key]);
      const where = `${path}${line === undefined ? '' : `, line ${line},`}`;
      warnings.push(
        `${key} in ${where} is ignored: write ${expects} instead of ${describe(value)}.`,
      );
    } else return { at: [key], fix: `${key}: write ${expects} instead of ${describe(value)}` };
  }
  const read = values as ReadValues;
  if (read.description === undefined) return { at: ['description'], fix: NO_DESCRIPTION };
  const unknown = Object.keys(fields).filter((key) => !known.includes(key));
  if (unknown.length > 0) warnings.push(unknownSentence(path, unknown, known));
  const idle = IDLE.filter((key) => (read[key]?.length ?? 0) > 0);
  if (idle.length > 0) warnings.push(`${idle.join(', ')} of ${path}: no effect in this version.`);
  const hooks = hooksOf(fields, path, lineOf);
  const [refused] = hooks.refused;
  if (refused !== undefined) {
    const at: JsonPath = ['hooks', ...refused.path];
    return { at, fix: `${nameOf(at)}: ${refused.fix}` };
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

/** They are kept for a version that can do something with them. */
const IDLE = ['skills', 'mcpServers'] as const;

type ReadValues = { readonly prompt?: 'own' | 'shared' } & Partial<
  Omit<DefinitionFields, 'hooks' | 'limits' | 'denials' | 'warnings'>
>;

const hooksOf = (fields: JsonObject, file: string, lineOf: FieldsPlace['lineOf']): HookReading => {
  const { hooks } = fields;
  if (hooks === undefined || hooks === null) return { setups: [], warnings: [], refused: [] };
  const at = (path: JsonPath) => lineOf(['hooks', ...path]);
  return readHooks({ hooks: [{ value: hooks, file, source: 'command', lineOf: at }] });
};

const MOST_KEYS = 10;

const unknownSentence = (path: string, unknown: readonly string[], known: readonly string[]) => {
  const told = unknown.slice(0, MOST_KEYS).map((key) => {
    const meant = nearest(key, known);
    const shown = key.length > 40 ? `${key.slice(0, 40)}…` : key;
    return meant === undefined ? shown : `${shown} (did you mean ${meant}?)`;
  });
  const more = unknown.length > MOST_KEYS ? ` and ${unknown.length - MOST_KEYS} more` : '';
  return `${path} has keys that Skein does not know and does not use: ${told.join(', ')}${more}.`;
};

/** `Bash(git diff:*)` is Bash, but not all of it. */
const ENTRY = /^([A-Za-z_*][\w.:*-]*)(?:\((.+)\))?$/s;
const nameIn = (entry: string) => ENTRY.exec(entry)?.[1] ?? entry;
const isLimited = (entry: string) => !/^[*:\s]*$/.test(ENTRY.exec(entry)?.[2] ?? '');

/** A tool that is also listed whole is not limited. */
const limitsOf = (entries: readonly string[]): readonly string[] => {
  const whole = new Set(entries.filter((entry) => !isLimited(entry)).map(nameIn));
  return entries.filter((entry) => isLimited(entry) && !whole.has(nameIn(entry)));
};

/** At commas that are in no parentheses: a command may have some. */
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

/** A list, or words with commas between them. */
const words = (word: z.ZodString) =>
  z.union([z.array(word), z.string().transform(separated).pipe(z.array(word))]);

const text = z.string().trim().min(1);
const tools = words(text.max(500).regex(ENTRY));
const names = words(text.max(100));

interface Key {
  readonly schema: z.ZodType;
  /** Completes "write …". */
  readonly expects: string;
  /** Without it nothing is looser: it costs a warning. */
  readonly isHarmless?: boolean;
}

const KEYS: Readonly<Record<string, Key>> = {
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
  hooks: { schema: z.custom<JsonObject>(isObject), expects: 'an object of events' },
  background: { schema: z.boolean(), expects: 'true or false' },
  isolation: { schema: z.literal('worktree'), expects: 'worktree' },
  color: { schema: text.max(40).regex(/^[\w#-]+$/), expects: 'a color', isHarmless: true },
  proactive: { schema: z.boolean(), expects: 'true or false' },
  prompt: { schema: z.enum(['own', 'shared']), expects: 'own or shared' },
  // The same in JSON, where the prompt is the role.
  ownPrompt: { schema: z.boolean(), expects: 'true or false' },
};

const NO_DESCRIPTION =
  'say when to choose it, such as "description: Reviews a change before it goes in"';
