/** Permission questions of agents on workers and their answers. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signClaims } from '../../../src/actors/permissions/signing-surface.js';
import type { AnswerClaims } from '../../../src/protocol/permission/signed-answer.js';
import { openPersonKey } from '../../../src/store/files/person-key.js';
import { bash, begins, HELPERS, helper } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { DRIVEN, type Line, type Rules, resultsIn, userLine } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const LEAD = ['--agents', HELPERS, '--session-id', 'one'];
const ASKING = ['-p', 'Begin', ...LEAD, '--ask'];

/** A helper that requests these commands in a single message. */
const helperRuns = (...commands: readonly string[]): Rules => [
  ...begins(helper('Make it')),
  { match: { turn: 0 }, reply: { tool_use: commands.map(bash) } },
  { reply: 'I have made it.' },
];

/** Waits until `skein inbox` lists `many` questions. */
const openQuestions = async (scene: WorkerScene, many: number): Promise<readonly Line[]> => {
  for (let round = 0; round < 100; round += 1) {
    const { questions } = await scene.json('inbox');
    if (questions.length === many) return questions as readonly Line[];
  }
  throw new Error(`There were never ${many} questions.`);
};

const isMade = ({ workspace }: WorkerScene, name: string) => existsSync(join(workspace, name));

/** All tool results that agents received. */
const toolResults = (scene: WorkerScene): readonly string[] =>
  scene.bodies().flatMap((body) => resultsIn(body).map(({ content }) => String(content)));

needs.describe('redis')('a question of an agent on a worker', () => {
  test('can be answered in other terminals, and stderr of the lead shows the command', async () => {
    const scene = await workerScene(helperRuns('touch one.txt', 'touch two.txt'));
    await scene.worker();
    const lead = scene.begin(ASKING);
    const questions = await openQuestions(scene, 2);
    for (const { id, ...question } of questions) {
      expect(question).toMatchObject({
        tool: 'Bash',
        kind: 'background',
        type: 'helper',
        task: 'Make it',
        session: 'one',
        for: [{ kind: 'lead' }],
      });
      await eventually('the lead says how to answer', () =>
        lead.stderr.includes(`skein approve ${id}`),
      );
    }
    const about = (command: string) =>
      questions.find(({ input }) => input.command === command)?.id as string;
    const otherHost = await scene.elsewhere();
    expect(await scene.run(['approve', about('touch one.txt')], otherHost)).toMatchObject({
      code: 0,
      stderr: '',
    });
    const no = ['deny', about('touch two.txt'), '--reason', 'One is enough.'];
    expect(await scene.run(no)).toMatchObject({ code: 0, stderr: '' });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect([isMade(scene, 'one.txt'), isMade(scene, 'two.txt')]).toEqual([true, false]);
    expect(toolResults(scene)).toContainEqual(expect.stringContaining('One is enough.'));
  });

  test('is sent to the program that controls the lead', async () => {
    const scene = await workerScene(helperRuns('touch one.txt', 'touch two.txt'));
    await scene.worker();
    const lead = scene.start([...DRIVEN, ...LEAD]);
    lead.say(userLine('Begin'));
    for (const [name, behavior] of [
      ['one', 'allow'],
      ['two', 'deny'],
    ]) {
      const { request_id } = await lead.line(
        ({ type, request }) =>
          type === 'control_request' && request.input.command === `touch ${name}.txt`,
      );
      const response = { behavior, ...(behavior === 'deny' && { message: 'One is enough.' }) };
      lead.say({
        type: 'control_response',
        response: { subtype: 'success', request_id, response },
      });
    }
    const { summary } = await lead.line(({ subtype }) => subtype === 'task_notification');
    expect(summary).toBe('I have made it.');
    lead.endInput();
    const { code, lines } = await lead.ended;
    expect(code).toBe(0);
    expect([isMade(scene, 'one.txt'), isMade(scene, 'two.txt')]).toEqual([true, false]);
    const denials = lines.flatMap(({ type, permission_denials }) =>
      type === 'result' ? (permission_denials as Line[]) : [],
    );
    expect(denials).toMatchObject([
      { tool_name: 'Bash', tool_input: { command: 'touch two.txt' } },
    ]);
  });

  test('can be answered by a person whose key is not the key of the worker', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    const home = join(scene.root, 'other');
    await mkdir(home);
    const { publicKey } = openPersonKey(join(scene.skeinHome, 'keys'));
    const env = { HOME: home, SKEIN_HOME: join(home, '.skein'), SKEIN_PERSON_KEYS: publicKey };
    await scene.worker([], { env });
    const lead = scene.begin(ASKING);
    const [question] = await openQuestions(scene, 1);
    expect(await scene.run(['approve', question?.id])).toMatchObject({ code: 0, stderr: '' });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene, 'one.txt')).toBe(true);
  });

  test('can be answered from a machine whose clock is minutes behind', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    await scene.worker();
    const lead = scene.begin(ASKING);
    const [question] = await openQuestions(scene, 1);
    const late = join(scene.root, 'late.mjs');
    await writeFile(late, 'const { now } = Date; Date.now = () => now() - 300_000;');
    const lateClock = { env: { NODE_OPTIONS: `--import ${late}` } };
    expect(await scene.run(['approve', question?.id], lateClock)).toMatchObject({ code: 0 });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene, 'one.txt')).toBe(true);
  });

  test('is denied at once in print mode without --ask, and the denial is in the result', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    await scene.worker();
    const args = ['-p', 'Begin', ...LEAD, '--output-format', 'json'];
    const { code, result } = await scene.run(args);
    const [agent] = (await scene.json('ps', 'one')).swarms[0].agents.slice(1);
    expect({ code, denials: result.permission_denials }).toMatchObject({
      code: 0,
      denials: [
        {
          tool_name: 'Bash',
          tool_input: { command: 'touch one.txt' },
          agent_id: agent.id,
          reason: expect.stringMatching(/No person/i),
        },
      ],
    });
    expect(isMade(scene, 'one.txt')).toBe(false);
  });

  test('can be answered after the lead was killed, and the next lead gets the report', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'), SOON);
    await scene.worker();
    const lead = scene.begin(ASKING);
    const [question] = await openQuestions(scene, 1);
    lead.kill('SIGKILL');
    await lead.ended;
    expect(await scene.run(['approve', question?.id])).toMatchObject({ code: 0, stderr: '' });
    await scene.agents('one', 'the agent has ended', ([agent]) => agent?.status === 'ended');
    expect(isMade(scene, 'one.txt')).toBe(true);
    await scene.left('one');
    const { code, stdout } = await scene.run(['resume', 'one', '-p']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'I see.\n' });
    expect(JSON.stringify(scene.bodies().at(-1)?.messages.at(-1))).toContain('I have made it.');
  });
});

