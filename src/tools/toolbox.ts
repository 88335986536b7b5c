/**
 * The tools of one agent: which the model is shown, and which it may use.
 *
 * The two differ on purpose. A deferred tool can be used before its schema is shown; a forked agent
 * must show its parent's tools byte for byte and still may not use all of them.
 */
import { z } from 'zod';
import { type Tool, ToolFailure } from '../protocol/tools/tool.js';
import { shortLine } from './truncation.js';

export interface PlacedTool {
  readonly tool: Tool;
  /** Its schema is part of the prompt. */
  readonly visible: boolean;
  /** A call of it may run. */
  readonly executable: boolean;
}

/** A tool as the Messages API takes it. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export interface Toolbox {
  /** Built-in tools as they were given, then the rest by name: the order never depends on timing. */
  readonly all: readonly Tool[];
  readonly visible: readonly Tool[];
  has(name: string): boolean;
  /** Throws a ToolFailure that the model can read when there is no such tool. */
  find(name: string): Tool;
  /** As `find`, and refuses a tool that this agent may only look at. */
  executable(name: string): Tool;
  /** The same list on every call. */
  wireTools(): readonly WireTool[];
  /** The same tools, shown alike, of which only those that pass may be used. */
  limitedTo(mayUse: (tool: Tool) => boolean): Toolbox;
}

export const toolbox = (tools: readonly (Tool | PlacedTool)[]): Toolbox => {
  const shelf = inOrder(tools.map(place));
  const byName = index(shelf);
  let wire: readonly WireTool[] | undefined;

  const find = (name: string): PlacedTool => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    const known = shelf.filter(({ executable }) => executable).map(({ tool }) => tool.name);
    const asked = shortLine(name, 100);
    throw new ToolFailure(`There is no tool named "${asked}". The tools are: ${known.join(', ')}.`);
  };

  return {
    all: shelf.map(({ tool }) => tool),
    visible: shelf.filter(({ visible }) => visible).map(({ tool }) => tool),
    has: (name) => byName.has(name),
    find: (name) => find(name).tool,
    executable(name) {
      const { tool, executable } = find(name);
      if (!executable) throw new ToolFailure(`${name} cannot be used by this agent.`);
      return tool;
    },
    wireTools() {
      wire ??= shelf.filter(({ visible }) => visible).map(({ tool }) => wireTool(tool));
      return wire;
    },
    limitedTo: (mayUse) =>
      toolbox(
        shelf.map((placed) => ({
          ...placed,
          executable: placed.executable && mayUse(placed.tool),
        })),
      ),
  };
};

const place = (tool: Tool | PlacedTool): PlacedTool =>
  'tool' in tool ? tool : { tool, visible: true, executable: true };

const inOrder = (placed: readonly PlacedTool[]): readonly PlacedTool[] => [
  ...placed.filter(({ tool }) => tool.kind === 'builtin'),
  ...placed
    .filter(({ tool }) => tool.kind !== 'builtin')
    .sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1)),
];

const index = (shelf: readonly PlacedTool[]): ReadonlyMap<string, PlacedTool> => {
  const byName = new Map<string, PlacedTool>();
  for (const placed of shelf) {
    const { name } = placed.tool;
    if (byName.has(name)) throw new Error(`Two tools are named "${name}". Rename one of them.`);
    byName.set(name, placed);
  }
  return byName;
};

/** Schemas are shared between agents: a thousand of them hold one copy. */
const wireTools = new WeakMap<Tool, WireTool>();

const wireTool = (tool: Tool): WireTool => {
  const known = wireTools.get(tool) ?? describeForWire(tool);
  wireTools.set(tool, known);
  return known;
};

/** Set by the build: a start would spend milliseconds on what is the same every time. */
declare const BUILTIN_SCHEMAS: Readonly<Record<string, WireTool['input_schema']>> | undefined;

const prepared = typeof BUILTIN_SCHEMAS === 'undefined' ? {} : BUILTIN_SCHEMAS;

const describeForWire = (tool: Tool): WireTool => {
  const { name, kind, prompt: description } = tool;
  const known = kind === 'builtin' ? prepared[name] : undefined;
  return { name, description, input_schema: known ?? schemaOf(tool) };
};

const schemaOf = ({ input, inputSchema }: Tool): WireTool['input_schema'] => {
  const { $schema: _, ...schema } =
    inputSchema ?? z.toJSONSchema(input, { io: 'input', override: withoutNoise });
  return schema;
};

/**
 * Limits that nobody means to pass tell a model nothing: every agent pays for their bytes, and a call
 * that passes one is told so anyway.
 */
const withoutNoise = ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
  const { minLength, minimum, maximum, minItems, maxItems, pattern } = jsonSchema;
  const { additionalProperties: more } = jsonSchema;
  delete jsonSchema.maxLength;
  // The names of a map are texts in any JSON, and what is not said of its values is anything.
  delete jsonSchema.propertyNames;
  if (Object(more) === more && Object.keys(Object(more)).length === 0) {
    delete jsonSchema.additionalProperties;
  }
  if (pattern === NOT_BLANK) delete jsonSchema.pattern;
  for (const [name, least] of Object.entries({ minLength, minimum, minItems })) {
    if (Number(least) <= 1) delete jsonSchema[name];
  }
  for (const [name, most] of Object.entries({ maximum, maxItems })) {
    if (Number(most) >= FAR) delete jsonSchema[name];
  }
};

const NOT_BLANK = '\\S';
const FAR = 50;
