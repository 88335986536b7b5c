/**
 * One suite for every tool: the same promises are kept by all of them, through the judge and the run
 * that a session uses, on a real disk with a real shell. What is special about a tool is in its
 * entry; a tool without one fails.
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
import { eventually } from '../host/process/processes.js';
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
const LONGEST_PROMPT = 4_000;
const LONGEST_DESCRIPTION = 500;
const LONGEST_REFUSAL = 2_000;
/** Names of tools elsewhere, which a prompt must not promise. */
const FOREIGN =
  /\b(Agent|ApplyPatch|AskUserQuestion|BashOutput|ExitPlanMode|KillBash|KillShell|Skill|SlashCommand|StrReplace|ToolSearch|View|WebBrowse)\b/;

let bench: Bench;
const opened: Bench[] = [];
const open = async (...args: Parameters<typeof openBench>) => {
  const fresh = await openBench(...args);
  opened.push(fresh);
  return fresh;
};
/** Those who only read a tool's words need none. */
const useBench = () =>
  beforeEach(async () => {
    bench = await open();
  });
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** A result that the Messages API takes, and that nobody has to apologise for. */
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

/** What is wrong with a refusal; nothing if it is one clear sentence. */
const troublesWith = (
  { end, text }: Result,
  { names = '', mustRefuse }: Partial<BadInput> = {},
): readonly string[] => {
  const isRefused = end === 'invalid';
  const found = {
    'is a defect': /failed unexpectedly|undefined is not|Cannot read propert|\n\s+at /.test(text),
    'is taken': mustRefuse === true && !isRefused,
    'does not name the field': isRefused && names !== '' && !text.includes(`"${names}`),
    'is too long': end !== 'ok' && text.length > LONGEST_REFUSAL,
    'is no sentence': end !== 'ok' && !/[A-Z].*\./s.test(text),
  };
  return Object.entries(found).flatMap(([what, isSo]) =>
    isSo ? [`${what}: ${startOf(text)}`] : [],
  );
};

const startOf = (text: string) => text.slice(0, 300);

const sampleOf = async (entry: Entry, there: Bench): Promise<Input> => {
  await entry.first?.(there);
  return given(entry.sample, there) as Input;
};

/** So that a tool that changes its input is caught. */
const frozen = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
};

test('every tool has an entry, and every entry a tool', () => {
  expect(ENTRIES.map(({ tool }) => tool)).toEqual(NAMES);
});

