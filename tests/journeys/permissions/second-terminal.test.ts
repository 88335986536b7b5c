import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, resultsIn, setScene } from '../../fakes/skein-process.js';

const touch = (file: string) => calls('Bash', { command: `touch ${file}` });

/** A print run that waits for a permission answer, and commands for a second terminal. */
const startAskingRun = async (flags: readonly string[] = []) => {
  const scene = await setScene([
    { match: { turn: 0 }, reply: touch('made.txt') },
    { reply: 'Done.' },
  ]);
  const run = scene.start(['-p', 'go', '--ask', '--output-format', 'json', ...flags]);
  run.endInput();
  const json = async (...args: string[]): Promise<Line> => {
    const ended = await scene.run([...args, '--json']);
    return { code: ended.code, stderr: ended.stderr, ...JSON.parse(ended.stdout || '{}') };
  };
  const question = await eventually('stderr names the question', () => {
    return /skein approve (q_\w+)/.exec(run.stderr)?.[1];
  });
  const isMade = () => existsSync(join(scene.workspace, 'made.txt'));
  return { ...scene, printed: run, json, question, isMade };
};

describe('a question of a run with --ask', () => {
  test('is listed with its exact input and can be approved from a second terminal', async () => {
    const { run, json, printed, question, isMade, skeinHome } = await startAskingRun();
    const { questions } = await json('inbox');
    expect(questions).toMatchObject([
      {
        id: question,
        tool: 'Bash',
        input: { command: 'touch made.txt' },
        kind: 'lead',
        parent: null,
        risk: 'medium',
        grant: 'Bash(touch made.txt)',
      },
    ]);
    const session = questions[0].session as string;
    expect((await json('ps')).swarms).toMatchObject([
      {
        session,
        isRunning: true,
        pid: printed.pid,
        agents: [{ kind: 'lead', status: 'running', state: 'awaiting-permission', turns: 1 }],
      },
    ]);
    expect(isMade()).toBe(false);

    const approved = await run(['approve', question.slice(0, 8)]);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toMatch(/^Allowed \(once\): Bash for lead a_\w+ of s_\w+\n/);
    expect(approved.stdout).toContain('  | command: touch made.txt\n');
    expect((await printed.ended).result).toMatchObject({ permission_denials: [] });
    expect(isMade()).toBe(true);

    expect((await json('explain', session, '1')).questions).toMatchObject([
      { answers: [{ surface: 'inbox', outcome: 'accepted', detail: 'once' }] },
    ]);
    expect(await run(['approve', question])).toMatchObject({
      code: 2,
      stderr: 'skein: Too late: another terminal has allowed it already.\n',
    });
    expect(await run(['inbox'])).toMatchObject({ code: 0, stdout: '' });
    const key = join(skeinHome, 'keys', 'person.pem');
    expect([
      (await stat(join(skeinHome, 'keys'))).mode & 0o777,
      (await stat(key)).mode & 0o777,
    ]).toEqual([0o700, 0o600]);
    expect(readdirSync(join(skeinHome, 'sessions', session, 'questions'))).toEqual([]);
  });

  test('can be denied with a reason that the model reads', async () => {
    const { json, printed, question, bodies, isMade } = await startAskingRun();
    expect(await json('deny', question, '--reason', 'use the fixtures')).toMatchObject({
      code: 0,
      ok: true,
      question: { id: question },
    });
    await printed.ended;
    expect(resultsIn(bodies()[1])[0]?.content).toContain('Reason: use the fixtures');
    expect(isMade()).toBe(false);
  });

  test('accepts a single answer, and the losing command fails with the reason', async () => {
    const { run, printed, question } = await startAskingRun();
    const both = await Promise.all([
      run(['approve', question]),
      run(['deny', question, '--reason', 'no']),
    ]);
    const lost = both.filter(({ code }) => code !== 0);
    expect(lost).toHaveLength(1);
    expect(lost[0]?.stderr).toMatch(
      /another terminal has (?:allowed|denied) it already|no open question|not open|ended before/,
    );
    await printed.ended;
  });

  test('rejects an answer that was signed with another key', async () => {
    const { run, json, printed, question, skeinHome, isMade } = await startAskingRun();
    const key = join(skeinHome, 'keys', 'person.pem');
    const own = await readFile(key, 'utf8');
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeFile(key, privateKey.export({ format: 'pem', type: 'pkcs8' }));
    expect(await run(['approve', question])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The answer was not accepted'),
    });
    expect((await json('inbox')).questions).toHaveLength(1);
    expect(isMade()).toBe(false);
    await writeFile(key, own);
    expect(await run(['approve', question])).toMatchObject({ code: 0 });
    await printed.ended;
    expect(isMade()).toBe(true);
  });
});

