import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { calls, type Line, openScene, STREAM, unmarked } from '../../fakes/skein-process.js';

const TURNS = 400;
/** Replies to spare, because the reply in flight is lost when the process is killed. */
const SPARE = 5;
const WINDOW = 20_000;
const DIRECTIVE = 'about to outgrow the context window';

/** Reads a file four hundred times in three processes. The window is full every thirty turns. */
const runLongSession = async () => {
  // Each call has a different input, because Skein stops an agent that repeats the same call.
  const read = (at: number) => calls('Read', { file_path: 'notes.txt', limit: 1_000 + at });
  const scene = await openScene([
    { match: { lastUser: DIRECTIVE }, reply: 'The notes were read again and again.' },
    { match: { lastUser: 'is called', firstUser: 'HERON-417' }, reply: 'It is HERON-417.' },
    { match: { lastUser: 'is called' }, reply: 'Nobody told me.' },
    {
      replies: [
        ...Array.from({ length: TURNS + SPARE }, (_, at) => read(at)),
        { text: 'All read.' },
      ],
    },
  ]);
  await writeFile(
    join(scene.workspace, 'notes.txt'),
    `${'A goose flies. '.repeat(16)}\n`.repeat(8),
  );
  const env = { SKEIN_CONTEXT_WINDOW: String(WINDOW) };
  const flags = ['-p', ...STREAM, '--session-id', 'long', '--model', 'haiku'];
  const first = scene.start([...flags, 'The goose is HERON-417. Read the notes, often.'], { env });
  const boundary = (line: Line) => line.subtype === 'compact_boundary';
  await first.line(boundary);
  await first.line((line) => line.type === 'user' && first.stdout.split(DONE).length > 3);
  first.kill('SIGKILL');
  await first.ended;
  const second = await scene.run(['-p', ...STREAM, '--resume', 'long'], { env });
  const third = await scene.run(
    ['-p', '--output-format', 'json', '--resume', 'long', 'What the goose is called?'],
    { env },
  );
  return { ...scene, second, third };
};
const DONE = 'compact_boundary';

describe('a session of four hundred turns', () => {
  let session: Awaited<ReturnType<typeof runLongSession>>;
  let journal: readonly JournalRecord[];
  const ofType = (type: JournalRecord['type']) =>
    journal.filter((record) => record.type === type) as Line[];

  beforeAll(async () => {
    session = await runLongSession();
    journal = await session.journal('long');
  }, 120_000);
  afterAll(() => session.close());

  test('survives a kill and is resumed twice as the same session', () => {
    expect(ofType('assistant.received').length).toBeGreaterThanOrEqual(TURNS);
    expect(ofType('epoch.began')).toHaveLength(3);
    expect(session.second).toMatchObject({ code: 0, result: { result: 'All read.' } });
  });

  test('can still use a fact from its first message', () => {
    expect(session.third).toMatchObject({ code: 0, result: { result: 'It is HERON-417.' } });
  });

  test('is compacted many times, but never twice for a turn', () => {
    const breaks = ofType('prompt.broken');
    expect(breaks.length).toBeGreaterThan(8);
    expect(breaks.every(({ reason }) => reason === 'compaction')).toBe(true);
    const requests = session.bodies();
    const summaries = requests.filter(isSummary);
    expect(summaries).toHaveLength(breaks.length);
    expect(requests.some((body, at) => isSummary(body) && isSummary(requests[at + 1]))).toBe(false);
  });

  test('never sends a prompt larger than the window', () => {
    const longest = Math.max(...session.bodies().map((body) => JSON.stringify(body).length / 4));
    expect(longest).toBeGreaterThan(WINDOW / 2);
    expect(longest).toBeLessThan(WINDOW);
  });

  test('extends its prompt byte for byte, except at declared breaks', () => {
    const bodies = session.bodies().map((body) => ({ body, text: messagesOf(body) }));
    const breaks = bodies.filter(({ text }, at) => {
      const before = bodies[at - 1];
      return before !== undefined && !text.startsWith(before.text);
    });
    // A summary request extends the conversation; the request after it does not.
    expect(breaks).toHaveLength(ofType('prompt.broken').length);
    expect(breaks.some(({ body }) => isSummary(body))).toBe(false);
  });

  test('reads the summarised messages from the cache', () => {
    const spent = ofType('consultation.ended');
    const share = spent.map(({ usage }) => usage.cacheRead / (usage.cacheRead + usage.input));
    expect(Math.min(...share)).toBeGreaterThan(0.9);
    expect(spent.every(({ usage }) => usage.cacheWrite5m === 0)).toBe(true);
  });

  test('reads all tokens that the previous request left in the cache, except after a summary', () => {
    const requests = session.simulator.requests.map(({ body, usage }) => ({
      summary: isSummary(JSON.parse(body.toString()) as Line),
      read: usage?.cacheRead ?? 0,
      left: (usage?.cacheRead ?? 0) + (usage?.cacheWrite5m ?? 0),
    }));
    const pairs = requests.slice(1).map((later, at) => ({ later, before: requests[at] }));
    const ordinary = pairs.filter(({ later, before }) => !later.summary && !before?.summary);
    expect(ordinary.length).toBeGreaterThan(TURNS - 50);
    expect(ordinary.filter(({ later, before }) => later.read !== before?.left)).toEqual([]);
  });

  test('keeps in the journal the results that it dropped from the prompt', () => {
    const kept = ofType('call.ended').filter(({ raw }) => JSON.stringify(raw).includes('goose'));
    expect(kept.length).toBeGreaterThanOrEqual(TURNS);
  });
});

const isSummary = (body: Line | undefined): boolean =>
  body?.messages.at(-1)?.content.some(({ text = '' }: Line) => text.includes(DIRECTIVE)) === true;

/** The blocks of all messages as a text that may only grow. */
const messagesOf = (body: Line): string =>
  (JSON.parse(unmarked(body)) as Line).messages
    .flatMap(({ role, content }: Line) =>
      content.map((block: Line) => `${role} ${JSON.stringify(block)}`),
    )
    .join('\n');
