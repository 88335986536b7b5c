import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/protocol/skein-error.js';
import { ECHO_SCRIPT, loadScript, parseScript } from '../../src/simulator/script.js';
import { startSimulator } from '../../src/simulator/start-simulator.js';
import { ASK, post, simulate } from './raw-client.js';

const fileWith = async (text: string) => {
  const file = join(tmpdir(), `script-${process.pid}-${text.length}.json`);
  await writeFile(file, text);
  return file;
};

describe('a script', () => {
  test('may abbreviate a reply to its text', () => {
    const { rules } = parseScript({ rules: [{ reply: 'hi' }, { replies: ['a', { text: 'b' }] }] });
    expect(rules).toEqual([
      { match: {}, reply: { text: 'hi' } },
      { match: {}, replies: [{ text: 'a' }, { text: 'b' }] },
    ]);
  });

  test.each([
    [{}, 'at rules: Invalid input: expected array, received undefined.'],
    [{ rules: [{}] }, 'at rules.0: a rule has either "reply" or "replies".'],
    [
      { rules: [{ reply: 'a', replies: ['b'] }] },
      'at rules.0: a rule has either "reply" or "replies".',
    ],
    [{ rules: [{ reply: { txt: 'a' } }] }, 'at rules.0.reply: Unrecognized key: "txt".'],
    [
      { rules: [{ match: { user: 'a' }, reply: 'b' }] },
      'at rules.0.match: Unrecognized key: "user".',
    ],
    [
      { rules: [{ reply: { text: 'a', blocks: [] } }] },
      'at rules.0.reply: "blocks" replaces "text", "thinking" and "tool_use": use one or the other.',
    ],
    [
      { rules: [{ reply: { stall: {} } }] },
      'at rules.0.reply.stall.afterEvents: Invalid input: expected number, received undefined.',
    ],
  ])('is rejected in a single sentence: %j', (value, end) => {
    const parse = () => parseScript(value, 'demo.json');
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(`demo.json is not a simulator script: ${end}`);
  });

  test('is rejected at the start if a regular expression is invalid', async () => {
    const script = { rules: [{ match: { lastUser: '/(/' }, reply: 'a' }] };
    await expect(startSimulator({ script })).rejects.toThrow(
      'The script is wrong at rules.0.match.lastUser: Invalid regular expression',
    );
  });

  test('loads from a file', async () => {
    const file = await fileWith('{ "rules": [{ "reply": "hi" }] }');
    expect((await loadScript(file)).rules).toHaveLength(1);
  });

  test('is rejected with the file name if the file is missing or not JSON', async () => {
    const file = await fileWith('{ rules');
    await expect(loadScript(file)).rejects.toThrow(`${file} is not JSON: `);
    await expect(loadScript('/nowhere/x.json')).rejects.toThrow('/nowhere/x.json cannot be read: ');
  });

  test('that echoes replies with the last user text', async () => {
    const simulator = await simulate(ECHO_SCRIPT.rules);
    const answer = await (await post(simulator, ASK)).json();
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
  });
});
