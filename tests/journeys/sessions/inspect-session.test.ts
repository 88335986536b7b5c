import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, type Rules, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

/** A model whose stream stalls after the first events. */
const HANGS: Rules = [{ reply: { text: 'Well', stall: { afterEvents: 2 } } }];

/** A scene with helpers to run prompts and to change the files of sessions. */
const setSessionScene = async (rules?: Rules) => {
  const scene = await setScene(rules);
  const folder = (id: string) => join(scene.skeinHome, 'sessions', id);
  const runPrompt = async (prompt: string, ...flags: string[]): Promise<string> => {
    const { result } = await scene.run(['-p', prompt, '--output-format', 'json', ...flags]);
    return result.session_id as string;
  };
  /** Changes fields of session.json. */
  const editMeta = async (id: string, change: Line) => {
    const file = join(folder(id), 'session.json');
    const meta = JSON.parse(await readFile(file, 'utf8')) as Line;
    await writeFile(file, JSON.stringify({ ...meta, ...change }));
  };
  const json = async (...args: string[]): Promise<Line> => {
    const { code, stdout, stderr } = await scene.run([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Line;
  };
  /** Sets the times of a session and its records back by `days`. */
  const makeOlder = async (id: string, days: number) => {
    const then = Date.now() - days * 86_400_000;
    await editMeta(id, { createdAt: then, updatedAt: then });
    const names = await readdir(join(folder(id), 'agents'));
    for (const file of ['events.jsonl', ...names.map((name) => `agents/${name}`)]) {
      const text = await readFile(join(folder(id), file), 'utf8');
      await writeFile(join(folder(id), file), text.replaceAll(/"ts":\d+/g, `"ts":${then}`));
    }
  };
  return { ...scene, folder, runPrompt, editMeta, json, makeOlder };
};

describe('skein sessions', () => {
  test('prints a notice and creates no directory if there are no sessions', async () => {
    const { run, skeinHome } = await setScene();
    expect(await run(['sessions'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'There is no session of this directory yet.\n',
    });
    await expect(stat(skeinHome)).rejects.toThrow('ENOENT');
  });

  test('lists the sessions of the directory, newest first, and counts sessions of other directories', async () => {
    const { run, runPrompt, root } = await setSessionScene();
    const [first, second] = [await runPrompt('the first'), await runPrompt('the second')];
    const elsewhere = join(root, 'elsewhere');
    await mkdir(elsewhere);
    const third = await runPrompt('the third', '--cwd', elsewhere);
    const { code, stdout, stderr } = await run(['sessions']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `^${second}  just now  ended  1 turn  \\$0\\.\\d{4}  claude-\\S+\\n    the second\\n${first}  .*\\n    the first\\n$`,
      ),
    );
    expect(stderr).toBe('1 session of other directories; --all shows them.\n');
    const all = await run(['sessions', '--all']);
    expect(all.stdout).toContain(`${third}  `);
    expect(all.stdout).toContain(`\n    ${elsewhere}\n`);
    const there = await run(['sessions', '--cwd', elsewhere]);
    expect(there.stdout.match(/^s_\w+/gm)).toEqual([third]);
    const limited = await run(['sessions', '--limit', '1']);
    expect(limited.stdout.match(/^s_\w+/gm)).toEqual([second]);
    expect(limited.stderr).toContain('1 older session not shown; --limit shows more.');
  });

  test('prints the list as JSON with stable keys', async () => {
    const { runPrompt, json, workspace } = await setSessionScene();
    const id = await runPrompt('hello');
    const { sessions, elsewhere, unreadable } = await json('sessions');
    expect({ elsewhere, unreadable }).toEqual({ elsewhere: 0, unreadable: [] });
    expect(sessions).toEqual([
      {
        id,
        state: 'ended',
        pid: null,
        host: null,
        cwd: workspace,
        title: 'hello',
        turns: 1,
        model: 'claude-sonnet-5-5',
        costUsd: expect.any(Number),
        forkedFrom: null,
        createdAt: expect.stringMatching(/Z$/),
        lastActiveAt: expect.stringMatching(/Z$/),
        leaseEndsInMs: null,
      },
    ]);
  });

  test('shows a live session as running, and as lost after its process was killed', async () => {
    const scene = await setSessionScene(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('the request is sent', () => scene.bodies().length > 0);
    const [live] = (await scene.json('sessions')).sessions as Line[];
    expect(live).toMatchObject({ state: 'running', pid: running.pid });
    expect((await scene.run(['sessions'])).stdout).toContain(`running (pid ${running.pid})`);
    running.kill('SIGKILL');
    await running.ended;
    const [dead] = (await scene.json('sessions')).sessions as Line[];
    expect(dead).toMatchObject({ state: 'lost', pid: null, turns: 0 });
    const cost = await scene.run(['cost']);
    expect(cost.stdout).toContain('1 request cut off with the process');
  });

  test('removes control characters from a hostile title and shortens it', async () => {
    const { run, runPrompt, editMeta, json } = await setSessionScene();
    const id = await runPrompt('hello');
    await editMeta(id, {
      title: `\u001B]0;owned\u0007\u001B[31mred\n\u202Eevil${'x'.repeat(1e6)}`,
    });
    const { stdout } = await run(['sessions']);
    expect(stdout.split('\n')[1]).toMatch(/^ {4}redevilx+…$|^ {4}red evilx+…$/);
    expect(stdout.length).toBeLessThan(400);
    const [session] = (await json('sessions')).sessions as Line[];
    expect(session?.title.length).toBeLessThanOrEqual(1_000);
  });

  test('finds sessions by text of people and models with --search', async () => {
    const { run, runPrompt, json } = await setSessionScene([
      { reply: 'The \u001B[31mCulprit\nis here.' },
    ]);
    const id = await runPrompt('who did it?');
    const hit = await run(['sessions', '--search', 'culprit is']);
    expect(hit.stdout).toContain(`${id}  `);
    expect(hit.stdout).toContain('    model: The Culprit is here.\n');
    const { sessions } = await json('sessions', '--search', 'WHO DID');
    expect(sessions[0].match).toEqual({ where: 'title', excerpt: 'who did it?' });
    expect(await run(['sessions', '--search', 'nobody'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No session of this directory has this text.\n',
    });
    expect(await run(['sessions', '--search', ' '])).toMatchObject({ code: 2 });
  });

  test('lists the other sessions if sessions are damaged, truncated or newer, and names them', async () => {
    const { run, runPrompt, folder, json } = await setSessionScene();
    const [good, bad, torn, newer] = [
      await runPrompt('good'),
      await runPrompt('bad'),
      await runPrompt('torn'),
      await runPrompt('newer'),
    ] as [string, string, string, string];
    await writeFile(join(folder(bad), 'session.json'), 'nonsense');
    for (const file of [
      'events.jsonl',
      `agents/${(await readdir(join(folder(torn), 'agents')))[0]}`,
    ]) {
      const text = await readFile(join(folder(torn), file), 'utf8');
      await writeFile(join(folder(torn), file), text.slice(0, -30));
    }
    await writeFile(join(folder(newer), 'events.jsonl'), '{"v":99}\n');
    const [journal] = await readdir(join(folder(newer), 'agents'));
    await writeFile(join(folder(newer), 'agents', journal ?? ''), '{"v":99,"seq":1}\n');
    const { code, stdout, stderr } = await run(['sessions']);
    expect(code).toBe(0);
    expect(stdout.match(/^s_\w+/gm)).toEqual(expect.arrayContaining([good, torn, newer]));
    expect(stdout).toMatch(new RegExp(`^${newer} .* unreadable .* unknown`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${torn} .* lost `, 'm'));
    expect(stderr).toMatch(new RegExp(`^skein: ${bad} is left out: .*not valid JSON`, 'm'));
    expect((await json('sessions')).unreadable).toMatchObject([{ id: bad }]);
    const cost = await run(['cost', newer]);
    expect(cost).toMatchObject({ code: 2, stderr: expect.stringMatching(/newer skein/) });
  });

  test('reads only the event files of the sessions that it shows', async () => {
    const { run, runPrompt, folder, skeinHome } = await setSessionScene();
    const id = await runPrompt('one of a thousand');
    const meta = JSON.parse(await readFile(join(folder(id), 'session.json'), 'utf8')) as Line;
    // A reader that opens the pipe blocks for ever.
    const pipe = join(skeinHome, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (let index = 0; index < 1_000; index += 1) {
      const copy = join(skeinHome, 'sessions', `old_${index}`);
      await mkdir(copy);
      await symlink(pipe, join(copy, 'events.jsonl'));
      const text = JSON.stringify({ ...meta, id: `old_${index}`, updatedAt: index });
      await writeFile(join(copy, 'session.json'), text);
    }
    const { code, stdout, stderr } = await run(['sessions', '--limit', '1']);
    expect({ code, ids: stdout.match(/^\w+/gm)?.[0] }).toEqual({ code: 0, ids: id });
    expect(stderr).toContain('1,000 older sessions not shown');
  });

  test('exits without an error when the reader closes the pipe', async () => {
    const { run, runPrompt } = await setSessionScene();
    await runPrompt('hello');
    const through = ['sh', '-c', '"$0" "$@" | head -c 1'] as const;
    expect(await run(['sessions'], { through })).toMatchObject({
      code: 0,
      stdout: 's',
      stderr: '',
    });
  });
});

describe('skein sessions prune', () => {
  test('removes sessions older than the limit after a confirmation, and prints the freed space', async () => {
    const { run, runPrompt, makeOlder, skeinHome } = await setSessionScene();
    const [old, young] = [await runPrompt('old'), await runPrompt('young')];
    await makeOlder(old, 31);
    await makeOlder(young, 29);
    const asked = await run(['sessions', 'prune']);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --yes/) });
    const dry = await run(['sessions', 'prune', '--dry-run']);
    expect(dry.stdout).toMatch(
      new RegExp(`^1 session would be removed:\\n  ${old}  \\d{4}-\\d\\d-\\d\\d  old`),
    );
    expect(await readdir(join(skeinHome, 'sessions'))).toHaveLength(2);
    const done = await run(['sessions', 'prune', '--yes']);
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 session removed, [\d.]+ KB freed\.\n$/),
    });
    expect(await readdir(join(skeinHome, 'sessions'))).toEqual([young]);
    const hours = await run(['sessions', 'prune', '--older-than', '1h', '--yes', '--json']);
    expect(JSON.parse(hours.stdout)).toEqual({
      removed: [young],
      wouldRemove: [],
      kept: [],
      freedBytes: expect.any(Number),
      checkpoints: { removed: 0, freedBytes: 0 },
      worktrees: { removed: [], kept: [] },
    });
    expect(await readdir(join(skeinHome, 'sessions'))).toEqual([]);
  });

  test('keeps sources of forked sessions, recently active sessions and unreadable sessions', async () => {
    const scene = await setSessionScene();
    const { run, runPrompt, makeOlder, editMeta, folder, skeinHome } = scene;
    const parent = await runPrompt('parent');
    const middle = await runPrompt('middle', '--resume', parent, '--fork-session');
    const child = await runPrompt('child', '--resume', middle, '--fork-session');
    const active = await runPrompt('active');
    const broken = await runPrompt('broken');
    for (const id of [parent, middle, broken]) await makeOlder(id, 100);
    await editMeta(active, { updatedAt: 1 });
    await writeFile(join(folder(broken), 'session.json'), '{"format":99}');
    const { code, stdout, stderr } = await run(['sessions', 'prune', '--yes']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0 sessions removed, 0 bytes freed.\n' });
    expect(stderr).toContain(`kept ${middle}: ${child} was forked from it`);
    expect(stderr).toContain(`kept ${parent}: ${middle} was forked from it`);
    expect(stderr).toMatch(new RegExp(`^kept ${broken}: .*newer skein`, 'm'));
    expect(await readdir(join(skeinHome, 'sessions'))).toHaveLength(5);
    await makeOlder(child, 100);
    await rm(folder(broken), { recursive: true });
    const all = await run(['sessions', 'prune', '--yes']);
    expect(all.stdout).toContain('3 sessions removed');
    expect(await readdir(join(skeinHome, 'sessions'))).toEqual([active]);
  });

  test('never removes a session with a live owner', async () => {
    const scene = await setSessionScene(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('the request is sent', () => scene.bodies().length > 0);
    const [id = ''] = await readdir(join(scene.skeinHome, 'sessions'));
    await scene.editMeta(id, { updatedAt: 1 });
    const { stdout, stderr } = await scene.run([
      'sessions',
      'prune',
      '--older-than',
      '0h',
      '--yes',
    ]);
    expect(stdout).toContain('0 sessions removed');
    expect(stderr).toContain(`kept ${id}: it is running (pid ${running.pid})`);
    expect(await readdir(join(scene.skeinHome, 'sessions'))).toEqual([id]);
  });

  test('refuses an invalid age', async () => {
    const { run } = await setScene();
    expect(await run(['sessions', 'prune', '--older-than', 'soon', '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^skein: "soon" is not an age[^\n]*\n$/),
    });
  });
});

describe('skein cost', () => {
  test('prints the same cost as the result of the run, and the version of the price list', async () => {
    const { run, json, workspace } = await setSessionScene([
      { match: { turn: 1 }, reply: 'Read.' },
      { reply: calls('Read', { file_path: 'a.txt' }) },
    ]);
    await writeFile(join(workspace, 'a.txt'), 'a');
    const { result } = await run(['-p', 'read a.txt', '--output-format', 'json']);
    const report = await json('cost', (result.session_id as string).slice(0, 8));
    expect(report).toMatchObject({ session: result.session_id, openRequests: 0, inherited: null });
    expect(report.total.requests).toBe(result.num_turns);
    expect(report.total.costUsd).toBeCloseTo(result.total_cost_usd as number, 10);
    const { stdout } = await run(['cost']);
    expect(stdout).toContain(`List prices of ${report.pricesVersion}`);
    expect(stdout).toMatch(/The session cost \$0\.\d{4}; without the cache \$0\.\d{4}: /);
  });

  test('prints unknown instead of 0 if the price of a model is unknown', async () => {
    const { run, runPrompt, json } = await setSessionScene();
    await runPrompt('hello', '--model', 'mystery-1');
    const { stdout } = await run(['cost']);
    expect(stdout).toMatch(/^mystery-1 .* unknown$/m);
    expect(stdout).toContain('The cost is unknown, because the price of a model is unknown.');
    expect((await json('cost')).total).toMatchObject({ costUsd: null, savedPercent: null });
  });

  test('does not count the inherited requests of a forked session', async () => {
    const { run, runPrompt, json } = await setSessionScene();
    const first = await runPrompt('hello');
    const fork = await runPrompt('more', '--resume', first, '--fork-session');
    expect(await json('cost', fork)).toMatchObject({
      total: { requests: 1 },
      inherited: { session: first, requests: 1 },
    });
    expect((await run(['cost', fork])).stdout).toContain(`Forked from ${first}, which paid $`);
  });

  test('lists the causes of cache misses, and does not count the first request as a miss', async () => {
    const { run, runPrompt, json } = await setSessionScene();
    const id = await runPrompt(`A long story: ${'and then '.repeat(2_000)}`);
    await runPrompt('more', '--resume', id);
    expect((await json('cost')).cache).toMatchObject({ missCount: 0, misses: [], causes: [] });
    expect((await run(['cost'])).stdout).toContain('No cache miss was recorded.');
    await runPrompt('and now with less effort', '--resume', id, '--effort', 'low');
    const { cache } = await json('cost');
    expect(cache).toMatchObject({ missCount: 1, accidentCount: 1 });
    const [cause] = cache.causes as [Line];
    expect(cause).toMatchObject({ cause: 'effort', expected: false, count: 1 });
    expect(cause.lostTokens).toBeGreaterThan(2_000);
    expect(cause.extraCostUsd).toBeGreaterThan(0);
    expect(cache.lostTokens).toBe(cause.lostTokens);
    const { stdout } = await run(['cost']);
    expect(stdout).toContain('the effort changed (effort): once, unexpected.');
    expect((await run(['logs'])).stdout).toMatch(/the cache missed [\d,]+ tokens by accident/);
  });

  test.each([
    [['cost'], /There is no session in .+; `skein sessions --all` lists/],
    [['cost', 's_nobody'], /There is no session "s_nobody"/],
    [['cost', ''], /The id of the session is empty/],
    [['cost', '../../etc/passwd'], /There is no session/],
    [['context', 's_nobody'], /There is no session "s_nobody"/],
    [['context', ''], /The id of the session is empty/],
    [['logs', 'a_nobody'], /There is no session "a_nobody"/],
  ])(
    'and similar commands fail with a single error line for an unknown session: %j',
    async (args, sentence) => {
      const { run } = await setScene();
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(sentence);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    },
  );
});

describe('skein context', () => {
  const READS = [
    { match: { turn: 1 }, reply: 'Read.' },
    { reply: calls('Read', { file_path: 'a.txt' }) },
  ];

  /** A scene with a session that has read a long file. */
  const setReadingScene = async () => {
    const scene = await setSessionScene(READS);
    await writeFile(join(scene.workspace, 'a.txt'), 'line\n'.repeat(1_000));
    return { ...scene, id: await scene.runPrompt('read a.txt') };
  };

  test('shows the parts of the context window and needs no API key', async () => {
    const { run, id } = await setReadingScene();
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
    const { code, stdout, stderr } = await run(['context', id.slice(0, 8)], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${id}  read a\\.txt\\nclaude-sonnet-5-5: `));
    for (const kind of ['█ system', '▓ tools', '▒ memory', '▚ messages', '░ tool results']) {
      expect(stdout).toMatch(new RegExp(`^ ${kind} +[\\d,]+ +<?\\d+\\.\\d %`, 'm'));
    }
    expect(stdout).toContain('counted by the server with the last answer');
  });

  test('prints the parts as JSON, and their sum agrees with the tokens that the server counted', async () => {
    const { json, journal } = await setReadingScene();
    const report = await json('context');
    const answer = (await journal()).findLast(({ type }) => type === 'assistant.received') as Line;
    const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = answer.usage;
    expect(report.countedTokens).toBe(input + output + cacheRead + cacheWrite5m + cacheWrite1h);
    expect(report.usedTokens).toBe(report.countedTokens);
    const kinds = report.parts.map(({ kind }: Line) => kind);
    expect(kinds).toEqual(['system', 'tools', 'memory', 'messages', 'results', 'free']);
    const sum = report.parts.reduce((all: number, { tokens }: Line) => all + tokens, 0);
    expect(sum).toBe(report.window);
    expect(report.parts[4].tokens).toBeGreaterThan(1_000);
  });

  test('prints only ASCII in the locale C, and no colours into a pipe', async () => {
    const { run } = await setReadingScene();
    const { stdout } = await run(['context'], { env: { LANG: 'C' } });
    expect(Buffer.from(stdout).every((byte) => byte < 0x80 && byte !== 0x1b)).toBe(true);
  });

  test('shows a session that another process runs', async () => {
    const scene = await setSessionScene(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('the request is sent', () => scene.bodies().length > 0);
    expect(await scene.json('context')).toMatchObject({ countedTokens: 0, messages: 1, turns: 0 });
    running.kill('SIGKILL');
    await running.ended;
    expect((await scene.run(['context'])).stdout).toContain('the session has no answer yet');
  });

  test('uses the window size of the settings', async () => {
    const { json } = await setReadingScene();
    expect(await json('context', '--settings', '{"skein":{"contextWindow":20000}}')).toMatchObject({
      window: 20_000,
      compactAbove: 16_700,
    });
  });
});

describe('skein logs', () => {
  const TOOL_USE = [
    { match: { turn: 1 }, reply: 'Done.' },
    { reply: calls('Bash', { command: 'echo "\u001B[31m$HOME"', description: 'Look' }) },
  ];

  test('prints the events in words, with the permission step that decided', async () => {
    const { run, runPrompt } = await setSessionScene(TOOL_USE);
    const id = await runPrompt('look', '--allowed-tools', 'Bash(echo:*)');
    const { code, stdout, stderr } = await run(['logs', id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const words of [
      /started in .+ with claude-/,
      /received a prompt from user/,
      /turn 1 asked of claude-/,
      /Bash (allowed|denied) at \w+/,
      /agent stopped, end_turn, after 2 turns/,
    ]) {
      expect(stdout).toMatch(words);
    }
    expect(stdout).not.toContain('\u001B');
    for (const line of stdout.trimEnd().split('\n')) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\S/);
    }
  });

  test('prints the stored events as JSON, at most as many as --limit', async () => {
    const { run, runPrompt, folder } = await setSessionScene();
    const id = await runPrompt('hello');
    const index = await readFile(join(folder(id), 'events.jsonl'), 'utf8');
    expect((await run(['logs', '--json'])).stdout).toBe(index);
    const lead = (JSON.parse(index.split('\n')[0] ?? '') as Line).agent as string;
    expect((await run(['logs', lead, '--json'])).stdout).toBe(index);
    expect((await run(['logs', '--json', '--limit', '2'])).lines).toHaveLength(2);
    expect((await run(['logs', '--limit', '0'])).stdout).toBe('');
  });

  test('follows a session of another process until it ends', async () => {
    const { start, line } = await startSession();
    const logs = start(['logs', '--follow']);
    await eventually('the prompt is shown', () => /received a prompt/.test(logs.stdout));
    line('second');
    await eventually('the second run is shown', () => /run 2 started/.test(logs.stdout));
    line(undefined);
    expect(await logs.ended).toMatchObject({ code: 0, stderr: '' });
    const stopped = logs.stdout.match(/(?:run ended|agent stopped), end_turn/g);
    expect(stopped).toHaveLength(2);
  });

  test('stops following on SIGINT and when the reader closes the pipe', async () => {
    const { start, line } = await startSession();
    const logs = start(['logs', '--follow']);
    await eventually('the prompt is shown', () => /received a prompt/.test(logs.stdout));
    logs.kill('SIGINT');
    expect(await logs.ended).toMatchObject({ code: 0 });
    const through = ['sh', '-c', '"$0" "$@" | head -n 1'] as const;
    const cut = start(['logs', '--follow'], { through });
    await eventually('a line is shown', () => cut.stdout !== '');
    line('second');
    expect(await cut.ended).toMatchObject({ code: 0 });
  });

  /** Starts a session that takes prompts as lines, and waits for its first result. */
  const startSession = async () => {
    const scene = await setScene();
    const format = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
    const driven = scene.start(['-p', ...format]);
    const line = (text: string | undefined) => {
      if (text === undefined) driven.endInput();
      else driven.say({ type: 'user', message: { role: 'user', content: text } });
    };
    line('first');
    await driven.line(({ type }) => type === 'result');
    return { start: scene.start, line };
  };
});

needs.describe('tmux')('skein sessions prune on a terminal', () => {
  test.each([
    ['y', '1 session removed', 0],
    ['n', 'Nothing was removed.', 1],
    ['', 'Nothing was removed.', 1],
  ])('asks for confirmation and handles the answer "%s"', async (answer, message, left) => {
    const scene = await setSessionScene();
    await scene.makeOlder(await scene.runPrompt('old'), 31);
    const screen = openScreen(scene, ['sessions', 'prune']);
    await screen.shows('Remove them permanently? [y/N]');
    screen.say(answer);
    expect(await screen.ended()).toBe(0);
    expect(screen.text()).toContain(message);
    expect(await readdir(join(scene.skeinHome, 'sessions'))).toHaveLength(left);
  });

  test('removes no session on Ctrl-C', async () => {
    const scene = await setSessionScene();
    await scene.makeOlder(await scene.runPrompt('old'), 31);
    const screen = openScreen(scene, ['sessions', 'prune']);
    await screen.shows('Remove them permanently? [y/N]');
    screen.press('C-c');
    await screen.ended();
    expect(await readdir(join(scene.skeinHome, 'sessions'))).toHaveLength(1);
  });
});
