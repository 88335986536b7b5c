/** A prompt that is longer than half of the context window is refused before it is recorded. */
import { describe, expect, test } from 'vitest';
import { DRIVEN, STREAM, setScene, userLine } from '../../fakes/skein-process.js';

/** About 500,000 tokens in a line. */
const PASTE = 'word '.repeat(400_000);
const REFUSAL =
  /The prompt has about \d{6} tokens, and at most 100000 are possible, half of the context window\. Save the text to a file/;
const RULES = [{ reply: 'You said {{lastUser}}!' }];

describe('a prompt that is too long', () => {
  test('is refused in an interactive session, which continues', async () => {
    const { run, simulator } = await setScene(RULES);
    const stdin = `first\n${PASTE}\nsecond\n/exit\n`;
    const { code, stdout, stderr } = await run(['--plain', '--model', 'claude-haiku-4-5'], {
      stdin,
    });
    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(REFUSAL);
    expect(stdout).toContain('You said second!');
    expect(simulator.requests).toHaveLength(2);
  });

  test('is an error result for a driver, and the next prompt is answered', async () => {
    const { start, simulator } = await setScene(RULES);
    const process = start([...DRIVEN, '--model', 'claude-haiku-4-5']);
    process.say(userLine(PASTE));
    await process.line(({ type }) => type === 'result');
    process.say(userLine('second'));
    process.endInput();
    const { lines } = await process.ended;
    const [refused, answered] = lines.filter(({ type }) => type === 'result');
    expect(refused).toMatchObject({ is_error: true, result: expect.stringMatching(REFUSAL) });
    expect(answered).toMatchObject({ is_error: false, result: 'You said second!' });
    expect(simulator.requests).toHaveLength(1);
  });

  test('ends a print run with an error and leaves the session usable', async () => {
    const { run, simulator, journal } = await setScene(RULES);
    const args = ['-p', ...STREAM, '--session-id', 'long', '--model', 'claude-haiku-4-5'];
    const { code, result } = await run(args, { stdin: PASTE });
    expect({ code, requests: simulator.requests.length }).toEqual({ code: 1, requests: 0 });
    expect(result.result).toMatch(REFUSAL);
    expect(JSON.stringify(await journal('long'))).not.toContain('word word');
    const next = await run(['-p', 'second', ...STREAM, '--resume', 'long']);
    expect(next).toMatchObject({ code: 0, result: { result: 'You said second!' } });
  });

  test('that another model has accepted is an error that names skein rewind, which helps', async () => {
    const { run } = await setScene(RULES);
    const args = ['-p', ...STREAM, '--session-id', 'long'];
    expect(
      (await run([...args, '--model', 'opus'], { stdin: PASTE.slice(0, 1_200_000) })).code,
    ).toBe(0);
    const onSmaller = [
      '-p',
      'second',
      ...STREAM,
      '--resume',
      'long',
      '--model',
      'claude-haiku-4-5',
    ];
    const blocked = await run(onSmaller);
    expect(blocked).toMatchObject({
      code: 1,
      result: { result: expect.stringContaining('`skein rewind` removes the newest prompt') },
    });
    const rewound = await run(['rewind', 'long', '--to', '1', '--yes']);
    expect(rewound).toMatchObject({ code: 0, stderr: '' });
    expect(await run(onSmaller)).toMatchObject({ code: 0, result: { result: 'You said second!' } });
  });
});
