/**
 * Checks the input schema of a custom tool: zod 4, another Standard Schema library that can
 * export JSON Schema, or plain JSON Schema.
 *
 * The program's zod may be another copy than Skein's, so schemas are used only through `~standard`.
 */
import { z } from 'zod';
import { UsageError } from '../../protocol/skein-error.js';

/** Part of Standard Schema that Skein uses. Zod, valibot, arktype and others implement it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface JsonSchema {
  readonly type: 'object';
  readonly [key: string]: unknown;
}

export type ToolInput = StandardSchema | JsonSchema;

/** Input type of a tool: the output type of its schema, or an object for plain JSON Schema. */
export type InputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : Readonly<Record<string, unknown>>;

interface CheckedInput {
  readonly input: z.ZodType;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Throws UsageError if the schema cannot be used. */
export const checkedInput = (name: string, schema: unknown): CheckedInput => {
  if (typeof schema !== 'object' && typeof schema !== 'function') throw invalidInput(name);
  if (schema === null) throw invalidInput(name);
  return '~standard' in schema
    ? fromStandard(name, schema as StandardSchema)
    : fromJsonSchema(name, schema as Record<string, unknown>);
};

const fromStandard = (name: string, schema: StandardSchema): CheckedInput => {
  const inputSchema = objectSchema(name, () => jsonSchemaOf(schema));
  const input = z.unknown().transform((value, context) => {
    const result = validated(schema, value);
    if (result.issues === undefined) return result.value;
    for (const issue of result.issues) {
      const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
      context.issues.push({ code: 'custom', message: issue.message, path, input: value });
    }
    return z.NEVER;
  });
  return { input, inputSchema };
};

/** Never throws: an error in the program's schema becomes an issue that the model reads. */
const validated = (schema: StandardSchema, value: unknown): StandardResult<unknown> => {
  try {
    const result = schema['~standard'].validate(value);
    if (!(result instanceof Promise)) return result;
    result.catch(() => undefined);
    return {
      issues: [{ message: 'the schema of this tool is asynchronous, which is not supported' }],
    };
  } catch (error) {
    return {
      issues: [{ message: `the schema of this tool failed: ${(error as Error)?.message}` }],
    };
  }
};

interface JsonSchemaSource {
  readonly jsonSchema?: { input?(options: { target: string }): Record<string, unknown> };
}

const jsonSchemaOf = (schema: StandardSchema): Record<string, unknown> => {
  const standard: StandardSchema['~standard'] & JsonSchemaSource = schema['~standard'];
  if (standard.jsonSchema?.input !== undefined) {
    return standard.jsonSchema.input({ target: 'draft-2020-12' });
  }
  // Old copies of zod 4 cannot export JSON Schema but have the same internals as Skein's copy.
  if ('_zod' in schema) return z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input' });
  throw new Error('it cannot be converted to JSON Schema');
};

const fromJsonSchema = (name: string, schema: Record<string, unknown>): CheckedInput => {
  const inputSchema = objectSchema(name, () => structuredClone(schema));
  try {
    return { input: z.fromJSONSchema(inputSchema), inputSchema };
  } catch (error) {
    throw invalidInput(name, (error as Error).message);
  }
};

const objectSchema = (
  name: string,
  write: () => Record<string, unknown>,
): Readonly<Record<string, unknown>> => {
  let schema: Record<string, unknown>;
  try {
    schema = write();
  } catch (error) {
    throw invalidInput(name, (error as Error).message);
  }
  if (schema.type !== 'object') throw invalidInput(name, 'it does not describe an object');
  const { $schema: _, ...rest } = schema;
  return rest;
};

const invalidInput = (name: string, why?: string): UsageError =>
  new UsageError(
    `The input of the tool "${name}" cannot be used${why === undefined ? '' : `: ${why}`}. Give z.object({ … }) of zod 4 (also exported by skein) or a JSON Schema of the type "object".`,
  );
