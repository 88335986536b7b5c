/**
 * Shape of a request: the parts that decide whether a server finds the prefix in its cache, as
 * digests by name. A comparison of two shapes explains why a prefix was not read again.
 */
import { hash } from 'node:crypto';
import type { HeadSection } from '../../protocol/model/prompt-head.js';
import type { BodyHead } from '../request/request-body.js';

/** A request without its messages. */
export interface SentHead {
  readonly head: BodyHead;
  readonly sections: readonly HeadSection[];
  readonly betas: readonly string[];
}

/** Values by name: short values verbatim, longer values as digests. */
export type RequestShape = Readonly<Record<string, string>>;

/** Keys of the ordered lists by kind. Each member has a digest under `<kind> <name>`. */
const LISTS = { tool: 'tools', section: 'sections', 'system block': 'system' } as const;
export type ListKind = keyof typeof LISTS;

/** Separator of the names in a list. No tool or section name contains it. */
const BETWEEN = '\n';

/** Value of a field that was not sent. */
const NONE = 'none';

/** Longer values are stored as digests. */
const MAX_VALUE_LENGTH = 120;

/** Fields that do not affect the cache. */
const ASIDE = new Set(['max_tokens', 'stream', 'metadata', 'diagnostics', 'messages']);
const NAMED = new Set(['model', 'tools', 'system', 'thinking', 'output_config']);

export const shapeDigest = (text: string | Uint8Array): string => hash('sha256', text).slice(0, 16);

export const shapeOf = (sent: SentHead): RequestShape => {
  const { fields, tools, blocks, sections } = partsOf(sent);
  const { effort, ...form } = (fields.output_config ?? {}) as Record<string, unknown>;
  const others = Object.keys(fields).filter((name) => !ASIDE.has(name) && !NAMED.has(name));
  return {
    model: sentValue(fields.model),
    betas: short(sent.betas.join(',') || NONE),
    ...listed('tool', tools),
    ...listed('section', sections),
    ...listed('system block', blocks),
    marks: marksOf(fields, ttlOf(sent.head)),
    ttl: ttlOf(sent.head),
    effort: sentValue(effort),
    thinking: sentValue(fields.thinking),
    ...(Object.keys(form).length > 0 && { 'answer format': sentValue(form) }),
    ...Object.fromEntries(others.map((name) => [`field ${name}`, sentValue(fields[name])])),
  };
};

/** Returns the text of a list member. Returns undefined if the request has no such member. */
export const memberText = (sent: SentHead, kind: ListKind, name: string): string | undefined => {
  const { tools, sections, blocks } = partsOf(sent);
  return { tool: tools, section: sections, 'system block': blocks }[kind].get(name);
};

export const memberNames = (shape: RequestShape, kind: ListKind): readonly string[] => {
  const names = shape[LISTS[kind]];
  return names === undefined || names === '' ? [] : names.split(BETWEEN);
};

interface Parts {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Tool texts by name, in request order. */
  readonly tools: ReadonlyMap<string, string>;
  readonly blocks: ReadonlyMap<string, string>;
  readonly sections: ReadonlyMap<string, string>;
}

interface CacheControl {
  readonly [field: string]: unknown;
  readonly ttl?: string;
}

interface Marked {
  readonly [field: string]: unknown;
  readonly cache_control?: CacheControl | null;
}

/** Parses the bytes that are sent, so that the shape cannot miss a sent field. */
const partsOf = ({ head, sections }: SentHead): Parts => {
  const fields = JSON.parse(`${head.bytes.toString()}]}`) as Record<string, unknown>;
  const tools = listItems(fields.tools).map((tool, index): [string, string] => [
    typeof tool.name === 'string' ? tool.name : `${index + 1}`,
    withoutCacheControl(tool),
  ]);
  const system = listItems(fields.system);
  const textIn = ({ block, start, end }: HeadSection) => {
    const text = system[block]?.text;
    return typeof text === 'string' ? text.slice(start, end) : '';
  };
  return {
    fields,
    tools: new Map(tools),
    blocks: new Map(system.map((block, index) => [`${index + 1}`, withoutCacheControl(block)])),
    sections: new Map(sections.map((section) => [section.name, textIn(section)])),
  };
};

const listItems = (list: unknown): readonly Marked[] => {
  if (typeof list === 'string') return [{ type: 'text', text: list }];
  return Array.isArray(list) ? (list as Marked[]) : [];
};

const withoutCacheControl = ({ cache_control: _mark, ...rest }: Marked): string =>
  JSON.stringify(rest);

const listed = (kind: ListKind, texts: ReadonlyMap<string, string>): RequestShape => ({
  [LISTS[kind]]: [...texts.keys()].join(BETWEEN),
  ...Object.fromEntries([...texts].map(([name, text]) => [`${kind} ${name}`, shapeDigest(text)])),
});

/** Returns position and lifetime of every breakpoint, in the order of the prompt. */
const marksOf = (fields: Parts['fields'], ttl: string): string => {
  const marks = ['tools', 'system'].flatMap((field) =>
    listItems(fields[field]).flatMap(({ cache_control }, index) =>
      cache_control ? [`${field} ${index + 1} ${lifetimeOf(cache_control)}`] : [],
    ),
  );
  return short([...marks, `messages ${ttl}`].join(', '));
};

/** Returns the lifetime of the message breakpoints. */
const ttlOf = ({ breakpoint }: BodyHead): string => {
  if (breakpoint.length === 0) return NONE;
  const { cache_control } = JSON.parse(`{${breakpoint.toString().slice(1)}}`) as Marked;
  return cache_control ? lifetimeOf(cache_control) : NONE;
};

const lifetimeOf = ({ type: _type, ttl = '5m', ...rest }: CacheControl): string =>
  Object.keys(rest).length === 0 ? ttl : `${ttl} ${JSON.stringify(rest)}`;

const sentValue = (value: unknown): string => {
  if (value === undefined) return NONE;
  return short(typeof value === 'string' ? value : JSON.stringify(value));
};

const short = (text: string): string =>
  text.length <= MAX_VALUE_LENGTH ? text : shapeDigest(text);
