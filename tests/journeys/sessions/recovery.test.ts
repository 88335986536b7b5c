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

/** Runs a prompt against a model that gives these replies in order. */
const runWithReplies = async (
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

describe('a request is retried after', () => {
  test.each([
    ['a rate limit', error(429), /429/],
    ['an overload', error(529), /529/],
    ['a server error', error(500), /500/],
    ['a server time-out', error(408), /408/],
    ['an error in the stream', { text: 'Half', streamError: overload(3) }, /overload/i],
    ['a broken stream', { text: 'Half of it', cut: { afterEvents: 4 } }, /cut/],
    ['a stream that ends before its first event', { text: 'x', cut: { afterEvents: 0 } }, /./],
    ['a stream that ends inside of a message', { text: 'x', cut: { afterEvents: 5 } }, /./],
  ] as [string, Reply, RegExp][])('%s', async (_, failure, reason) => {
    const { code, result, discarded, bodies } = await runWithReplies([failure, fine]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(discarded).toMatchObject([
      { turn: 1, attempt: 1, reason: expect.stringMatching(reason) },
    ]);
    expect(sameRequestTwice(bodies())).toBe(true);
    expect(result.num_turns).toBe(1);
  });

  test('a stream that stalls', async () => {
    const stalled: Reply = { text: 'Half of it', stall: { afterEvents: 4 } };
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '200' };
    const { code, result, discarded, bodies } = await runWithReplies([stalled, fine], [], { env });
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(discarded).toMatchObject([{ reason: expect.stringMatching('sent nothing') }]);
    expect(sameRequestTwice(bodies())).toBe(true);
  });

  test('a server that never answers', async () => {
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '200' };
    const silent: Reply = { ...fine, delayMs: 60_000 };
    const { code, discarded } = await runWithReplies([silent, fine], [], { env });
    expect(code).toBe(0);
    expect(discarded).toMatchObject([{ reason: expect.stringMatching('sent nothing') }]);
  });
});

function overload(afterEvents: number) {
  return { type: 'overloaded_error', message: 'Overloaded', afterEvents };
}

describe('a slow stream', () => {
  test('is not treated as stalled', async () => {
    const slow: Reply = { text: 'x'.repeat(120), chunkBytes: 10, chunkDelayMs: 60 };
    const env = { SKEIN_STREAM_IDLE_TIMEOUT_MS: '400' };
    const { code, discarded } = await runWithReplies([slow], [], { env });
    expect({ code, discarded }).toEqual({ code: 0, discarded: [] });
  });
});

describe('the output limit', () => {
  test('makes Skein ask the model to continue', async () => {
    const cut: Reply = { text: 'The first half', stop_reason: 'max_tokens' };
    const { code, result, bodies } = await runWithReplies([cut, { text: 'and the second.' }]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'and the second.' });
    const [first, second] = bodies();
    expect(second?.messages.slice(0, 1)).toMatchObject(first?.messages);
    expect(second?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ text: 'The first half' }] },
      { role: 'user', content: [{ type: 'text', text: expect.stringContaining('cut off') }] },
    ]);
  });

  test('inside of a call fails only that call', async () => {
    const half: Reply = {
      stop_reason: 'max_tokens',
      text: 'Reading.',
      tool_use: [
        { name: 'Read', input: { file_path: 'notes.txt' } },
        { name: 'Write', input_json: '{"file_path":"half.txt","conte' },
      ],
    };
    const { code, bodies, workspace } = await runWithReplies(
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
  test('continues from the received text', async () => {
    const paused: Reply = { text: 'Searching.', stop_reason: 'pause_turn' };
    const { code, result, bodies } = await runWithReplies([paused, fine]);
    expect({ code, turns: result.num_turns }).toEqual({ code: 0, turns: 2 });
    expect(bodies()[1]?.messages.map(({ role }: Line) => role)).toEqual(['user', 'assistant']);
  });
});

describe('an incomplete answer', () => {
  const fills: Reply = { text: 'So far', stop_reason: 'model_context_window_exceeded' };

  test('that fills the window is continued with a user message after compaction', async () => {
    const read = calls('Read', { file_path: 'notes.txt' });
    const { code, result, bodies } = await runWithReplies([read, fills, fine]);
    expect({ code, text: result.result }).toEqual({ code: 0, text: 'Well again.' });
    expect(bodies().map(({ messages }) => messages.at(-1).role)).toEqual(Array(4).fill('user'));
  });

  test('does not end with thinking when it is sent again', async () => {
    const thinks: Reply = { thinking: 'Hm, hm.', stop_reason: 'max_tokens' };
    const { code, bodies } = await runWithReplies([thinks, fine]);
    expect(code).toBe(0);
    const blocks = bodies()[1]?.messages[1].content as Line[];
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });
});

describe('a fallback model', () => {
  test('is used after repeated overload errors, and the prompt break is declared', async () => {
    const read = calls('Read', { file_path: 'notes.txt' });
    const flags = ['--model', 'opus', '--fallback-model', 'haiku'];
    const overloads = [error(529), error(529), error(529)];
    const { code, result, bodies, skeinHome } = await runWithReplies(
      [read, ...overloads, fine],
      flags,
    );
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

  test('is not used after a single overload error', async () => {
    const flags = ['--model', 'opus', '--fallback-model', 'haiku'];
    const { bodies } = await runWithReplies([error(529), fine], flags);
    expect(bodies().map(({ model }) => model)).toEqual(['claude-opus-5-5', 'claude-opus-5-5']);
  });
});

describe('a prompt that is too long', () => {
  const message = 'prompt is too long: 200010 tokens > 200000 maximum';
  const read = calls('Read', { file_path: 'notes.txt' });
  const tooLong: Reply = { error: { status: 400, message } };

  test('is shortened by a summary of its older part, and the run continues', async () => {
    const summary = 'They read notes.txt.';
    const { code, lines, bodies, journal } = await runWithReplies([
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

  test('loses its oldest turns if the summary fails', async () => {
    const { code, lines, bodies, journal } = await runWithReplies([
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
