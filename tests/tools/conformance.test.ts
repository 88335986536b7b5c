/**
 * Conformance suite of all tools. Every tool keeps the same contract through the judge and the run
 * of a session, on a real disk with a real shell. Special behavior of a tool is in its entry; a
 * tool without an entry fails.
 */
import { chmodSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_RESULT_CHARS } from '../../src/actors/calls/tool-result.js';
import type { ResultBlock, Tool } from '../../src/protocol/tools/tool.js';
import { builtinTools } from '../../src/tools/builtin-tools.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { eventually } from '../fakes/eventually.js';
import { type Bench, openBench, type Result } from './conformance/bench.js';
import {
  type BadInput,
  badInputs,
  goodInput,
  type Schema,
  schemaOf,
} from './conformance/drawn-inputs.js';
import { drawsFor } from './conformance/drawn-places.js';
import { ENTRIES } from './conformance/entries.js';
import { type Entry, given, type Input } from './conformance/entry.js';
import { digestOfTree } from './conformance/hostile-tree.js';

const TOOLS = toolbox(builtinTools);
const NAMES = TOOLS.all.map(({ name }) => name);
const MAX_PROMPT_LENGTH = 4_000;
const MAX_DESCRIPTION_LENGTH = 500;
const MAX_REFUSAL_LENGTH = 2_000;
/** Tool names of other products, which a prompt must not mention. */
const FOREIGN =
  /\b(Agent|ApplyPatch|AskUserQuestion|BashOutput|ExitPlanMode|KillBash|KillShell|Skill|SlashCommand|StrReplace|ToolSearch|View|WebBrowse)\b/;

let bench: Bench;
const openBenches: Bench[] = [];
const open = async (...args: Parameters<typeof openBench>) => {
  const fresh = await openBench(...args);
  openBenches.push(fresh);
  return fresh;
};
/** Opens a bench before each test. Tests of prompts and schemas need none. */
const useBench = () =>
  beforeEach(async () => {
    bench = await open();
  });
afterEach(async () => {
  for (const bench of openBenches.splice(0)) await bench.close();
});

/** A result that the Messages API accepts, without an internal error. */
const expectLegal = ({ content, raw, text }: Result) => {
  expect(text).not.toMatch(/failed unexpectedly/);
  expect(text.length).toBeLessThanOrEqual(MAX_RESULT_CHARS);
  expect(raw.isWellFormed()).toBe(true);
  const { content: kept } = JSON.parse(raw) as { content: unknown };
  expect(kept).toEqual(typeof content === 'string' ? content.toWellFormed() : content);
  if (typeof content === 'string') return;
  expect(content.filter((block) => !isLegal(block))).toEqual([]);
};

const isLegal = (block: ResultBlock): boolean => {
  if (block.type === 'text') return block.text !== '';
  return /^[\w-]+\/[\w.+-]+$/.test(block.source.media_type) && block.source.data !== '';
};

/** Problems of a refusal. Empty for a single clear sentence. */
const problemsOf = (
  { end, text }: Result,
  { names = '', mustRefuse }: Partial<BadInput> = {},
): readonly string[] => {
  const isRefused = end === 'invalid';
  const found = {
    'is a defect': /failed unexpectedly|undefined is not|Cannot read propert|\n\s+at /.test(text),
    'is accepted': mustRefuse === true && !isRefused,
    'does not name the field': isRefused && names !== '' && !text.includes(`"${names}`),
    'is too long': end !== 'ok' && text.length > MAX_REFUSAL_LENGTH,
    'is not a sentence': end !== 'ok' && !/[A-Z].*\./s.test(text),
  };
  return Object.entries(found).flatMap(([problem, applies]) =>
    applies ? [`${problem}: ${startOf(text)}`] : [],
  );
};

const startOf = (text: string) => text.slice(0, 300);

const sampleOf = async (entry: Entry, there: Bench): Promise<Input> => {
  await entry.first?.(there);
  return given(entry.sample, there) as Input;
};

/** Deep-frozen, so that a tool that changes its input throws. */
const frozen = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
};

test('every tool has an entry, and every entry has a tool', () => {
  expect(ENTRIES.map(({ tool }) => tool)).toEqual(NAMES);
});

