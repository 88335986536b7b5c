/** Permission questions of agents helperRuns the lead, answered by the person in another process. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signClaims } from '../../../src/actors/permissions/signing-surface.js';
import type { AnswerClaims, SignedAnswer } from '../../../src/protocol/permission/signed-answer.js';
import { openPersonKey } from '../../../src/store/files/person-key.js';
import { eventually } from '../../fakes/eventually.js';
import { type Line, type Rules, resultsIn, setScene } from '../../fakes/skein-process.js';
import { bundled, startWorker } from '../../store/child-program.js';

const AGENTS = JSON.stringify({
  builder: { description: 'Builds', prompt: 'You build.', tools: 'Task, Bash' },
  helper: { description: 'Helps', prompt: 'You help.', tools: 'Bash' },
});

const task = (type: string, prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: prompt, prompt, subagent_type: type, ...more },
});
const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** The builder starts a helper, and the helper requests a command. */
const helperRuns = (command: string): Rules => [
  { match: { lastUser: 'Build it', turn: 0 }, reply: { tool_use: task('helper', 'Make a file') } },
  { match: { lastUser: 'Make a file', turn: 0 }, reply: { tool_use: bash(command) } },
];
const leadStarts = (...tasks: readonly ReturnType<typeof task>[]): Rules => [
  { match: { lastUser: 'Begin', turn: 0 }, reply: { tool_use: [...tasks] } },
];

const sceneWith = async (rules: Rules, env: Record<string, string> = {}) => {
  const scene = await setScene([...rules, { reply: 'Done.' }]);
  const session = join(scene.skeinHome, 'sessions', 'asked');
  const json = async (...args: string[]): Promise<Line> => {
    const ended = await scene.run([...args, '--json']);
    return { code: ended.code, stderr: ended.stderr, ...JSON.parse(ended.stdout || '{}') };
  };
  const begin = (...flags: string[]) => {
    const args = ['-p', 'Begin', '--agents', AGENTS, '--session-id', 'asked', ...flags];
    const run = scene.start(args, { env });
    run.endInput();
    return run;
  };
  /** Waits for `many` open questions and returns the list of `skein inbox`. */
  const open = async (many: number): Promise<readonly Line[]> => {
    await eventually(`${many} questions are open`, () => {
      const folder = join(session, 'questions');
      return existsSync(folder) && readdirSync(folder).length === many;
    });
    return (await json('inbox')).questions as Line[];
  };
  const isMade = (name: string) => existsSync(join(scene.workspace, name));
  /** All tool results that agents received. */
  const toolResults = () =>
    scene.bodies().flatMap((body) => resultsIn(body).map(({ content }) => String(content)));
  const journals = () =>
    readdirSync(join(session, 'agents')).flatMap((name) =>
      readFileSync(join(session, 'agents', name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Line),
    );
  return { ...scene, json, begin, open, isMade, toolResults, journals };
};

describe('a question of a grandchild', () => {
  test('names the asking agent and its ancestors, and can be answered while the lead streams', async () => {
    const scene = await sceneWith([
      ...leadStarts(task('builder', 'Build it', { run_in_background: true })),
      ...helperRuns('touch made.txt'),
      {
        match: { toolResult: 'background' },
        reply: { text: 'Meanwhile I say this and that. '.repeat(400), chunkDelayMs: 100 },
      },
    ]);
    const run = scene.begin('--ask');
    const [question = {}] = await scene.open(1);
    const lead = { kind: 'lead', name: null, type: null, task: '' };
    expect(question).toMatchObject({
      tool: 'Bash',
      input: { command: 'touch made.txt' },
      risk: 'medium',
      type: 'helper',
      kind: 'sync',
      task: 'Make a file',
      session: 'asked',
      for: [lead, { kind: 'background', type: 'builder', task: 'Build it' }],
      reason: expect.stringContaining('rule'),
    });
    const [top, middle] = question.for as Line[];
    expect(question.parent).toBe(middle?.agent);
    const chain = [
      `lead ${top?.agent}`,
      `builder ${middle?.agent} (Build it)`,
      `helper ${question.agent} (Make a file)`,
    ].join(' → ');
    const stdout = (await scene.run(['inbox'])).stdout.replaceAll('\n  … ', ' ');
    expect(stdout).toContain('Helper asks to use Bash.\n');
    expect(stdout).toContain(`  for: ${chain}\n`);
    expect(stdout).toContain('  | command: touch made.txt\n');
    expect(stdout).toContain('  risk: medium, it changes the workspace\n');
    expect(stdout).toMatch(/^ {2}reason: \S/m);

    const states = async () => {
      const { swarms } = await scene.json('ps', 'asked');
      return (swarms[0].agents as Line[]).map(({ kind, state }) => `${kind} ${state}`);
    };
    expect(await states()).toContain('lead streaming');
    expect(await states()).toContain('sync awaiting-permission');
    expect(await scene.run(['approve', question.id as string])).toMatchObject({ code: 0 });
    await eventually('the file exists', () => scene.isMade('made.txt'));
    expect(await scene.run(['deny', question.id as string])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'skein: Too late: another terminal has allowed it already.\n',
    });
    expect(await states()).toContain('lead streaming');
    await scene.run(['stop', 'lead']);
    await run.ended;
  });
});

