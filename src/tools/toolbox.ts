/**
 * Toolbox of an agent: the tools that its model is shown, and the tools that it may use.
 *
 * The two sets differ on purpose. A deferred tool can be used before its schema is shown; a forked
 * agent must show its parent's tools byte for byte but may not use all of them.
 */
import { z } from 'zod';
import { type Tool, ToolFailure } from '../protocol/tools/tool.js';
import { truncateLine } from './text/truncate-text.js';

interface ToolEntry {
  readonly tool: Tool;
  /** True if the schema is part of the prompt. */
  readonly visible: boolean;
  /** True if calls may run. */
  readonly executable: boolean;
}

/** A tool in the format of the Messages API. */
interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export interface Toolbox {
  /**
   * Built-in tools in the given order, then other tools by name, so that timing cannot change the
   * order.
   */
  readonly all: readonly Tool[];
  readonly visible: readonly Tool[];
  has(name: string): boolean;
  /** Throws ToolFailure if there is no such tool. */
  find(name: string): Tool;
  /** Throws ToolFailure if there is no such tool or the agent may not use it. */
  executable(name: string): Tool;
  /** Returns the same list on every call. */
  wireTools(): readonly WireTool[];
  /** Returns a toolbox that shows the same tools and allows only those that pass `mayUse`. */
  limitedTo(mayUse: (tool: Tool) => boolean): Toolbox;
}

export const toolbox = (tools: readonly (Tool | ToolEntry)[]): Toolbox => {
  const entries = inOrder(tools.map(toEntry));
  const byName = index(entries);
  let wire: readonly WireTool[] | undefined;

  const find = (name: string): ToolEntry => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    const usable = entries.filter(({ executable, visible }) => executable && visible);
    const names = usable.map(({ tool }) => tool.name);
    const requested = truncateLine(name, 100);
    throw new ToolFailure(
      `There is no tool named "${requested}". The tools are: ${names.join(', ')}.`,
    );
  };

  return {
    all: entries.map(({ tool }) => tool),
    visible: entries.filter(({ visible }) => visible).map(({ tool }) => tool),
    has: (name) => byName.has(name),
    find: (name) => find(name).tool,
    executable(name) {
      const { tool, executable } = find(name);
      if (!executable) throw new ToolFailure(`${name} cannot be used by this agent.`);
      return tool;
    },
    wireTools() {
      const shown = entries.filter(({ visible }) => visible).map(({ tool }) => tool);
      const names = new Set(shown.map(({ name }) => name));
      wire ??= shown.map((tool) => withoutMentions(wireTool(tool), tool, names));
      return wire;
    },
    limitedTo: (mayUse) =>
      toolbox(
        entries.map((entry) => ({
          ...entry,
          executable: entry.executable && mayUse(entry.tool),
        })),
      ),
  };
};

const toEntry = (tool: Tool | ToolEntry): ToolEntry =>
  'tool' in tool ? tool : { tool, visible: true, executable: true };

const inOrder = (entries: readonly ToolEntry[]): readonly ToolEntry[] => [
  ...entries.filter(({ tool }) => tool.kind === 'builtin'),
  ...entries
    .filter(({ tool }) => tool.kind !== 'builtin')
    .sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1)),
];

const index = (entries: readonly ToolEntry[]): ReadonlyMap<string, ToolEntry> => {
  const byName = new Map<string, ToolEntry>();
  for (const entry of entries) {
    const { name } = entry.tool;
    if (byName.has(name)) throw new Error(`Two tools are named "${name}". Rename one of them.`);
    byName.set(name, entry);
  }
  return byName;
};

/** Cache of wire tools, which all agents share. */
const wireTools = new WeakMap<Tool, WireTool>();

const wireTool = (tool: Tool): WireTool => {
  const described = wireTools.get(tool) ?? describeForWire(tool);
  wireTools.set(tool, described);
  return described;
};

/** Removes the passages of the description that name only tools that are not shown. */
const withoutMentions = (
  wire: WireTool,
  { mentions = [] }: Tool,
  shown: ReadonlySet<string>,
): WireTool => {
  const { name, description, input_schema } = wire;
  const dropped = mentions.filter(({ of }) => !of.some((other) => shown.has(other)));
  if (dropped.length === 0) return wire;
  const text = dropped.reduce(
    (rest, { text, instead }) => rest.replace(text, instead),
    description,
  );
  return { name, description: text, input_schema };
};

/** Schemas set by the build, because computing them takes milliseconds at every start. */
declare const BUILTIN_SCHEMAS: Readonly<Record<string, WireTool['input_schema']>> | undefined;

const prepared = typeof BUILTIN_SCHEMAS === 'undefined' ? {} : BUILTIN_SCHEMAS;

/** Returns the JSON schema of a tool's input, as models read it. */
export const inputSchemaOf = (tool: Tool): WireTool['input_schema'] => wireTool(tool).input_schema;

const describeForWire = (tool: Tool): WireTool => {
  const { name, kind, prompt: description } = tool;
  const schema = kind === 'builtin' ? prepared[name] : undefined;
  return { name, description, input_schema: schema ?? schemaOf(tool) };
};

const schemaOf = ({ input, inputSchema }: Tool): WireTool['input_schema'] => {
  const { $schema: _, ...schema } =
    inputSchema ?? z.toJSONSchema(input, { io: 'input', override: withoutNoise });
  return schema;
};

/**
 * Removes limits that calls rarely reach, because every agent pays for their bytes. The input check
 * still reports a call that exceeds them.
 */
const withoutNoise = ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
  const { minLength, minimum, maximum, minItems, maxItems, pattern } = jsonSchema;
  const { additionalProperties: more } = jsonSchema;
  delete jsonSchema.maxLength;
  // Keys of JSON maps are always strings, and an empty value schema allows any value.
  delete jsonSchema.propertyNames;
  if (Object(more) === more && Object.keys(Object(more)).length === 0) {
    delete jsonSchema.additionalProperties;
  }
  if (pattern === NOT_BLANK) delete jsonSchema.pattern;
  for (const [name, min] of Object.entries({ minLength, minimum, minItems })) {
    if (Number(min) <= 1) delete jsonSchema[name];
  }
  for (const [name, max] of Object.entries({ maximum, maxItems })) {
    if (Number(max) >= FAR) delete jsonSchema[name];
  }
};

const NOT_BLANK = '\\S';
const FAR = 50;
