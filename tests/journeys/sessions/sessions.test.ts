import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import { eventually } from '../../fakes/eventually.js';
import {
  calls,
  type Line,
  pidIn,
  resultsIn,
  STREAM,
  setScene,
  unmarked,
} from '../../fakes/skein-process.js';
import { isAlive } from '../../host/process/processes.js';

const JSON_RESULT = ['--output-format', 'json'];
const FREE = ['--permission-mode', 'bypassPermissions'];

/** A scene whose model reads a file in the first turn of every prompt. */
const setSessionScene = async () => {
  const scene = await setScene([
    { match: { toolResult: 'a note' }, reply: { thinking: 'Hm.', text: 'It says: a note.' } },
    { match: { lastUser: 'hang' }, reply: calls('Bash', { command: 'echo $$ > pid; sleep 60' }) },
    { reply: calls('Read', { file_path: 'notes.txt' }) },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const runPrompt = async (prompt: string, ...flags: readonly string[]): Promise<Line> => {
    const { code, stderr, result } = await scene.run(['-p', prompt, ...JSON_RESULT, ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return result;
  };
  const meta = async (id: string): Promise<SessionMeta> =>
    JSON.parse(await readFile(join(scene.skeinHome, 'sessions', id, 'session.json'), 'utf8'));
  return { ...scene, runPrompt, meta };
};

/** A model that reads a file for the prompt "look". */
const readingModel = async (file: string) => {
  const reply = calls('Read', { file_path: file });
  return (await setScene([{ match: { lastUser: 'look' }, reply }, { reply: 'Seen.' }])).simulator;
};

/** The request body up to the end of `messages`. */
const promptOf = (body: Line | undefined) => unmarked(body).slice(0, -2);

describe('a resumed session', () => {
  test('sends its earlier prompt byte for byte, followed by the new prompt', async () => {
    const { runPrompt, bodies } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    expect((await runPrompt('second', '--resume', session_id)).session_id).toBe(session_id);
    const sent = bodies();
    expect(sent).toHaveLength(4);
    for (const [index, body] of sent.slice(1).entries()) {
      expect(unmarked(body).startsWith(promptOf(sent[index]))).toBe(true);
    }
    expect(sent[2]?.messages.at(-1).content).toMatchObject([{ text: 'second' }]);
  });

  test('is found by a prefix of its id', async () => {
    const { runPrompt } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const resumed = await runPrompt('second', '--resume', session_id.slice(0, 6));
    expect(resumed.session_id).toBe(session_id);
  });

  test('keeps its directory, model and system prompt', async () => {
    const { runPrompt, bodies, run, root } = await setSessionScene();
    const { session_id } = await runPrompt(
      'first',
      '--model',
      'opus',
      '--system-prompt',
      'Be brief.',
    );
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

  test('can get another model, which is recorded as a prompt break', async () => {
    const { runPrompt, bodies, journal } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    await runPrompt('second', '--resume', session_id, '--model', 'haiku');
    expect(bodies().at(-1)?.model).toBe('claude-haiku-5-5');
    expect((await journal()).filter(({ type }) => type === 'prompt.broken')).toMatchObject([
      { reason: 'model' },
    ]);
    await runPrompt('third', '--resume', session_id);
    expect(bodies().at(-1)?.model).toBe('claude-haiku-5-5');
  });

  test('is refused if its directory is gone', async () => {
    const { runPrompt, run, workspace, root } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    await rename(workspace, join(root, 'moved'));
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id], { cwd: root });
    expect(code).toBe(2);
    expect(stderr).toContain(workspace);
  });

  test('continues without a new prompt from the point where it stopped', async () => {
    const { run, workspace, bodies } = await setSessionScene();
    const limited = await run(['-p', 'first', ...JSON_RESULT, '--max-turns', '1']);
    expect(limited).toMatchObject({ code: 3, result: { stop_reason: 'max_turns' } });
    const resumed = await run(['-p', ...JSON_RESULT, '--continue'], { cwd: workspace });
    expect(resumed).toMatchObject({ code: 0, result: { result: 'It says: a note.' } });
    expect(bodies()).toHaveLength(2);
  });

  test('keeps its total cost', async () => {
    const { runPrompt, simulator } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const { total_cost_usd } = await runPrompt('second', '--resume', session_id);
    expect(total_cost_usd).toBeCloseTo(simulator.totals.cost ?? -1, 10);
  });
});

describe('--continue', () => {
  test('resumes the most recently used session of the directory', async () => {
    const { runPrompt, run, root } = await setSessionScene();
    const first = await runPrompt('first');
    const second = await runPrompt('second');
    await mkdir(join(root, 'elsewhere'));
    await run(['-p', 'other', ...JSON_RESULT], { cwd: join(root, 'elsewhere') });
    expect((await runPrompt('third', '--continue')).session_id).toBe(second.session_id);
    await runPrompt('fourth', '--resume', first.session_id);
    expect((await runPrompt('fifth', '--continue')).session_id).toBe(first.session_id);
  });
});

describe('--fork-session', () => {
  test('continues as a copy and leaves the source unchanged', async () => {
    const { runPrompt, bodies, meta, journal } = await setSessionScene();
    const { session_id: source } = await runPrompt('first');
    const before = await journal(source);
    const { session_id: fork } = await runPrompt('second', '--resume', source, '--fork-session');
    expect(fork).not.toBe(source);
    expect(await meta(fork)).toMatchObject({ id: fork, parentId: source });
    expect(await journal(source)).toEqual(before);
    expect(unmarked(bodies()[2]).startsWith(promptOf(bodies()[1]))).toBe(true);
    const resumed = await runPrompt('third', '--resume', fork);
    expect(resumed.session_id).toBe(fork);
    expect(unmarked(bodies().at(-1)).startsWith(promptOf(bodies()[3]))).toBe(true);
  });

  test('accepts --session-id for the copy, and --continue as the source', async () => {
    const { runPrompt, meta } = await setSessionScene();
    const { session_id: source } = await runPrompt('first');
    const flags = ['--continue', '--fork-session', '--session-id', 'my-fork'];
    expect((await runPrompt('second', ...flags)).session_id).toBe('my-fork');
    expect(await meta('my-fork')).toMatchObject({ parentId: source });
  });

  test('allows reads of large outputs that the sessions it descends from stored', async () => {
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

  test('copies a session that another process runs', async () => {
    const { start, runPrompt, workspace } = await setSessionScene();
    const process = start(['-p', 'hang', ...STREAM, ...FREE, '--session-id', 'busy']);
    process.endInput();
    await eventually('the command runs', () => existsSync(join(workspace, 'pid')));
    const fork = await runPrompt('second', '--resume', 'busy', '--fork-session');
    expect(fork.result).toBe('It says: a note.');
    process.kill('SIGKILL');
    await process.ended;
  });
});

describe('--session-id', () => {
  test('sets the id of a new session, and is refused if the id exists', async () => {
    const { runPrompt, run } = await setSessionScene();
    expect((await runPrompt('first', '--session-id', 'mine')).session_id).toBe('mine');
    const again = await run(['-p', 'second', '--session-id', 'mine']);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--resume mine') });
  });
});

describe('a session with a live owner', () => {
  test('is refused to a second process with the pid of the owner until the owner is dead', async () => {
    const { start, run, workspace, bodies, runPrompt } = await setSessionScene();
    const first = start(['-p', 'hang', ...STREAM, ...FREE, '--session-id', 'shared']);
    first.endInput();
    const shell = await eventually('the command runs', () => pidIn(workspace));
    const refused = await run(['-p', 'second', '--resume', 'shared']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${first.pid}`) });
    expect(bodies()).toHaveLength(1);

    first.kill('SIGKILL');
    await first.ended;
    await eventually('the command is gone', () => !isAlive(shell));
    await runPrompt('second', '--resume', 'shared');
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
  test('with a truncated last record names it, and resumes from the readable records', async () => {
    const { runPrompt, run, skeinHome, bodies } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const folder = join(skeinHome, 'sessions', session_id, 'agents');
    const [name = ''] = await readdir(folder);
    const journal = join(folder, name);
    await writeFile(journal, `${await readFile(journal, 'utf8')}{"v":1,"seq":99,"torn`);
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
    expect(code).toBe(0);
    // The owner had ended, so its last record was whole once.
    expect(stderr).toMatch(/^skein: .+:15: record 16 is missing after the last line\n$/);
    expect(unmarked(bodies()[2]).startsWith(promptOf(bodies()[1]))).toBe(true);
  });

  test('without its first message is resumed, names file and line on every surface, and keeps the old file', async () => {
    const { runPrompt, run, skeinHome, bodies } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const folder = join(skeinHome, 'sessions', session_id, 'agents');
    const [name = ''] = await readdir(folder);
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    const first = lines.findIndex((line) => line.includes('"user.sent"'));
    const damaged = lines.with(first, 'garbage{').join('\n');
    for (const [format, places] of Object.entries({ json: 1, 'stream-json': 2 })) {
      for (const file of await readdir(folder)) await rm(join(folder, file));
      await writeFile(join(folder, name), damaged);
      const resume = ['--resume', session_id, '--output-format', format];
      const ended = await run(['-p', 'second', ...resume]);
      expect(ended.code).toBe(0);
      const where = `${join(folder, name)}:${first + 1} cannot be read`;
      expect(ended.stderr).toContain(where);
      const notices = ended.lines.filter(({ subtype }) => subtype === 'notice');
      const shown = [...(ended.result.damage ?? []), ...notices.map(({ text }) => text)];
      expect(shown.filter((text) => String(text).includes(where))).toHaveLength(places);
      expect(await readFile(join(folder, `${name}.corrupt`), 'utf8')).toBe('garbage{\n');
      expect(await readFile(join(folder, `${name}.damaged`), 'utf8')).toBe(damaged);
      expect(JSON.stringify(bodies().at(-1)?.messages)).toContain(
        'part of this conversation was lost',
      );
      const again = await run(['-p', 'third', ...resume]);
      expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    }
  });

  test('with an emptied journal says that the conversation is lost, also without the event index', async () => {
    const { runPrompt, run, skeinHome } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const session = join(skeinHome, 'sessions', session_id);
    const [name = ''] = await readdir(join(session, 'agents'));
    const journal = join(session, 'agents', name);
    const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n').length;
    await writeFile(journal, '');
    const emptied = await run(['-p', 'second', '--resume', session_id]);
    expect(emptied.code).toBe(0);
    expect(emptied.stderr).toContain(`${journal}:0: records 1 to ${lines} are missing`);
    await writeFile(journal, '');
    await rm(join(session, 'events.jsonl'));
    const bare = await run(['-p', 'third', '--resume', session_id]);
    expect(bare.code).toBe(0);
    expect(bare.stderr).toContain(`${journal}:1: the journal is empty`);
  });

  test('with a damaged event index rebuilds it, names file and line, and keeps the old file', async () => {
    const { runPrompt, run, skeinHome } = await setSessionScene();
    const { session_id } = await runPrompt('first');
    const events = join(skeinHome, 'sessions', session_id, 'events.jsonl');
    const lines = (await readFile(events, 'utf8')).split('\n');
    await writeFile(events, lines.with(4, 'garbage{').join('\n'));
    const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
    expect(code).toBe(0);
    expect(stderr).toContain(`${events}:5 cannot be read`);
    expect(await readFile(`${events}.damaged`, 'utf8')).toContain('garbage{');
    expect((await readFile(events, 'utf8')).split('\n').length).toBeGreaterThan(lines.length);
  });

  test.each([
    ['no JSON', 'nonsense', /not valid JSON/],
    ['a newer format', '{"format":99}', /newer skein/],
  ])(
    'with %s as metadata is refused, and the error names the session',
    async (_, text, sentence) => {
      const { runPrompt, run, skeinHome } = await setSessionScene();
      const { session_id } = await runPrompt('first');
      await writeFile(join(skeinHome, 'sessions', session_id, 'session.json'), text);
      const { code, stderr } = await run(['-p', 'second', '--resume', session_id]);
      expect(code).toBe(2);
      expect(stderr).toMatch(sentence);
      expect(stderr).toContain(session_id);
    },
  );
});
