/** One agent as its file describes it: settings in the front matter, the prompt below. */
import { z } from 'zod';
import { splitFrontMatter } from '../protocol/front-matter.js';
import { parseFrontMatter } from './front-matter.js';
import type { PromptFileSource } from './prompt-files.js';
import type { JsonObject } from './settings-file.js';

export interface AgentDefinition {
  readonly name: string;
  /** When to choose it. */
  readonly description: string;
  /** The only tools that it has; left out, it has all. */
  readonly tools?: readonly string[];
  /** Never `inherit`: that is the same as none. */
  readonly model?: string;
  /** Its prompt joins the usual one instead of replacing it. */
  readonly proactive: boolean;
  readonly prompt: string;
  readonly path: string;
  readonly source: PromptFileSource;
  /** Keys that mean nothing here, as they are. */
  readonly others: JsonObject;
  /** Sentences for people. */
  readonly warnings: readonly string[];
}

export interface BadAgent {
  readonly name?: string;
  readonly line: number;
  /** What to do, without a full stop. */
  readonly fix: string;
}

export const parseAgent = (
  text: string,
  { path, source }: Pick<AgentDefinition, 'path' | 'source'>,
): AgentDefinition | BadAgent => {
  const { head, body } = splitFrontMatter(text);
  if (head === undefined) {
    return { line: 1, fix: 'begin with a line ---, then name and description, then a line ---' };
  }
  const front = parseFrontMatter(head);
  if ('fix' in front) return front;
  const { fields, lineOf } = front;
  const parsed = FIELDS.safeParse(fields);
  const { name } = fields;
  const known = typeof name === 'string' ? { name } : {};
  if (!parsed.success) {
    const key = String(parsed.error.issues[0]?.path[0] ?? 'name');
    return { ...known, line: lineOf(key), fix: FIXES[key] ?? `mend ${key}` };
  }
  const prompt = body.trim();
  if (prompt === '') {
    const line = text.trimEnd().split('\n').length;
    return { ...known, line, fix: 'write the prompt of the agent below the second line ---' };
  }
  const { tools, model, proactive, ...rest } = parsed.data;
  const others = Object.entries(fields).filter(([key]) => !Object.hasOwn(FIELDS.shape, key));
  const unknown = others.map(([key]) => key).filter((key) => !FOREIGN_KEYS.has(key));
  return {
    ...rest,
    ...(tools !== undefined && tools !== null && { tools }),
    ...(typeof model === 'string' && model !== 'inherit' && { model }),
    ...{ proactive: proactive ?? false, prompt, path, source },
    others: Object.fromEntries(others),
    warnings:
      unknown.length === 0
        ? []
        : [`${path} has keys that Skein does not know and does not use: ${unknown.join(', ')}.`],
  };
};

const toolName = z.string().trim().min(1);
const separated = (text: string) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const FIELDS = z.object({
  name: z.string().regex(/^\w[\w.:-]{0,63}$/),
  description: z.string().trim().min(1),
  /** A list, or names with commas between them. */
  tools: z.union([z.array(toolName), z.string().transform(separated)]).nullish(),
  model: z.string().trim().min(1).nullish(),
  proactive: z.boolean().nullish(),
});

const FIXES: Readonly<Record<string, string>> = {
  name: 'give it a name of letters, digits and hyphens, such as "name: reviewer"',
  description: 'say when to choose it, such as "description: Reviews a change before it goes in"',
  tools: 'list the names of tools, such as "tools: Read, Grep"',
  model: 'name a model, or leave the line out',
  proactive: 'write true or false',
};

/** Known in the ecosystem and no concern of ours: kept without a word. */
const FOREIGN_KEYS = new Set(['color']);
