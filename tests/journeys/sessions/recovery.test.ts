import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  calls,
  type Line,
  type Reply,
  type RunOptions,
  STREAM,
  setScene,
  unmarked,
} from '../../fakes/skein-process.js';

/** One rule whose replies come in this order. */
const runThrough = async (
  replies: readonly Reply[],
  flags: readonly string[] = [],
  options: RunOptions = {},
) => {
  const scene = await setScene([{ reply: undefined, replies: [...replies] }]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const ended = await scene.run(['-p', 'go', ...STREAM, ...flags], options);
  const discarded = ended.lines.filter(({ subtype }) => subtype === 'attempt_discarded');
  return { ...scene, ...ended, discarded };
};

const fine: Reply = { text: 'Well again.' };
const error = (status: number): Reply => ({ error: { status, retryAfter: 0 } });

const sameRequestTwice = (bodies: readonly Line[]) =>
  bodies.length === 2 && unmarked(bodies[0]) === unmarked(bodies[1]);

describe('a request is sent again after', () => {
  test.each([
    ['a rate limit', error(429), /429/],
    ['an overload', error(529), /529/],
    ['an error of the server', error(500), /500/],
    ['a timeout of the server', error(408), /408/],
    ['an error in the stream', { text: 'Half', streamError: overload(3) }, /overload/i],
    ['a stream that is cut', { text: 'Half of it', cut: { afterEvents: 4 } }, /cut/],
    ['a stream that is cut before it begins', { text: 'x', cut: { afterEvents: 0 } }, /./],
    ['an end in the middle of a message', { text: 'x', cut: { afterEvents: 5 } }, /./],
  ] as [string, Reply, RegExp][])('%s', async (_, accident, why) => {
    const { code, result, discarded, bodies } = await runThrough([accident, fine]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(discarded).toMatchObject([{ turn: 1, attempt: 1, reason: expect.stringMatching(why) }]);
    expect(sameRequestTwice(bodies())).toBe(true);
    expect(result.num_turns).toBe(1);
  });

  test('a stream that goes silent', async () => {
    const stalled: Reply = { text: 'Half of it', stall: { afterEvents: 4 } };
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '200' };
    const { code, result, discarded, bodies } = await runThrough([stalled, fine], [], { env });
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(discarded).toMatchObject([{ reason: expect.stringMatching('sent nothing') }]);
    expect(sameRequestTwice(bodies())).toBe(true);
  });

  test('a server that never answers', async () => {
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '200' };
    const silent: Reply = { ...fine, delayMs: 60_000 };
    const { code, discarded } = await runThrough([silent, fine], [], { env });
    expect(code).toBe(0);
    expect(discarded).toMatchObject([{ reason: expect.stringMatching('sent nothing') }]);
  });
});

function overload(afterEvents: number) {
  return { type: 'overloaded_error', message: 'Overloaded', afterEvents };
}

describe('a slow stream', () => {
  test('is not a silent one', async () => {
    const slow: Reply = { text: 'x'.repeat(120), chunkBytes: 10, chunkDelayMs: 60 };
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '400' };
    const { code, discarded } = await runThrough([slow], [], { env });
    expect({ code, discarded }).toEqual({ code: 0, discarded: [] });
  });
});

describe('the output limit', () => {
  test('is met by asking the model to go on', async () => {
    const cut: Reply = { text: 'The first half', stop_reason: 'max_tokens' };
    const { code, result, bodies } = await runThrough([cut, { text: 'and the second.' }]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'and the second.' });
    const [first, second] = bodies();
    expect(second?.messages.slice(0, 1)).toMatchObject(first?.messages);
    expect(second?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ text: 'The first half' }] },
      { role: 'user', content: [{ type: 'text', text: expect.stringContaining('cut off') }] },
    ]);
  });

  test('in the middle of a call loses only that call', async () => {
    const half: Reply = {
      stop_reason: 'max_tokens',
      text: 'Reading.',
      tool_use: [
        { name: 'Read', input: { file_path: 'notes.txt' } },
        { name: 'Write', input_json: '{"file_path":"half.txt","conte' },
      ],
    };
    const { code, bodies, workspace } = await runThrough(
      [half, fine],
      ['--permission-mode', 'bypassPermissions'],
    );
    expect(code).toBe(0);
    expect(bodies()[1]?.messages.at(-1).content).toMatchObject([
      { content: expect.stringContaining('a note') },
      { is_error: true, content: expect.stringContaining('half.txt') },
    ]);
    expect(await readdir(workspace)).toEqual(['notes.txt']);
  });
});

