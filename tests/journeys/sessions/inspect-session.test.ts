import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Line, type Rules, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

/** A model that begins to answer and falls silent. */
const HANGS: Rules = [{ reply: { text: 'Well', stall: { afterEvents: 2 } } }];

/** A scene with a way to talk, and the files of its sessions. */
const sceneOfTalk = async (rules?: Rules) => {
  const scene = await setScene(rules);
  const folder = (id: string) => join(scene.skeinHome, 'sessions', id);
  const talk = async (prompt: string, ...flags: string[]): Promise<string> => {
    const { result } = await scene.run(['-p', prompt, '--output-format', 'json', ...flags]);
    return result.session_id as string;
  };
  /** Changes what session.json says. */
  const amend = async (id: string, change: Line) => {
    const file = join(folder(id), 'session.json');
    const meta = JSON.parse(await readFile(file, 'utf8')) as Line;
    await writeFile(file, JSON.stringify({ ...meta, ...change }));
  };
  const json = async (...args: string[]): Promise<Line> => {
    const { code, stdout, stderr } = await scene.run([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Line;
  };
  /** A session of long ago, whose events are as old. */
  const age = async (id: string, days: number) => {
    const then = Date.now() - days * 86_400_000;
    await amend(id, { createdAt: then, updatedAt: then });
    const names = await readdir(join(folder(id), 'agents'));
    for (const file of ['events.jsonl', ...names.map((name) => `agents/${name}`)]) {
      const text = await readFile(join(folder(id), file), 'utf8');
      await writeFile(join(folder(id), file), text.replaceAll(/"ts":\d+/g, `"ts":${then}`));
    }
  };
  return { ...scene, folder, talk, amend, json, age };
};

describe('skein sessions', () => {
  test('has nothing to list at first, and makes no directory to say so', async () => {
    const { run, skeinHome } = await setScene();
    expect(await run(['sessions'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'There is no session of this directory yet.\n',
    });
    await expect(stat(skeinHome)).rejects.toThrow('ENOENT');
  });

  test('lists those of this directory, newest first, and says how many others there are', async () => {
    const { run, talk, root } = await sceneOfTalk();
    const [first, second] = [await talk('the first'), await talk('the second')];
    const elsewhere = join(root, 'elsewhere');
    await mkdir(elsewhere);
    const third = await talk('the third', '--cwd', elsewhere);
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
    const one = await run(['sessions', '--limit', '1']);
    expect(one.stdout.match(/^s_\w+/gm)).toEqual([second]);
    expect(one.stderr).toContain('1 older session not shown; --limit shows more.');
  });

  test('tells programs the same, under keys that stay', async () => {
    const { talk, json, workspace } = await sceneOfTalk();
    const id = await talk('hello');
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
      },
    ]);
  });

  test('says running of one that runs, and lost of one that was killed in the middle', async () => {
    const scene = await sceneOfTalk(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('it has asked', () => scene.bodies().length > 0);
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

  test('shows nothing of a hostile title but its letters', async () => {
    const { run, talk, amend, json } = await sceneOfTalk();
    const id = await talk('hello');
    await amend(id, { title: `\u001B]0;owned\u0007\u001B[31mred\n\u202Eevil${'x'.repeat(1e6)}` });
    const { stdout } = await run(['sessions']);
    expect(stdout.split('\n')[1]).toMatch(/^ {4}redevilx+…$|^ {4}red evilx+…$/);
    expect(stdout.length).toBeLessThan(400);
    const [session] = (await json('sessions')).sessions as Line[];
    expect(session?.title.length).toBeLessThanOrEqual(1_000);
  });

  test('finds what people and models said', async () => {
    const { run, talk, json } = await sceneOfTalk([{ reply: 'The \u001B[31mCulprit\nis here.' }]);
    const id = await talk('who did it?');
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

  test('goes on where one session is damaged, torn or newer, and names it', async () => {
    const { run, talk, folder, json } = await sceneOfTalk();
    const [good, bad, torn, newer] = [
      await talk('good'),
      await talk('bad'),
      await talk('torn'),
      await talk('newer'),
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

  test('reads no more journals than it shows', async () => {
    const { run, talk, folder, skeinHome } = await sceneOfTalk();
    const id = await talk('one of a thousand');
    const meta = JSON.parse(await readFile(join(folder(id), 'session.json'), 'utf8')) as Line;
    // Whoever opens it to read waits for ever.
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

  test('ends quietly when nobody reads on', async () => {
    const { run, talk } = await sceneOfTalk();
    await talk('hello');
    const through = ['sh', '-c', '"$0" "$@" | head -c 1'] as const;
    expect(await run(['sessions'], { through })).toMatchObject({
      code: 0,
      stdout: 's',
      stderr: '',
    });
  });
});

describe('skein sessions prune', () => {
  test('removes what is older than the setting, once it is told to, and says what that freed', async () => {
    const { run, talk, age, skeinHome } = await sceneOfTalk();
    const [old, young] = [await talk('old'), await talk('young')];
    await age(old, 31);
    await age(young, 29);
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

  test('keeps what runs, what is forked from, what was active lately and what it cannot read', async () => {
    const scene = await sceneOfTalk();
    const { run, talk, age, amend, folder, skeinHome } = scene;
    const parent = await talk('parent');
    const middle = await talk('middle', '--resume', parent, '--fork-session');
    const child = await talk('child', '--resume', middle, '--fork-session');
    const active = await talk('active');
    const broken = await talk('broken');
    for (const id of [parent, middle, broken]) await age(id, 100);
    await amend(active, { updatedAt: 1 });
    await writeFile(join(folder(broken), 'session.json'), '{"format":99}');
    const { code, stdout, stderr } = await run(['sessions', 'prune', '--yes']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0 sessions removed, 0 bytes freed.\n' });
    expect(stderr).toContain(`kept ${middle}: ${child} was forked from it`);
    expect(stderr).toContain(`kept ${parent}: ${middle} was forked from it`);
    expect(stderr).toMatch(new RegExp(`^kept ${broken}: .*newer skein`, 'm'));
    expect(await readdir(join(skeinHome, 'sessions'))).toHaveLength(5);
    await age(child, 100);
    await rm(folder(broken), { recursive: true });
    const all = await run(['sessions', 'prune', '--yes']);
    expect(all.stdout).toContain('3 sessions removed');
    expect(await readdir(join(skeinHome, 'sessions'))).toEqual([active]);
  });

  test('never removes a session with a live owner', async () => {
    const scene = await sceneOfTalk(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('it has asked', () => scene.bodies().length > 0);
    const [id = ''] = await readdir(join(scene.skeinHome, 'sessions'));
    await scene.amend(id, { updatedAt: 1 });
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

  test('refuses an age that is none', async () => {
    const { run } = await setScene();
    expect(await run(['sessions', 'prune', '--older-than', 'soon', '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^skein: "soon" is not an age[^\n]*\n$/),
    });
  });
});

describe('skein cost', () => {
  test('agrees with what the run itself said, and names the price table', async () => {
    const { run, json, workspace } = await sceneOfTalk([
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

  test('says unknown where a price is, and never 0', async () => {
    const { run, talk, json } = await sceneOfTalk();
    await talk('hello', '--model', 'mystery-1');
    const { stdout } = await run(['cost']);
    expect(stdout).toMatch(/^mystery-1 .* unknown$/m);
    expect(stdout).toContain('The cost is unknown, because the price of a model is unknown.');
    expect((await json('cost')).total).toMatchObject({ costUsd: null, savedPercent: null });
  });

  test('leaves to the first session what a fork inherited from it', async () => {
    const { run, talk, json } = await sceneOfTalk();
    const first = await talk('hello');
    const fork = await talk('more', '--resume', first, '--fork-session');
    expect(await json('cost', fork)).toMatchObject({
      total: { requests: 1 },
      inherited: { session: first, requests: 1 },
    });
    expect((await run(['cost', fork])).stdout).toContain(`Forked from ${first}, which paid $`);
  });

  test('names what broke the cache, and counts no first request among the misses', async () => {
    const { run, talk, json } = await sceneOfTalk();
    const id = await talk(`A long story: ${'and then '.repeat(2_000)}`);
    await talk('more', '--resume', id);
    expect((await json('cost')).cache).toMatchObject({ missCount: 0, misses: [], causes: [] });
    expect((await run(['cost'])).stdout).toContain('No cache miss was recorded.');
    await talk('and now with less effort', '--resume', id, '--effort', 'low');
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
  ])('and the like say in one sentence what they cannot find: %j', async (args, sentence) => {
    const { run } = await setScene();
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('skein context', () => {
  const READS = [
    { match: { turn: 1 }, reply: 'Read.' },
    { reply: calls('Read', { file_path: 'a.txt' }) },
  ];

  /** A session that has read a long file. */
  const sceneOfReading = async () => {
    const scene = await sceneOfTalk(READS);
    await writeFile(join(scene.workspace, 'a.txt'), 'line\n'.repeat(1_000));
    return { ...scene, id: await scene.talk('read a.txt') };
  };

  test('shows what fills the window, and needs no key to do it', async () => {
    const { run, id } = await sceneOfReading();
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
    const { code, stdout, stderr } = await run(['context', id.slice(0, 8)], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${id}  read a\\.txt\\nclaude-sonnet-5-5: `));
    for (const kind of ['█ system', '▓ tools', '▒ memory', '▚ messages', '░ tool results']) {
      expect(stdout).toMatch(new RegExp(`^ ${kind} +[\\d,]+ +<?\\d+\\.\\d %`, 'm'));
    }
    expect(stdout).toContain('counted by the server with the last answer');
  });

  test('tells programs the same, and agrees with what the server counted', async () => {
    const { json, journal } = await sceneOfReading();
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

  test('is drawn in ASCII where the locale has nothing else, and never in colour in a pipe', async () => {
    const { run } = await sceneOfReading();
    const { stdout } = await run(['context'], { env: { LANG: 'C' } });
    expect(Buffer.from(stdout).every((byte) => byte < 0x80 && byte !== 0x1b)).toBe(true);
  });

  test('looks at a session that somebody runs, and does not disturb it', async () => {
    const scene = await sceneOfTalk(HANGS);
    const running = scene.start(['-p', 'take your time']);
    running.endInput();
    await eventually('it has asked', () => scene.bodies().length > 0);
    expect(await scene.json('context')).toMatchObject({ countedTokens: 0, messages: 1, turns: 0 });
    running.kill('SIGKILL');
    await running.ended;
    expect((await scene.run(['context'])).stdout).toContain('the session has no answer yet');
  });

  test('measures against the window that the settings name', async () => {
    const { json } = await sceneOfReading();
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

  test('tells what happened in plain words, with the rule that decided', async () => {
    const { run, talk } = await sceneOfTalk(TOOL_USE);
    const id = await talk('look', '--allowed-tools', 'Bash(echo:*)');
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

  test('prints the events as they are, and no more than it is asked for', async () => {
    const { run, talk, folder } = await sceneOfTalk();
    const id = await talk('hello');
    const index = await readFile(join(folder(id), 'events.jsonl'), 'utf8');
    expect((await run(['logs', '--json'])).stdout).toBe(index);
    const lead = (JSON.parse(index.split('\n')[0] ?? '') as Line).agent as string;
    expect((await run(['logs', lead, '--json'])).stdout).toBe(index);
    expect((await run(['logs', '--json', '--limit', '2'])).lines).toHaveLength(2);
    expect((await run(['logs', '--limit', '0'])).stdout).toBe('');
  });

  test('follows a session that another process writes, to its end', async () => {
    const { start, line } = await followed();
    const logs = start(['logs', '--follow']);
    await eventually('it has shown the prompt', () => /received a prompt/.test(logs.stdout));
    line('second');
    await eventually('it has shown the second', () => /run 2 started/.test(logs.stdout));
    line(undefined);
    expect(await logs.ended).toMatchObject({ code: 0, stderr: '' });
    const stopped = logs.stdout.match(/(?:run ended|agent stopped), end_turn/g);
    expect(stopped).toHaveLength(2);
  });

  test('stops following at Ctrl-C, and when nobody reads on', async () => {
    const { start, line } = await followed();
    const logs = start(['logs', '--follow']);
    await eventually('it has shown the prompt', () => /received a prompt/.test(logs.stdout));
    logs.kill('SIGINT');
    expect(await logs.ended).toMatchObject({ code: 0 });
    const through = ['sh', '-c', '"$0" "$@" | head -n 1'] as const;
    const cut = start(['logs', '--follow'], { through });
    await eventually('it has shown a line', () => cut.stdout !== '');
    line('second');
    expect(await cut.ended).toMatchObject({ code: 0 });
  });

  /** A session that takes prompts by lines, with one behind it. */
  const followed = async () => {
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

needs.describe('tmux')('pruning at a terminal', () => {
  test.each([
    ['y', '1 session removed', 0],
    ['n', 'Nothing was removed.', 1],
    ['', 'Nothing was removed.', 1],
  ])('asks first, and takes "%s" for an answer', async (answer, said, left) => {
    const scene = await sceneOfTalk();
    await scene.age(await scene.talk('old'), 31);
    const screen = openScreen(scene, ['sessions', 'prune']);
    await screen.shows('Remove them permanently? [y/N]');
    screen.say(answer);
    expect(await screen.ended()).toBe(0);
    expect(screen.text()).toContain(said);
    expect(await readdir(join(scene.skeinHome, 'sessions'))).toHaveLength(left);
  });

  test('removes nothing at Ctrl-C', async () => {
    const scene = await sceneOfTalk();
    await scene.age(await scene.talk('old'), 31);
    const screen = openScreen(scene, ['sessions', 'prune']);
    await screen.shows('Remove them permanently? [y/N]');
    screen.press('C-c');
    await screen.ended();
    expect(await readdir(join(scene.skeinHome, 'sessions'))).toHaveLength(1);
  });
});