describe('an answer from another process', () => {
  test('leaves the question open if the answer is forged, replayed or for another question', async () => {
    const scene = await sceneWith([
      ...leadStarts(task('builder', 'Build it'), task('helper', 'Make another')),
      ...helperRuns('touch made.txt'),
      {
        match: { lastUser: 'Make another', turn: 0 },
        reply: { tool_use: bash('touch other.txt') },
      },
      // The helper repeats the call.
      { match: { firstUser: 'Make a file', turn: 1 }, reply: { tool_use: bash('touch made.txt') } },
    ]);
    const run = scene.begin('--ask');
    await scene.open(2);
    const sender = startWorker(await bundled('answer-questions'), scene.skeinHome);
    const request = async (order: unknown) => {
      sender.tell(JSON.stringify(order));
      return JSON.parse(await sender.answer()) as Line;
    };
    const send = (signed: SignedAnswer) => request({ do: 'send', session: 'asked', signed });
    const listed = async () => (await request({ do: 'list' })) as readonly Line[];
    const about = async (command: string) => {
      const found = (await listed()).find(({ input }) => input.command === command);
      if (found === undefined) throw new Error(`no open question about ${command}`);
      return found;
    };
    const own = openPersonKey(join(scene.skeinHome, 'keys')).privateKey;
    const claims = ({ id, agent, call, inputDigest }: Line, more: Partial<AnswerClaims> = {}) =>
      ({
        question: id,
        agent,
        call,
        inputDigest,
        answer: { behavior: 'allow', scope: 'once' },
        surface: 'inbox',
        issuedAt: Date.now(),
        ...more,
      }) as AnswerClaims;

    const [made, other] = [await about('touch made.txt'), await about('touch other.txt')];
    const forger = generateKeyPairSync('ed25519').privateKey;
    const { agent, call, inputDigest } = other;
    const rejectedAnswers: readonly (readonly [string, SignedAnswer])[] = [
      ['another key', signClaims(claims(made), forger)],
      ['claims changed after signing', { ...signClaims(claims(made), own), issuedAt: 1 }],
      ['another agent', signClaims(claims(made, { agent }), own)],
      ['another call', signClaims(claims(made, { call }), own)],
      ['another input', signClaims(claims(made, { inputDigest }), own)],
      ['a surface of another process', signClaims(claims(made, { surface: 'terminal' }), own)],
    ];
    const openIds = async () => (await listed()).map(({ id }) => String(id)).sort();
    const both = [String(made.id), String(other.id)].sort();
    for (const [why, signed] of rejectedAnswers) {
      await send(signed);
      // The asking process retracts the question and posts it again.
      await expect.poll(openIds, { message: why }).toEqual(both);
    }
    expect(await send(signClaims(claims(made, { question: 'q_other' }), own))).toBeNull();
    expect([scene.isMade('made.txt'), scene.isMade('other.txt')]).toEqual([false, false]);

    const validAnswer = signClaims(claims(made), own);
    expect(await send(validAnswer)).toEqual(validAnswer);
    const again = await nextQuestionAbout(about, 'touch made.txt', made.id as string);
    expect(again.inputDigest).toBe(made.inputDigest);
    const bothAgain = [String(again.id), String(other.id)].sort();
    await send(validAnswer);
    expect(await openIds()).toEqual(bothAgain);
    // The old signature with the ids of the question that is open now.
    await send({ ...validAnswer, question: again.id as string, call: again.call as string });
    await expect.poll(openIds).toEqual(bothAgain);
    const no = { behavior: 'deny', reason: 'Once is enough.' } as const;
    await send(signClaims(claims(again, { answer: no }), own));
    await send(signClaims(claims(other), own));
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(scene.isMade('other.txt')).toBe(true);
    expect(scene.toolResults().filter((text) => text.includes('Once is enough.'))).toHaveLength(1);
  });
});