describe('a turn that the server paused', () => {
  test('goes on with what it has said so far', async () => {
    const paused: Reply = { text: 'Searching.', stop_reason: 'pause_turn' };
    const { code, result, bodies } = await runThrough([paused, fine]);
    expect({ code, turns: result.num_turns }).toEqual({ code: 0, turns: 2 });
    expect(bodies()[1]?.messages.map(({ role }: Line) => role)).toEqual(['user', 'assistant']);
  });
});

describe('an answer that ended in an odd place', () => {
  const fills: Reply = { text: 'So far', stop_reason: 'model_context_window_exceeded' };

  test('is gone on with after room was made, by a question and not by its own beginning', async () => {
    const read = calls('Read', { file_path: 'notes.txt' });
    const { code, result, bodies } = await runThrough([read, fills, fine]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(bodies().map(({ messages }) => messages.at(-1).role)).toEqual(Array(4).fill('user'));
  });

  test('does not end with thinking when it is sent back', async () => {
    const thinks: Reply = { thinking: 'Hm, hm.', stop_reason: 'max_tokens' };
    const { code, bodies } = await runThrough([thinks, fine]);
    expect(code).toBe(0);
    const said = bodies()[1]?.messages[1].content as Line[];
    expect(said.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });
});

describe('a fallback model', () => {
  test('takes over after repeated overload, and the break of the prompt is declared', async () => {
    const read = calls('Read', { file_path: 'notes.txt' });
    const flags = ['--model', 'opus', '--fallback-model', 'haiku'];
    const overloads = [error(529), error(529), error(529)];
    const { code, result, bodies, skeinHome } = await runThrough([read, ...overloads, fine], flags);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    const [opus, haiku] = ['claude-opus-5-5', 'claude-haiku-5-5'];
    expect(bodies().map(({ model }) => model)).toEqual([opus, opus, opus, opus, haiku]);
    expect(Object.keys(result.modelUsage)).toEqual([opus, haiku]);
    const session = join(skeinHome, 'sessions', result.session_id);
    const events = await readFile(join(session, 'events.jsonl'), 'utf8');
    const broken = events.split('\n').filter((line) => line.includes('"prompt.broken"'));
    expect(broken.map((line) => JSON.parse(line))).toMatchObject([
      { reason: 'model', section: `model ${opus} → ${haiku}` },
    ]);
  });

  test('is left alone by a single overload', async () => {
    const flags = ['--model', 'opus', '--fallback-model', 'haiku'];
    const { bodies } = await runThrough([error(529), fine], flags);
    expect(bodies().map(({ model }) => model)).toEqual(['claude-opus-5-5', 'claude-opus-5-5']);
  });
});

describe('a prompt that is too long', () => {
  const message = 'prompt is too long: 200010 tokens > 200000 maximum';
  const read = calls('Read', { file_path: 'notes.txt' });
  const tooLong: Reply = { error: { status: 400, message } };

  test('has its older part summarised, and the run goes on', async () => {
    const summary = 'They read notes.txt.';
    const { code, lines, bodies, journal } = await runThrough([
      read,
      read,
      read,
      tooLong,
      { text: summary },
      fine,
    ]);
    expect(code).toBe(0);
    expect(lines.filter(({ subtype }) => subtype === 'compact_boundary')).toHaveLength(1);
    const [refused, , shorter] = bodies().slice(-3);
    expect(shorter?.messages.length).toBeLessThan(refused?.messages.length);
    expect(shorter?.messages[0].content).toMatchObject([
      { text: expect.stringMatching(/^<system-reminder>/) },
      { text: expect.stringMatching(/word for word:\n\ngo\n[\s\S]*They read notes\.txt\./) },
    ]);
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'prompt.broken', reason: 'compaction' }),
    );
  });

  test('loses its oldest rounds when there is no summary to be had', async () => {
    const { code, lines, bodies, journal } = await runThrough([
      read,
      read,
      read,
      tooLong,
      tooLong,
      fine,
    ]);
    expect(code).toBe(0);
    expect(lines.filter(({ subtype }) => subtype === 'compact_boundary')).toHaveLength(1);
    const [refused, , shorter] = bodies().slice(-3);
    expect(shorter?.messages.length).toBeLessThan(refused?.messages.length);
    expect(shorter?.messages[0].content).toMatchObject([
      { text: expect.stringMatching(/^<system-reminder>/) },
      { text: 'go' },
      { text: expect.stringContaining('removed') },
    ]);
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'prompt.broken', reason: 'truncation' }),
    );
  });
});
