/**
 * Sessions that an older version recorded (`tests/recorded/record.ts`). Every later version must resume them with the
 * same bytes and read them with its commands. Never record a fixture again to make a test here pass.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Line } from '../../fakes/skein-process.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { firstBreak } from '../../laws/prompts.js';
import { type Fixture, readFixture } from '../../recorded/fixture.js';
import { type Kind, lockRoots } from '../../recorded/recorded-place.js';
import { openRecordedScene } from '../../recorded/recorded-scene.js';
import {
  beforeNewestMessage,
  firstDifference,
  firstRequestWith,
  lastRequestWith,
  upToPrompt,
} from '../../recorded/requests.js';
import {
  HELPERS,
  LOOKS,
  NEXT_PROMPT,
  RESUME,
  REWIND,
  WAKE_MESSAGE,
  WAKE_PROMPT,
} from '../../recorded/story.js';
import { needs } from '../../setup/needs.js';

/** Longer than the time limit of the lock, so a hook reports the lock and not its own time-out. */
const HOOK_LIMIT_MS = 300_000;

/** Keys that depend on the price list of a version, on the time of the command, or on the resolution of a curve. */
const UNSTABLE = new Set([
  'pricesVersion',
  'uncachedCostUsd',
  'savedPercent',
  'extraCostUsd',
  'writtenAt',
  'pieces',
  'spending',
]);

/** The output of a command with `--json`, without the keys that may differ between versions. */
const factsIn = (output: string): Line =>
  JSON.parse(output, (key, value: unknown) => (UNSTABLE.has(key) ? undefined : value)) as Line;

const newestContent = (body: Buffer): readonly Line[] =>
  (JSON.parse(body.toString()) as Line).messages.at(-1).content as readonly Line[];

/**
 * The strict comparison: all bytes up to the end of the prompt are equal, cache breakpoints and request options
 * included. Only reminders that the resume itself appends behind the prompt are free, for example a new date.
 */
const expectSameUpToPrompt = (recorded: string | undefined, body: Buffer): void => {
  const expected = upToPrompt(Buffer.from(recorded ?? ''), NEXT_PROMPT);
  expect(firstDifference(expected, upToPrompt(body, NEXT_PROMPT))).toBeUndefined();
  const [prompt, ...reminders] = newestContent(body);
  expect(prompt).toMatchObject({ type: 'text', text: NEXT_PROMPT });
  expect(reminders.filter(({ type }) => type !== 'text')).toEqual([]);
};

const testsOf = (kind: Kind) => (): void => {
  let fixture: Fixture;
  let free: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    free = await lockRoots();
    fixture = await readFixture(kind);
  }, HOOK_LIMIT_MS);
  afterAll(() => free?.());

  const restored = async () => {
    const scene = await openRecordedScene(kind, fixture.state);
    onTestFinished(() => scene.close());
    return scene;
  };
  const request = (name: string): Buffer => Buffer.from(fixture.requests[name] ?? '');

  test('resumes with the same request bytes as in the version that recorded it', async () => {
    const { succeed, simulator } = await restored();
    await succeed(['-p', NEXT_PROMPT, ...RESUME]);
    const body = firstRequestWith(simulator.requests, NEXT_PROMPT);
    expectSameUpToPrompt(fixture.requests.resumed, body);
    expect(firstBreak([request('lead'), body])).toBeUndefined();
  });

  test('has agents that resume with the same request bytes', async () => {
    const { succeed, simulator, work } = await restored();
    const stop = work();
    await succeed(['-p', WAKE_PROMPT, ...RESUME]);
    await stop();
    for (const [name, prompt] of Object.entries(HELPERS)) {
      const body = lastRequestWith(simulator.requests, prompt);
      expect(JSON.stringify(newestContent(body))).toContain(WAKE_MESSAGE);
      // The newest message is left out, because the text around the letter depends on the version.
      const expected = beforeNewestMessage(request(`${name} resumed`));
      expect(firstDifference(expected, beforeNewestMessage(body))).toBeUndefined();
      expect(firstBreak([request(name), body])).toBeUndefined();
    }
  });

  test('rewinds to the earlier files and conversation', async () => {
    const { succeed, simulator, workspace } = await restored();
    await succeed(REWIND);
    expect(treeOf(workspace)).toEqual(fixture.rewoundTree);
    await succeed(['-p', NEXT_PROMPT, ...RESUME]);
    const body = firstRequestWith(simulator.requests, NEXT_PROMPT);
    expectSameUpToPrompt(fixture.requests.rewound, body);
  });

  test('is readable by sessions, report, cost, rewind and replay', async () => {
    const { succeed } = await restored();
    const look = async (name: keyof typeof LOOKS) => (await succeed(LOOKS[name])).stdout;
    for (const name of ['sessions', 'report', 'cost', 'rewind-points'] as const) {
      const facts = factsIn(await look(name));
      expect({ name, facts }).toMatchObject({ name, facts: factsIn(fixture.looks[name] ?? '') });
    }
    // The events as they were stored, byte by byte.
    expect(firstDifference(fixture.looks.replay ?? '', await look('replay'))).toBeUndefined();
  });
};

// The recorded paths start with /tmp, which is a link on macOS, and the lock of the folders needs Linux.
describe.skipIf(process.platform !== 'linux')('a recorded session', () => {
  describe('in files', testsOf('files'));
  needs.describe('own-redis')('in Redis, with an agent on a worker', testsOf('redis'));

  test('fails the comparison if a byte of its prompt has changed', async () => {
    const { requests } = await readFixture('files');
    const other = Buffer.from(requests.resumed?.replace('Be brief.', 'Be Brief.') ?? '');
    expect(() => expectSameUpToPrompt(requests.resumed, other)).toThrow('expected …');
    expect(firstBreak([Buffer.from(requests.lead ?? ''), other])).toContain('Be brief.');
  });
});