/** The next question about `command`, with another id than `not`. */
const nextQuestionAbout = async (
  about: (command: string) => Promise<Line>,
  command: string,
  not: string,
): Promise<Line> => {
  for (let round = 0; round < 600; round += 1) {
    const found = await about(command).catch(() => undefined);
    if (found !== undefined && found.id !== not) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no second question about ${command}`);
};

describe('an answer for the session', () => {
  test('allows exactly the same command for siblings and for agents that start later', async () => {
    const command = 'echo one >> made.txt';
    const scene = await sceneWith([
      ...leadStarts(
        task('helper', 'Make a file'),
        task('builder', 'Build it'),
        task('helper', 'Make another'),
      ),
      ...helperRuns(command),
      {
        match: { lastUser: 'Make another', turn: 0 },
        reply: { tool_use: bash('echo two >> made.txt') },
      },
      {
        match: { toolResult: 'Make another', turn: 1 },
        reply: { tool_use: task('builder', 'Build it') },
      },
    ]);
    const run = scene.begin('--ask');
    const questions = await scene.open(3);
    const [first] = questions.filter(({ input }) => input.command === command);
    expect(first?.grant).toBe(`Bash(${command})`);
    const approved = await scene.run(['approve', first?.id as string, '--for', 'session']);
    expect(approved).toMatchObject({ code: 0 });
    const [left = {}] = await scene.open(1);
    expect(left.input).toEqual({ command: 'echo two >> made.txt' });
    await scene.run(['deny', left.id as string]);
    expect(await run.ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(readFileSync(join(scene.workspace, 'made.txt'), 'utf8')).toBe('one\n'.repeat(3));
    const asked = scene.journals().filter(({ type }) => type === 'question.asked');
    expect(asked).toHaveLength(3);
  });
});

describe('an unanswered question of a grandchild', () => {
  test('is denied at once in print mode without --ask', async () => {
    const scene = await sceneWith([
      ...leadStarts(task('builder', 'Build it')),
      ...helperRuns('touch made.txt'),
    ]);
    expect(await scene.begin().ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(scene.isMade('made.txt')).toBe(false);
    expect(scene.toolResults()).toContainEqual(
      expect.stringMatching(/No person or program can answer/),
    );
    expect(scene.journals().filter(({ type }) => type === 'question.asked')).toEqual([]);
  });

  test('is denied after the permission time-out, and the run continues', async () => {
    const scene = await sceneWith(
      [...leadStarts(task('builder', 'Build it')), ...helperRuns('touch made.txt')],
      { SKEIN_PERMISSION_TIMEOUT_MS: '300' },
    );
    expect(await scene.begin('--ask').ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(scene.isMade('made.txt')).toBe(false);
    expect(scene.toolResults()).toContainEqual(
      expect.stringContaining('No answer came within 0.3 seconds, so the call was not run.'),
    );
    expect((await scene.json('inbox')).questions).toEqual([]);
  });
});