describe.each(ENTRIES)('the definition of $tool', (entry) => {
  const tool = TOOLS.find(entry.tool);

  test('has a closed schema with a description for every field', () => {
    expect(schemaOf(tool)).toMatchObject({ type: 'object' });
    expect(problemsIn(schemaOf(tool), tool.name)).toEqual([]);
  });

  test('serialises to the same bytes every time', () => {
    const [wire] = toolbox([tool]).wireTools();
    const text = JSON.stringify(wire);
    expect(JSON.stringify(toolbox([tool]).wireTools()[0])).toBe(text);
    expect(JSON.parse(text)).toEqual(wire);
  });

  test('has a bounded prompt without dates, paths and unknown tools', () => {
    const { prompt } = tool;
    expect(prompt.trim()).toBe(prompt);
    expect(prompt.length).toBeGreaterThan(20);
    expect(prompt.length).toBeLessThanOrEqual(MAX_PROMPT_LENGTH);
    for (const place of [process.cwd(), homedir(), tmpdir()]) expect(prompt).not.toContain(place);
    expect(prompt).not.toMatch(/\d{4}-\d\d-\d\d|\d\d:\d\d|[0-9a-f]{16}/);
    expect(prompt).not.toMatch(FOREIGN);
  });

  test('describes any call in a single safe line, and judges it consistently', () => {
    fc.assert(
      fc.property(goodInput(tool, entry.shapes ?? {}), (drawn) => {
        const input = frozen(tool.input.parse(drawn));
        const line = tool.describe(input);
        expect(line.startsWith(tool.name)).toBe(true);
        expect(line.length).toBeLessThanOrEqual(MAX_DESCRIPTION_LENGTH);
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        const judged = () => ({
          line: tool.describe(input),
          subject: tool.subject(input),
          finding: tool.checkPermissions?.(input, 'plan'),
          flags: [tool.isReadOnly(input), tool.isConcurrencySafe(input)],
        });
        expect(judged()).toEqual(judged());
        expect(tool.isReadOnly(input) && tool.subject(input).action === 'write').toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe.each(ENTRIES)('$tool', (entry) => {
  const tool = TOOLS.find(entry.tool);
  const drawnInputs = () => goodInput(tool, { ...drawsFor(bench), ...entry.draws?.(bench) });

  useBench();

  test('rejects bad input of any kind in a clear sentence', async () => {
    const sample = await sampleOf(entry, bench);
    const running = await bench.survivors();
    const problems: string[] = [];
    for (const bad of badInputs(tool, sample)) {
      const result = await bench.call(tool.name, bad.input);
      problems.push(...problemsOf(result, bad).map((problem) => `${bad.what}: ${problem}`));
    }
    expect(problems).toEqual([]);
    expect({}).not.toHaveProperty('polluted');
    if (running.length === 0) await eventuallyEmpty(bench.survivors);
  });

  test('rejects any JSON value that does not match its schema', async () => {
    const anything = fc.oneof(fc.jsonValue(), fc.dictionary(fieldNames(tool), fc.jsonValue()));
    const refused = anything.filter((input) => !tool.input.safeParse(input).success);
    await fc.assert(
      fc.asyncProperty(refused, async (input) => {
        const result = await bench.call(tool.name, input);
        expect(result.end).toBe('invalid');
        expectLegal(result);
        expect(problemsOf(result)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('returns a valid result for any valid input, and changes no files if it is read-only', async () => {
    await entry.first?.(bench);
    const before = digestOfTree(bench.cwd);
    let readsOnly = true;
    await fc.assert(
      fc.asyncProperty(drawnInputs(), async (input) => {
        readsOnly &&= tool.isReadOnly(tool.input.parse(input));
        const result = await bench.call(tool.name, input);
        expectLegal(result);
      }),
      { numRuns: entry.runs ?? 50 },
    );
    const hasChanged = digestOfTree(bench.cwd) !== before;
    expect({ readsOnly, hasChanged }).not.toEqual({ readsOnly: true, hasChanged: true });
    expect(bench.litter()).toEqual([]);
  });

  test('has no effect if a rule denies the call, and an effect otherwise', async () => {
    const denied = await open({ rules: [{ behavior: 'deny', text: tool.name, source: 'flag' }] });
    const input = given(entry.sample, denied);
    const before = await denied.traces();
    expect(await denied.call(tool.name, input)).toMatchObject({ end: 'denied' });
    expect(await denied.traces()).toEqual(before);

    const sample = await sampleOf(entry, bench);
    const untouched = await bench.traces();
    const result = await bench.call(tool.name, sample);
    expect(result).toMatchObject({ end: 'ok' });
    expectLegal(result);
    const hasEffect = !isDeepStrictEqual(await bench.traces(), untouched);
    expect(hasEffect).toBe(!tool.isReadOnly(tool.input.parse(sample)));
  });

  test('ends immediately if it is aborted before it starts', async () => {
    const sample = await sampleOf(entry, bench);
    const result = await bench.call(tool.name, sample, { signal: AbortSignal.abort() });
    expectLegal(result);
    expect(bench.litter()).toEqual([]);
    await entry.whole?.(bench);
  });

  test.each(Object.entries(entry.cases))('handles %s', async (_, example) => {
    await example.first?.(bench);
    const result = await bench.call(tool.name, given(example.input, bench));
    expectLegal(result);
    expect(result).toMatchObject({ end: example.end, text: expect.stringMatching(example.says) });
    await example.after?.(bench, result);
  });
});

const OUTSIDE = [
  '../outside/secret.txt',
  'folder/../../outside/secret.txt',
  'folder-out/secret.txt',
  'link-out',
  '/etc/passwd',
  '~/.profile',
  '//etc/passwd',
  '/proc/self/environ',
  'folder-out/.',
] as const;

const WITH_A_PATH = ENTRIES.flatMap((entry) => {
  const { properties = {} } = schemaOf(TOOLS.find(entry.tool));
  const field = ['file_path', 'notebook_path', 'path'].find((name) => name in properties);
  return field === undefined ? [] : [{ ...entry, field }];
});

describe.each(WITH_A_PATH)('$tool with a path outside the workspace', (entry) => {
  test('requires a question and has no effect before the answer', async () => {
    const careful = await open({ mode: 'default' });
    const sample = given(entry.sample, careful) as Input;
    const before = await careful.traces();
    for (const path of OUTSIDE) {
      const result = await careful.call(entry.tool, { ...sample, [entry.field]: path });
      expect({ path, end: result.end }).toEqual({ path, end: 'asked' });
    }
    expect(await careful.traces()).toEqual(before);
  });
});

const SEARCHES = ENTRIES.filter(({ tool }) => tool === 'Grep');

describe.each(SEARCHES)('$tool without ripgrep', ({ tool, cases }) => {
  const alike = Object.entries(cases).filter(([, example]) => example.onlyRipgrep !== true);

  test.each(alike)('handles %s', async (_, example) => {
    const plain = await open({ withoutRipgrep: true });
    await example.first?.(plain);
    const result = await plain.call(tool, given(example.input, plain));
    expectLegal(result);
    expect(result).toMatchObject({ end: example.end, text: expect.stringMatching(example.says) });
    await example.after?.(plain, result);
  });
});

const LONG = ENTRIES.filter(({ endless }) => endless !== undefined);

describe.each(LONG)('$tool aborted while it runs', (entry) => {
  useBench();

  test('ends soon, without running processes and without partial effects', async () => {
    await entry.endlessFirst?.(bench);
    const running = await bench.survivors();
    const stop = new AbortController();
    const call = bench.call(entry.tool, given(entry.endless, bench), { signal: stop.signal });
    setTimeout(() => stop.abort(), 150);
    expectLegal(await call);
    if (running.length === 0) await eventuallyEmpty(bench.survivors);
    await entry.whole?.(bench);
    expect(bench.litter()).toEqual([]);
  });
});

/** No tool so far decides from its input whether it is read-only. */
const REPEATABLE = ENTRIES.filter(({ tool }) => TOOLS.find(tool).isReadOnly({}));

describe.each(REPEATABLE)('$tool repeated after a crash', (entry) => {
  useBench();

  test('returns the same result', async () => {
    const sample = await sampleOf(entry, bench);
    const first = await bench.call(entry.tool, sample, { recordsResult: false });
    const { end, content } = await bench.call(entry.tool, sample, { recordsResult: false });
    expect({ end, content }).toEqual({ end: first.end, content: first.content });
  });
});

const SAFE = ENTRIES.filter(({ tool }) => TOOLS.find(tool).isConcurrencySafe({}));

describe.each(SAFE)('$tool, which is safe to run concurrently,', (entry) => {
  useBench();

  test('returns the same result for five concurrent calls', async () => {
    const sample = await sampleOf(entry, bench);
    const calls = Array.from({ length: 5 }, () =>
      bench.call(entry.tool, sample, { recordsResult: false }),
    );
    const texts = (await Promise.all(calls)).map(({ end, text }) => `${end}: ${text}`);
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^ok: /);
  });
});

describe('the conformance suite itself', () => {
  useBench();

  test.each<[name: string, effect: (bench: Bench) => unknown]>([
    ['a new file', ({ cwd }) => writeFileSync(join(cwd, 'planted'), '')],
    ['a changed time', ({ cwd }) => utimesSync(join(cwd, 'notes.txt'), 1, 1)],
    ['a changed file mode', ({ cwd }) => chmodSync(join(cwd, 'notes.txt'), 0o600)],
    [
      'a removed file outside the workspace',
      ({ root }) => rmSync(join(root, 'outside/secret.txt')),
    ],
    ['an HTTP request', ({ web }) => fetch(`${web}/page`)],
    ['a process', (there) => there.call('Bash', { command: 'sleep 600', run_in_background: true })],
    ['a changed todo list', (there) => there.call('TodoWrite', { todos: [] })],
  ])('detects %s', async (_, effect) => {
    await bench.call('TodoWrite', { todos: [{ content: 'Wait', status: 'pending' }] });
    const before = await bench.traces();
    await effect(bench);
    expect(await bench.traces()).not.toEqual(before);
  });

  test.each<[text: string, problem: RegExp]>([
    ['Read failed unexpectedly: TypeError.', /is a defect/],
    [`No. ${'x'.repeat(MAX_REFUSAL_LENGTH)}`, /is too long/],
    ['no', /is not a sentence/],
    ['The input is wrong.', /does not name the field/],
  ])('reports a bad refusal: %.20s', (text, problem) => {
    const refusal = { end: 'invalid', text, content: text, raw: '{}' } as const;
    expect(problemsOf(refusal, { names: 'field' }).join()).toMatch(problem);
  });

  test('finds open objects and missing descriptions in a schema', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } } };
    expect(problemsIn({ type: 'array', items: inner }, 'x')).toEqual([
      'x[] is open',
      'x[].a has no description',
    ]);
  });
});

const eventuallyEmpty = async (list: () => Promise<readonly unknown[]>): Promise<void> => {
  let left: readonly unknown[] | undefined;
  const look = async () => {
    left = await list();
  };
  await look();
  await eventually('no process is left', () => {
    if (left?.length === 0) return true;
    void look();
    return false;
  });
};

const fieldNames = (tool: Tool): fc.Arbitrary<string> => {
  const names = Object.keys(schemaOf(tool).properties ?? {});
  return names.length === 0 ? fc.string() : fc.constantFrom(...names);
};

/** Places in a schema that are open objects or have no description. */
const problemsIn = (schema: Schema, at: string): readonly string[] => {
  const inner = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      ...(field.description?.trim() ? [] : [`${at}.${name} has no description`]),
      ...problemsIn(field, `${at}.${name}`),
    ]),
    ...(schema.items === undefined ? [] : problemsIn(schema.items, `${at}[]`)),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((option) =>
      problemsIn(option, at),
    ),
  ];
  if (schema.type !== 'object' || isMap(schema)) return inner;
  return schema.additionalProperties === false ? inner : [`${at} is open`, ...inner];
};

/** An object with arbitrary keys. */
const isMap = ({ properties, additionalProperties }: Schema): boolean =>
  properties === undefined && additionalProperties === undefined;
