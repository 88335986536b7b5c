/**
 * The shape of a request: what of it decides whether a server finds its beginning in the cache, as
 * digests by name. Two shapes are compared to say why a prefix was not read again.
 */
import { hash } from 'node:crypto';
import type { HeadSection } from '../../protocol/model/prompt.js';
import type { BodyHead } from '../request/request-body.js';

/** Everything that is sent besides the messages. */
export interface SentHead {
  readonly head: BodyHead;
  readonly sections: readonly HeadSection[];
  readonly betas: readonly string[];
}

/** By name. Short values stand as they are, texts as their digest. */
export type RequestShape = Readonly<Record<string, string>>;

/** Names of the lists whose order counts; each member has a digest under `<kind> <name>`. */
const LISTS = { tool: 'tools', section: 'sections', 'system block': 'system' } as const;
export type Listed = keyof typeof LISTS;

/** Between the names of a list; no name of a tool or a section has it. */
const BETWEEN = '\n';

/** What a value is that was not sent. */
const NONE = 'none';

/** Longer values are kept as their digest. */
const LONGEST_VALUE = 120;

/** Fields that no cache looks at. */
const ASIDE = new Set(['max_tokens', 'stream', 'metadata', 'diagnostics', 'messages']);
const NAMED = new Set(['model', 'tools', 'system', 'thinking', 'output_config']);

export const digestOf = (text: string | Uint8Array): string => hash('sha256', text).slice(0, 16);

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

/** The text behind a digest; undefined when the request has no such member. */
export const textOf = (sent: SentHead, kind: Listed, name: string): string | undefined => {
  const { tools, sections, blocks } = partsOf(sent);
  return { tool: tools, section: sections, 'system block': blocks }[kind].get(name);
};

export const namesIn = (shape: RequestShape, kind: Listed): readonly string[] => {
  const names = shape[LISTS[kind]];
  return names === undefined || names === '' ? [] : names.split(BETWEEN);
};

interface Parts {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Texts by name, in the order in which they are sent. */
  readonly tools: ReadonlyMap<string, string>;
  readonly blocks: ReadonlyMap<string, string>;
  readonly sections: ReadonlyMap<string, string>;
}

interface Mark {
  readonly [field: string]: unknown;
  readonly ttl?: string;
}

interface Marked {
  readonly [field: string]: unknown;
  readonly cache_control?: Mark | null;
}

/** Read from the bytes that are sent, so that nothing can be sent and not be in the shape. */
const partsOf = ({ head, sections }: SentHead): Parts => {
  const fields = JSON.parse(`${head.bytes.toString()}]}`) as Record<string, unknown>;
  const tools = membersOf(fields.tools).map((tool, index): [string, string] => [
    typeof tool.name === 'string' ? tool.name : `${index + 1}`,
    withoutMark(tool),
  ]);
  const system = membersOf(fields.system);
  const textIn = ({ block, start, end }: HeadSection) => {
    const text = system[block]?.text;
    return typeof text === 'string' ? text.slice(start, end) : '';
  };
  return {
    fields,
    tools: new Map(tools),
    blocks: new Map(system.map((block, index) => [`${index + 1}`, withoutMark(block)])),
    sections: new Map(sections.map((section) => [section.name, textIn(section)])),
  };
};

const membersOf = (list: unknown): readonly Marked[] => {
  if (typeof list === 'string') return [{ type: 'text', text: list }];
  return Array.isArray(list) ? (list as Marked[]) : [];
};

const withoutMark = ({ cache_control: _mark, ...rest }: Marked): string => JSON.stringify(rest);

const listed = (kind: Listed, texts: ReadonlyMap<string, string>): RequestShape => ({
  [LISTS[kind]]: [...texts.keys()].join(BETWEEN),
  ...Object.fromEntries([...texts].map(([name, text]) => [`${kind} ${name}`, digestOf(text)])),
});

/** Where the marks stand and how long they hold, in the order of the prompt. */
const marksOf = (fields: Parts['fields'], ttl: string): string => {
  const marks = ['tools', 'system'].flatMap((field) =>
    membersOf(fields[field]).flatMap(({ cache_control }, index) =>
      cache_control ? [`${field} ${index + 1} ${lifetimeOf(cache_control)}`] : [],
    ),
  );
  return short([...marks, `messages ${ttl}`].join(', '));
};

/** How long what the marks in the messages end is kept. */
const ttlOf = ({ mark }: BodyHead): string => {
  if (mark.length === 0) return NONE;
  const { cache_control } = JSON.parse(`{${mark.toString().slice(1)}}`) as Marked;
  return cache_control ? lifetimeOf(cache_control) : NONE;
};

const lifetimeOf = ({ type: _type, ttl = '5m', ...rest }: Mark): string =>
  Object.keys(rest).length === 0 ? ttl : `${ttl} ${JSON.stringify(rest)}`;

const sentValue = (value: unknown): string => {
  if (value === undefined) return NONE;
  return short(typeof value === 'string' ? value : JSON.stringify(value));
};

const short = (text: string): string => (text.length <= LONGEST_VALUE ? text : digestOf(text));
