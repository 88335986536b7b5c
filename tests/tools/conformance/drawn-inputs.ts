/**
 * Inputs generated from the schema of a tool: random valid inputs, and invalid inputs of every
 * kind.
 */
import fc from 'fast-check';
import type { Tool } from '../../../src/protocol/tools/tool.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import type { Input } from './entry.js';

/** The part of JSON schema that tools use. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export const schemaOf = (tool: Tool): Schema =>
  toolbox([tool]).wireTools()[0]?.input_schema as Schema;

export type Draws = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** `draws` overrides properties with those names, at any depth. */
export const goodInput = (tool: Tool, draws: Draws): fc.Arbitrary<unknown> =>
  drawn(schemaOf(tool), draws).filter((input) => tool.input.safeParse(input).success);

const drawn = (schema: Schema, draws: Draws): fc.Arbitrary<unknown> => {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((option) => drawn(option, draws)));
  switch (schema.type) {
    case 'object':
      return record(schema, draws);
    case 'array':
      return fc.array(drawn(schema.items ?? {}, draws), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case 'string':
      return fc.string({
        unit: 'binary',
        minLength: schema.minLength ?? 0,
        maxLength: Math.min(schema.maxLength ?? 40, 40),
      });
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? -1_000, -1_000),
        max: Math.min(schema.maximum ?? 10_000, 10_000),
      });
    case 'number':
      return fc.double({ noNaN: true, min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6 });
    case 'boolean':
      return fc.boolean();
    default:
      throw new Error(`drawn-inputs: an unknown kind of schema: ${JSON.stringify(schema)}`);
  }
};

const record = ({ properties = {}, required = [] }: Schema, draws: Draws) =>
  fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, draws[name] ?? drawn(field, draws)]),
    ),
    { requiredKeys: [...required] },
  );

const nested = (depth: number): unknown => {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
};

/** Adds an own key, as JSON.parse would. */
const withKey = (input: Input, key: string, value: unknown): unknown => {
  const copy = { ...input };
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true });
  return copy;
};

export const NOT_AN_OBJECT: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  text: 'a text',
  'a number': 7,
  NaN: Number.NaN,
  true: true,
  'a list': [],
  'a deep list': nested(1_000),
  'a list of 10,000': Array.from({ length: 10_000 }, () => ({})),
};

const MEGABYTE = 1_000_000;

/** Values of unexpected types or sizes. */
const ODD_VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  true: true,
  'minus one': -1,
  'a half': 0.5,
  'a huge number': 1e308,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  'an empty text': '',
  'a megabyte': 'a'.repeat(MEGABYTE),
  'a megabyte of lines': 'a\n'.repeat(MEGABYTE / 2),
  'half a character': 'x\ud800',
  'a NUL': 'a\0b',
  'the text __proto__': '__proto__',
  'an object': {},
  'an object with a prototype': JSON.parse('{"__proto__":{"polluted":true},"a":1}'),
  'an empty list': [],
  'a list of 10,000': Array.from({ length: 10_000 }, (_, index) => index),
  'a deep list': nested(1_000),
};

export interface BadInput {
  readonly what: string;
  readonly input: unknown;
  /** Property that the refusal must name, if any. */
  readonly names?: string;
  /** True if the schema alone must reject the input. */
  readonly mustRefuse: boolean;
}

/** `sample` is a valid input. */
export const badInputs = (tool: Tool, sample: Input): readonly BadInput[] => {
  const { properties = {}, required = [] } = schemaOf(tool);
  const whole = Object.entries(NOT_AN_OBJECT).map(([what, input]) => ({
    what,
    input,
    mustRefuse: true,
  }));
  const missing = required.map((name) => {
    const { [name]: _, ...input } = sample;
    return { what: `no ${name}`, input, names: name, mustRefuse: true };
  });
  const extra = ['surplus', '__proto__', 'constructor', 'k'.repeat(MEGABYTE)].map((key) => ({
    what: `a key ${key.slice(0, 20)}`,
    input: withKey(sample, key, { x: 1 }),
    mustRefuse: true,
  }));
  const odd = Object.entries(properties).flatMap(([name, schema]) =>
    Object.entries(ODD_VALUES).map(([what, value]) => ({
      what: `${name}: ${what}`,
      input: { ...sample, [name]: value },
      names: name,
      mustRefuse: !mayFit(schema, value),
    })),
  );
  return [...whole, ...missing, ...extra, ...odd];
};

const mayFit = (schema: Schema, value: unknown): boolean => {
  const { type } = schema;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer' || type === 'number') return Number.isFinite(value);
  return type === undefined || type === typeof value;
};