describe.each(ENTRIES)('$tool, as models and people read it,', (entry) => {
  const tool = TOOLS.find(entry.tool);

  test('has a closed schema that says what everything is', () => {
    expect(schemaOf(tool)).toMatchObject({ type: 'object' });
    expect(problemsIn(schemaOf(tool), tool.name)).toEqual([]);
  });

  test('is the same bytes every time', () => {
    const [wire] = toolbox([tool]).wireTools();
    const text = JSON.stringify(wire);
    expect(JSON.stringify(toolbox([tool]).wireTools()[0])).toBe(text);
    expect(JSON.parse(text)).toEqual(wire);
  });

  test('has a prompt that is bounded, holds nothing of this day or machine, and promises only what there is', () => {
    const { prompt } = tool;
    expect(prompt.trim()).toBe(prompt);
    expect(prompt.length).toBeGreaterThan(20);
    expect(prompt.length).toBeLessThanOrEqual(LONGEST_PROMPT);
    for (const place of [process.cwd(), homedir(), tmpdir()]) expect(prompt).not.toContain(place);
    expect(prompt).not.toMatch(/\d{4}-\d\d-\d\d|\d\d:\d\d|[0-9a-f]{16}/);
    expect(prompt).not.toMatch(FOREIGN);
  });

  test('describes any call in one harmless line, and judges it alike each time', () => {
    fc.assert(
      fc.property(goodInput(tool, entry.shapes ?? {}), (drawn) => {
        const input = frozen(tool.input.parse(drawn));
        const line = tool.describe(input);
        expect(line.startsWith(tool.name)).toBe(true);
        expect(line.length).toBeLessThanOrEqual(LONGEST_DESCRIPTION);
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

  test('refuses bad input in one clear sentence, whatever it is', async () => {
    const sample = await sampleOf(entry, bench);
    const running = await bench.survivors();
    const troubles: string[] = [];
    for (const bad of badInputs(tool, sample)) {
      const result = await bench.call(tool.name, bad.input);
      troubles.push(...troublesWith(result, bad).map((it) => `${bad.what}: ${it}`));
    }
    expect(troubles).toEqual([]);
    expect({}).not.toHaveProperty('polluted');
    if (running.length === 0) await eventuallyEmpty(bench.survivors);
  });

  test('takes any JSON for an answer', async () => {
    const anything = fc.oneof(fc.jsonValue(), fc.dictionary(fieldNames(tool), fc.jsonValue()));
    const refused = anything.filter((input) => !tool.input.safeParse(input).success);
    await fc.assert(
      fc.asyncProperty(refused, async (input) => {
        const result = await bench.call(tool.name, input);
        expect(result.end).toBe('invalid');
        expectLegal(result);
        expect(troublesWith(result)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('answers any good input with a legal result, and changes nothing if it says so', async () => {
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

  test('does nothing at all when a rule denies it, and something when none does', async () => {
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
    const hasDoneSomething = !isDeepStrictEqual(await bench.traces(), untouched);
    expect(hasDoneSomething).toBe(!tool.isReadOnly(tool.input.parse(sample)));
  });

  test('is over at once when it is called off before it begins', async () => {
    const sample = await sampleOf(entry, bench);
    const result = await bench.call(tool.name, sample, { signal: AbortSignal.abort() });
    expectLegal(result);
    expect(bench.litter()).toEqual([]);
    await entry.whole?.(bench);
  });

  test.each(Object.entries(entry.cases))('answers %s', async (_, one) => {
    await one.first?.(bench);
    const result = await bench.call(tool.name, given(one.input, bench));
    expectLegal(result);
    expect(result).toMatchObject({ end: one.end, text: expect.stringMatching(one.says) });
    await one.after?.(bench, result);
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

describe.each(WITH_A_PATH)('$tool, with a path that leads out of the workspace,', (entry) => {
  test('asks a person first, and does nothing until then', async () => {
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

describe.each(SEARCHES)('$tool, without a ripgrep,', ({ tool, cases }) => {
  const alike = Object.entries(cases).filter(([, one]) => one.onlyRipgrep !== true);

  test.each(alike)('answers %s', async (_, one) => {
    const plain = await open({ withoutRipgrep: true });
    await one.first?.(plain);
    const result = await plain.call(tool, given(one.input, plain));
    expectLegal(result);
    expect(result).toMatchObject({ end: one.end, text: expect.stringMatching(one.says) });
    await one.after?.(plain, result);
  });
});

const LONG = ENTRIES.filter(({ endless }) => endless !== undefined);

describe.each(LONG)('$tool, called off on the way,', (entry) => {
  useBench();

  test('is over soon, and leaves nothing running and nothing half done', async () => {
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

/** Whether a tool only reads depends on none of its inputs so far. */
const REPEATABLE = ENTRIES.filter(({ tool }) => TOOLS.find(tool).isReadOnly({}));

describe.each(REPEATABLE)('$tool, run again after a crash,', (entry) => {
  useBench();

  test('says the same', async () => {
    const sample = await sampleOf(entry, bench);
    const first = await bench.call(entry.tool, sample, { learns: false });
    const { end, content } = await bench.call(entry.tool, sample, { learns: false });
    expect({ end, content }).toEqual({ end: first.end, content: first.content });
  });
});

const SAFE = ENTRIES.filter(({ tool }) => TOOLS.find(tool).isConcurrencySafe({}));

describe.each(SAFE)('$tool, which may run beside others,', (entry) => {
  useBench();

  test('says the same five times at once', async () => {
    const sample = await sampleOf(entry, bench);
    const calls = Array.from({ length: 5 }, () =>
      bench.call(entry.tool, sample, { learns: false }),
    );
    const texts = (await Promise.all(calls)).map(({ end, text }) => `${end}: ${text}`);
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^ok: /);
  });
});

describe('the suite itself', () => {
  useBench();

  test.each<[what: string, deed: (bench: Bench) => unknown]>([
    ['a file', ({ cwd }) => writeFileSync(join(cwd, 'planted'), '')],
    ['a time', ({ cwd }) => utimesSync(join(cwd, 'notes.txt'), 1, 1)],
    ['a right', ({ cwd }) => chmodSync(join(cwd, 'notes.txt'), 0o600)],
    ['something outside', ({ root }) => rmSync(join(root, 'outside/secret.txt'))],
    ['a request', ({ web }) => fetch(`${web}/page`)],
    ['a process', (there) => there.call('Bash', { command: 'sleep 600', run_in_background: true })],
    ['a list', (there) => there.call('TodoWrite', { todos: [] })],
  ])('notices %s', async (_, deed) => {
    await bench.call('TodoWrite', { todos: [{ content: 'Wait', status: 'pending' }] });
    const before = await bench.traces();
    await deed(bench);
    expect(await bench.traces()).not.toEqual(before);
  });

  test.each<[text: string, trouble: RegExp]>([
    ['Read failed unexpectedly: TypeError.', /is a defect/],
    [`No. ${'x'.repeat(LONGEST_REFUSAL)}`, /is too long/],
    ['no', /is no sentence/],
    ['The input is wrong.', /does not name the field/],
  ])('is not content with a refusal such as %.20s', (text, trouble) => {
    const refusal = { end: 'invalid', text, content: text, raw: '{}' } as const;
    expect(troublesWith(refusal, { names: 'field' }).join()).toMatch(trouble);
  });

  test('finds what is open and what is not described in a schema', () => {
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
  await eventually('nothing is left running', () => {
    if (left?.length === 0) return true;
    void look();
    return false;
  });
};

const fieldNames = (tool: Tool): fc.Arbitrary<string> => {
  const names = Object.keys(schemaOf(tool).properties ?? {});
  return names.length === 0 ? fc.string() : fc.constantFrom(...names);
};

/** Places in a schema that are open, or that do not say what they are. */
const problemsIn = (schema: Schema, at: string): readonly string[] => {
  const inner = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, it]) => [
      ...(it.description?.trim() ? [] : [`${at}.${name} has no description`]),
      ...problemsIn(it, `${at}.${name}`),
    ]),
    ...(schema.items === undefined ? [] : problemsIn(schema.items, `${at}[]`)),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((it) => problemsIn(it, at)),
  ];
  if (schema.type !== 'object' || isMap(schema)) return inner;
  return schema.additionalProperties === false ? inner : [`${at} is open`, ...inner];
};

/** Names of anybody's own. */
const isMap = ({ properties, additionalProperties }: Schema): boolean =>
  properties === undefined && additionalProperties === undefined;
