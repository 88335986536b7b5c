import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { checkedInput } from '../../../src/sdk/api/tool-input.js';

/** A schema of another library that implements Standard Schema. */
const foreign = (validate: (value: unknown) => unknown, type = 'object') => ({
  '~standard': {
    version: 1,
    vendor: 'geese',
    validate,
    jsonSchema: { input: () => ({ type, $schema: 'https://json-schema.org/x' }) },
  },
});

const bird = { type: 'object', properties: { bird: { type: 'string' } }, required: ['bird'] };

describe('the input of a tool', () => {
  test.each([
    ['zod', z.object({ bird: z.string() })],
    ['zod mini', mini.object({ bird: mini.string() })],
    ['plain JSON Schema', { ...bird, additionalProperties: false }],
  ])('may be described with %s', (_, given) => {
    const { input, inputSchema } = checkedInput('Call', given);
    expect(inputSchema).toMatchObject(bird);
    expect(input.safeParse({ bird: 'goose' })).toMatchObject({ data: { bird: 'goose' } });
    const refused = input.safeParse({ bird: 7 });
    expect(refused.error?.issues).toMatchObject([{ path: ['bird'] }]);
  });

  test('is the output of the schema', () => {
    const { input } = checkedInput('Call', z.object({ n: z.number().default(3) }));
    expect(input.parse({})).toEqual({ n: 3 });
  });

  test('of an older copy of zod 4 is read from its internals', () => {
    const schema = z.object({ bird: z.string() });
    const { validate, vendor } = schema['~standard'];
    const old = Object.create(schema, {
      '~standard': { value: { version: 1, vendor, validate } },
    }) as typeof schema;
    expect(checkedInput('Call', old).inputSchema).toMatchObject(bird);
  });

  test('of another library is used only through `~standard`', () => {
    const { input, inputSchema } = checkedInput(
      'Call',
      foreign((value) => ({ value: [value] })),
    );
    expect(inputSchema).toEqual({ type: 'object' });
    expect(input.parse(1)).toEqual([1]);
  });

  test.each([
    ['refuses', () => ({ issues: [{ message: 'no', path: [{ key: 'a' }, 0] }] }), 'no', ['a', 0]],
    [
      'throws',
      () => {
        throw new Error('boo');
      },
      /failed: boo/,
      [],
    ],
    ['is asynchronous', () => Promise.resolve({ value: 1 }), /asynchronous/, []],
    ['rejects', () => Promise.reject(new Error('late')), /asynchronous/, []],
  ])('whose schema %s is invalid, without another failure', (_, validate, message, path) => {
    const { input } = checkedInput('Call', foreign(validate));
    const [issue] = input.safeParse({}).error?.issues ?? [];
    expect(issue?.message).toMatch(message);
    expect(issue?.path).toEqual(path);
  });
});
