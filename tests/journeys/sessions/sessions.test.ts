import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import {
  calls,
  type Line,
  pidIn,
  resultsIn,
  STREAM,
  setScene,
  unmarked,
} from '../../fakes/skein-process.js';
import { eventually, isAlive } from '../../host/process/processes.js';

const JSON_RESULT = ['--output-format', 'json'];
const FREE = ['--permission-mode', 'bypassPermissions'];

/** A model that reads a file in the first turn of every prompt. */
const sceneOfTalk = async () => {
  const scene = await setScene([
    { match: { toolResult: 'a note' }, reply: { thinking: 'Hm.', text: 'It says: a note.' } },
    { match: { lastUser: 'hang' }, reply: calls('Bash', { command: 'echo $$ > pid; sleep 60' }) },
    { reply: calls('Read', { file_path: 'notes.txt' }) },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const talk = async (prompt: string, ...flags: readonly string[]): Promise<Line> => {
    const { code, stderr, result } = await scene.run(['-p', prompt, ...JSON_RESULT, ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return result;
  };
  const meta = async (id: string): Promise<SessionMeta> =>
    JSON.parse(await readFile(join(scene.skeinHome, 'sessions', id, 'session.json'), 'utf8'));
  return { ...scene, talk, meta };
};

/** A model that wants to see one file, whatever it is told. */
const readingModel = async (file: string) => {
  const reply = calls('Read', { file_path: file });
  return (await setScene([{ match: { lastUser: 'look' }, reply }, { reply: 'Seen.' }])).simulator;
};

/** Everything before the end of `messages`. */
const promptOf = (body: Line | undefined) => unmarked(body).slice(0, -2);

describe('a session that is resumed', () => {
  test('sends what it has sent before, byte for byte, and then the new prompt', async () => {
    const { talk, bodies } = await sceneOfTalk();
    const { session_id } = await talk('first');
    expect((await talk('second', '--resume', session_id)).session_id).toBe(session_id);
    const sent = bodies();
    expect(sent).toHaveLength(4);
    for (const [index, body] of sent.slice(1).entries()) {
      expect(unmarked(body).startsWith(promptOf(sent[index]))).toBe(true);
    }
    expect(sent[2]?.messages.at(-1).content).toMatchObject([{ text: 'second' }]);
  });

  test('is found by the beginning of its id', async () => {
    const { talk } = await sceneOfTalk();
    const { session_id } = await talk('first');
    const resumed = await talk('second', '--resume', session_id.slice(0, 6));
    expect(resumed.session_id).toBe(session_id);
  });

  test('keeps its directory, its model and its instructions', async () => {
    const { talk, bodies, run, root } = await sceneOfTalk();
    const { session_id } = await talk('first', '--model', 'opus', '--system-prompt', 'Be brief.');
    await mkdir(join(root, 'elsewhere'));
    const flags = ['--resume', session_id, ...JSON_RESULT];
    const { code } = await run(['-p', 'second', ...flags], { cwd: join(root, 'elsewhere') });
    expect(code).toBe(0);
    expect(bodies().at(-1)).toMatchObject({
      model: 'claude-opus-5-5',
      system: [{}, { text: expect.stringMatching(/^Be brief\.\n\n# Environment/) }],
    });
    expect(resultsIn(bodies().at(-1))).toMatchObject([
      { content: expect.stringMatching('a note') },
    ]);
  });

  test('may be given another model, which is declared as a break', async () => {
    const { talk, bodies, journal } = await sceneOfTalk();
    const { session_id } = await talk('first');
    await talk('second', '--resume', session_id, '--model', 'haiku');
    expect(bodies().at(-1)?.model).toBe('claude-haiku-5-5');
    expect((await journal()).filter(({ type }) => type === 'prompt.broken')).toMatchObject([
      { reason: 'model' },
    ]);
    await talk('third', '--resume', session_id);
    expect(bodies().at(-1)?.model).toBe('claude-haiku-5-5');
  });

  test('cannot be when its directory is gone', async () => {
    const { talk, run, workspace, root } = await sceneOfTalk();
    const { session_id } = await talk('first');
    await rename(workspace, join(root, 'moved'));
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id], { cwd: root });
    expect(code).toBe(2);
    expect(stderr).toContain(workspace);
  });

  test('goes on without a prompt where it was stopped', async () => {
    const { run, workspace, bodies } = await sceneOfTalk();
    const limited = await run(['-p', 'first', ...JSON_RESULT, '--max-turns', '1']);
    expect(limited).toMatchObject({ code: 3, result: { stop_reason: 'max_turns' } });
    const resumed = await run(['-p', ...JSON_RESULT, '--continue'], { cwd: workspace });
    expect(resumed).toMatchObject({ code: 0, result: { result: 'It says: a note.' } });
    expect(bodies()).toHaveLength(2);
  });

  test('keeps its count of what it has cost', async () => {
    const { talk, simulator } = await sceneOfTalk();
    const { session_id } = await talk('first');
    const { total_cost_usd } = await talk('second', '--resume', session_id);
    expect(total_cost_usd).toBeCloseTo(simulator.totals.cost ?? -1, 10);
  });
});

describe('--continue', () => {
  test('takes the session of this directory that was used last', async () => {
    const { talk, run, root } = await sceneOfTalk();
    const first = await talk('first');
    const second = await talk('second');
    await mkdir(join(root, 'elsewhere'));
    await run(['-p', 'other', ...JSON_RESULT], { cwd: join(root, 'elsewhere') });
    expect((await talk('third', '--continue')).session_id).toBe(second.session_id);
    await talk('fourth', '--resume', first.session_id);
    expect((await talk('fifth', '--continue')).session_id).toBe(first.session_id);
  });
});

describe('--fork-session', () => {
  test('goes on as a copy, and leaves its source as it was', async () => {
    const { talk, bodies, meta, journal } = await sceneOfTalk();
    const { session_id: source } = await talk('first');
    const before = await journal(source);
    const { session_id: fork } = await talk('second', '--resume', source, '--fork-session');
    expect(fork).not.toBe(source);
    expect(await meta(fork)).toMatchObject({ id: fork, parentId: source });
    expect(await journal(source)).toEqual(before);
    expect(unmarked(bodies()[2]).startsWith(promptOf(bodies()[1]))).toBe(true);
    const resumed = await talk('third', '--resume', fork);
    expect(resumed.session_id).toBe(fork);
    expect(unmarked(bodies().at(-1)).startsWith(promptOf(bodies()[3]))).toBe(true);
  });

  test('may be given its id, and may fork the newest', async () => {
    const { talk, meta } = await sceneOfTalk();
    const { session_id: source } = await talk('first');
    const flags = ['--continue', '--fork-session', '--session-id', 'my-fork'];
    expect((await talk('second', ...flags)).session_id).toBe('my-fork');
    expect(await meta('my-fork')).toMatchObject({ parentId: source });
  });

  test('may read the large outputs that its history names, of all it descends from', async () => {
    const scene = await setScene([
      { match: { firstUser: 'make', turn: 0 }, reply: calls('Bash', { command: 'seq 1 20000' }) },
      { reply: 'Done.' },
    ]);
    await scene.run(['-p', 'make', '--session-id', 'old', '--allowed-tools', 'Bash(seq 1 20000)']);
    const folder = join(scene.skeinHome, 'sessions', 'old', 'artifacts');
    const [name = ''] = (await readdir(folder)).filter((file) => file.includes('bash-output'));
    const fork = (from: string, id: string) =>
      scene.run(['-p', 'go on', '--resume', from, '--fork-session', '--session-id', id]);
    await fork('old', 'child');
    await fork('child', 'grandchild');
    const { url } = await readingModel(join(folder, name));
    const read = (id: string) =>
      scene.run(['-p', 'look', '--resume', id, ...JSON_RESULT], {
        env: { ANTHROPIC_BASE_URL: url },
      });
    expect((await read('grandchild')).result.permission_denials).toEqual([]);
    await scene.run(['-p', 'hello', '--session-id', 'stranger']);
    expect((await read('stranger')).result.permission_denials).toHaveLength(1);
  });

  test('forks a session that is in use', async () => {
    const { start, talk, workspace } = await sceneOfTalk();
    const process = start(['-p', 'hang', ...STREAM, ...FREE, '--session-id', 'busy']);
    process.endInput();
    await eventually('the command runs', () => existsSync(join(workspace, 'pid')));
    const fork = await talk('second', '--resume', 'busy', '--fork-session');
    expect(fork.result).toBe('It says: a note.');
    process.kill('SIGKILL');
    await process.ended;
  });
});

describe('--session-id', () => {
  test('names a new session, once', async () => {
    const { talk, run } = await sceneOfTalk();
    expect((await talk('first', '--session-id', 'mine')).session_id).toBe('mine');
    const again = await run(['-p', 'second', '--session-id', 'mine']);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--resume mine') });
  });
});

describe('two processes and one session', () => {
  test('the second is refused with the pid of the first, until that one is dead', async () => {
    const { start, run, workspace, bodies, talk } = await sceneOfTalk();
    const first = start(['-p', 'hang', ...STREAM, ...FREE, '--session-id', 'shared']);
    first.endInput();
    const shell = await eventually('the command runs', () => pidIn(workspace));
    const refused = await run(['-p', 'second', '--resume', 'shared']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${first.pid}`) });
    expect(bodies()).toHaveLength(1);

    first.kill('SIGKILL');
    await first.ended;
    await eventually('its command is gone', () => !isAlive(shell));
    await talk('second', '--resume', 'shared');
    const [, second] = bodies();
    expect(unmarked(second).startsWith(promptOf(bodies()[0]))).toBe(true);
    expect(second?.messages.at(-1).content).toMatchObject([
      { type: 'tool_result', is_error: true, content: expect.stringMatching('was stopped while') },
      { type: 'text', text: 'second' },
      { type: 'text', text: expect.stringContaining('The permission mode is now default.') },
    ]);
  });
});

describe('a damaged session', () => {
  test('is told about, and goes on with what can be read', async () => {
    const { talk, run, skeinHome, bodies } = await sceneOfTalk();
    const { session_id } = await talk('first');
    const folder = join(skeinHome, 'sessions', session_id, 'agents');
    const [name = ''] = await readdir(folder);
    const journal = join(folder, name);
    await writeFile(journal, `${await readFile(journal, 'utf8')}{"v":1,"seq":99,"torn`);
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(unmarked(bodies()[2]).startsWith(promptOf(bodies()[1]))).toBe(true);
  });

  test('that has lost its first message is refused, with what is left of it kept', async () => {
    const { talk, run, skeinHome } = await sceneOfTalk();
    const { session_id } = await talk('first');
    const folder = join(skeinHome, 'sessions', session_id, 'agents');
    const [name = ''] = await readdir(folder);
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    const first = lines.findIndex((line) => line.includes('"user.sent"'));
    await writeFile(join(folder, name), lines.with(first, 'garbage{').join('\n'));
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
    expect(code).toBe(2);
    expect(stderr).toContain(`The beginning of session ${session_id} is damaged`);
    expect(await readFile(join(folder, `${name}.corrupt`), 'utf8')).toBe('garbage{\n');
    expect((await run(['-p', 'third', '--resume', session_id])).code).toBe(2);
  });

  test.each([
    ['no JSON', 'nonsense', /not valid JSON/],
    ['a newer format', '{"format":99}', /newer skein/],
  ])('that has %s for its metadata is refused by name', async (_, text, sentence) => {
    const { talk, run, skeinHome } = await sceneOfTalk();
    const { session_id } = await talk('first');
    await writeFile(join(skeinHome, 'sessions', session_id, 'session.json'), text);
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr).toContain(session_id);
  });
});