needs.describe('redis', 'tmux')('a question of an agent on a worker', () => {
  test('is shown to the person in the interactive lead', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    await scene.worker();
    const screen = openScreen(scene, ['--plain', '--trust', ...LEAD], { env: scene.env });
    await screen.shows(/^>$/m);
    screen.say('Begin');
    const shown = await screen.shows('Allow it?');
    expect(shown).toMatch(/Agent helper a_\w+ asks to use Bash\.\n {2}for: the lead, Make it\n/);
    screen.say('o');
    await screen.shows(/helper a_\w+ done, 2 turns/);
    expect(isMade(scene, 'one.txt')).toBe(true);
    await screen.shows(/done[^>]*I see\.\n+>$/);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});

needs.describe('redis')('an attacker with write access to Redis', () => {
  test('cannot answer a question or remove it from the inbox', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    await scene.worker();
    const lead = scene.begin(ASKING);
    const [open] = await openQuestions(scene, 1);
    const { decisions } = (await scene.store()).questions('one');
    const { questions } = await (await scene.store()).questions('one').read();
    const [{ id, agent, call, inputDigest } = {} as Line] = questions;
    const claims = (more: Partial<AnswerClaims> = {}): AnswerClaims => ({
      question: id,
      agent,
      call,
      inputDigest,
      answer: { behavior: 'allow', scope: 'once' },
      surface: 'inbox',
      issuedAt: Date.now(),
      ...more,
    });
    const own = openPersonKey(join(scene.skeinHome, 'keys')).privateKey;
    const forger = generateKeyPairSync('ed25519').privateKey;
    for (const signed of [
      signClaims(claims(), forger),
      signClaims(claims({ call: 'toolu_other' }), own),
      { ...signClaims(claims(), own), issuedAt: 1 },
    ]) {
      await decisions.decide(signed);
      // The asking process checks the forged answer and retracts it.
      expect((await openQuestions(scene, 1))[0]?.id).toBe(open?.id);
    }
    expect(isMade(scene, 'one.txt')).toBe(false);
    expect(await scene.run(['approve', open?.id])).toMatchObject({ code: 0, stderr: '' });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene, 'one.txt')).toBe(true);
  });

  test('cannot start an agent on a worker of another person', async () => {
    const scene = await workerScene(helperRuns('touch one.txt'));
    const home = join(scene.root, 'stranger');
    await mkdir(home);
    const stranger = { env: { HOME: home, SKEIN_HOME: join(home, '.skein') } };
    const worker = await scene.worker([], stranger);
    const lead = scene.begin(['-p', 'Begin', ...LEAD, '--permission-mode', 'bypassPermissions']);
    await eventually('the refusal is printed', () => worker.stderr.includes('SKEIN_PERSON_KEYS'));
    expect(worker.stderr).toContain('was started by a person whose key this worker does not know');
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    const { publicKey } = await scene.json('config');
    const env = { ...stranger.env, SKEIN_PERSON_KEYS: publicKey };
    await scene.worker([], { env });
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene, 'one.txt')).toBe(true);
  });
});