describe('an answer that the asking process does not believe', () => {
  /** Changes the question in the store, as an older process or an attacker could. */
  const changeQuestion = async (skeinHome: string, change: (question: Line) => void) => {
    const [session = ''] = readdirSync(join(skeinHome, 'sessions'));
    const folder = join(skeinHome, 'sessions', session, 'questions');
    const path = join(folder, readdirSync(folder)[0] ?? '');
    const question = JSON.parse(await readFile(path, 'utf8')) as Line;
    change(question);
    await writeFile(path, JSON.stringify(question));
  };

  test.each(['approve', 'deny'])(
    'makes skein %s fail, and the question stays open',
    async (command) => {
      const asking = await startAskingRun();
      const { run, json, printed, question, skeinHome, isMade } = asking;
      const key = join(skeinHome, 'keys', 'person.pem');
      const own = await readFile(key, 'utf8');
      const refusal = { code: 1, stdout: '', stderr: expect.stringContaining('was not accepted') };

      await rm(key);
      expect(await run([command, question])).toMatchObject(refusal);
      expect(existsSync(key)).toBe(false);

      const { privateKey } = generateKeyPairSync('ed25519');
      await writeFile(key, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
      await changeQuestion(skeinHome, (posted) => {
        delete posted.personKeys;
      });
      expect(await run([command, question])).toMatchObject(refusal);

      await writeFile(key, own);
      await changeQuestion(skeinHome, (posted) => {
        posted.input = { command: 'touch harmless.txt' };
      });
      expect(await json(command, question)).toMatchObject({
        code: 1,
        ok: false,
        sentence: expect.stringContaining('was not accepted'),
        question: { id: question },
      });

      expect((await json('inbox')).questions).toMatchObject([{ id: question }]);
      expect(isMade()).toBe(false);
      expect(await run(['approve', question])).toMatchObject({ code: 0, stderr: '' });
      await printed.ended;
      expect(isMade()).toBe(true);
    },
  );
});

describe('a running session', () => {
  test('receives a message and a stop from a second terminal', async () => {
    const scene = await setScene([
      {
        match: { lastUser: 'and the docs' },
        reply: calls('Bash', { command: 'touch second; sleep 60' }),
      },
      { reply: calls('Bash', { command: 'touch first; until [ -e go ]; do sleep 0.1; done' }) },
    ]);
    const flags = ['--allowed-tools', 'Bash', '--session-id', 'live'];
    const printed = scene.start(['-p', 'go', ...flags]);
    printed.endInput();
    const expectRunning = async (command: string) => {
      const { swarms } = JSON.parse((await scene.run(['ps', 'live', '--json'])).stdout) as Line;
      expect(swarms[0].agents[0]).toMatchObject({
        state: 'tool-running',
        calls: [{ tool: 'Bash' }],
      });
      expect(swarms[0].agents[0].calls[0].description).toContain(command);
    };
    const fileExists = (file: string) =>
      eventually(`${file} runs`, () => existsSync(join(scene.workspace, file)));
    await fileExists('first');
    await expectRunning('until');
    const sent = await scene.run(['send', 'live'], { stdin: 'and the docs' });
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(scene.workspace, 'go'), '');
    await fileExists('second');
    await expectRunning('sleep 60');
    expect(JSON.stringify(scene.bodies()[1]?.messages)).toContain('and the docs');

    const stopped = await scene.run(['stop', 'lead', '--json']);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ session: 'live', ok: true });
    expect(await printed.ended).toMatchObject({ code: 130 });

    expect(await scene.run(['send', 'live', 'more'])).toMatchObject({
      code: 2,
      stderr: 'skein: Session live is not running; `skein --resume live` resumes it.\n',
    });
    expect(await scene.run(['stop', 'nobody'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no swarm is running'),
    });
  });

  test('is shown as lost after its process was killed, and resumes by its name', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch began; sleep 60' }) },
      { reply: 'Done.' },
    ]);
    const printed = scene.start(['-p', 'go', '--allowed-tools', 'Bash', '--session-id', 'lone']);
    const state = async () => {
      const { stdout } = await scene.run(['ps', 'lone', '--json']);
      return (JSON.parse(stdout) as Line).swarms[0]?.agents[0]?.state as string;
    };
    await eventually('the command runs', () => existsSync(join(scene.workspace, 'began')));
    expect(await state()).toBe('tool-running');
    printed.kill('SIGKILL');
    await printed.ended;
    expect(await state()).toBe('lost');
    const resumed = await scene.run(['resume', 'lo', '--json']);
    expect(resumed).toMatchObject({ code: 0, result: { session_id: 'lone', result: 'Done.' } });
    expect(await state()).toBe('stopped');
  });
});
