/** Law 6 with real processes: a thousand questions of a swarm, and two who answer every one of them. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PermissionAnswer } from '../../src/protocol/permission.js';
import { type Line, type Rules, setScene } from '../fakes/skein-process.js';
import { bundled, startWorker } from '../store/child-program.js';

const AGENTS = 20;
const CALLS = 50;
const QUESTIONS = 1_000;

const parts = Array.from({ length: AGENTS }, (_, at) => `p${at}`);
const files = (part: string) => Array.from({ length: CALLS }, (_, at) => `${part}-${at}.txt`);

const RULES: Rules = [
  {
    match: { lastUser: 'Begin', turn: 0 },
    reply: {
      tool_use: parts.map((part) => ({
        name: 'Task',
        input: { description: part, prompt: `Write ${part}.`, subagent_type: 'writer' },
      })),
    },
  },
  ...parts.map((part) => ({
    match: { lastUser: `Write ${part}.`, turn: 0 },
    reply: {
      tool_use: files(part).map((file_path) => ({
        name: 'Write',
        input: { file_path, content: 'x' },
      })),
    },
  })),
  // Whoever comes second must find the session alive.
  {
    match: { firstUser: 'Begin', turn: 1 },
    reply: {
      tool_use: { name: 'Bash', input: { command: 'until [ -e heard ]; do sleep 0.1; done' } },
    },
  },
  { reply: 'Done.' },
];

const WRITER = JSON.stringify({
  writer: { description: 'Writes', prompt: 'You write.', tools: 'Write' },
});

interface Heard {
  readonly question: string;
  readonly ok: boolean;
  readonly sentence: string;
}

/** What two who answered everything heard, and what is on record. */
const race = async () => {
  const scene = await setScene(RULES);
  const session = join(scene.skeinHome, 'sessions', 'race');
  const flags = ['--ask', '--allowed-tools', 'Bash', '--agents', WRITER, '--session-id', 'race'];
  const run = scene.start(['-p', 'Begin', ...flags]);
  run.endInput();
  const folder = join(session, 'questions');
  // For as long as the test may take: a busy machine needs its time for so many.
  while (!existsSync(folder) || readdirSync(folder).length < QUESTIONS) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const program = await bundled('answer-questions');
  const answerer = async (answer: PermissionAnswer) => {
    const worker = startWorker(program, scene.skeinHome);
    worker.tell(JSON.stringify({ do: 'list' }));
    expect(JSON.parse(await worker.answer())).toHaveLength(QUESTIONS);
    return async () => {
      worker.tell(JSON.stringify({ do: 'answer', answer }));
      return JSON.parse(await worker.answer()) as readonly Heard[];
    };
  };
  const [allow, deny] = await Promise.all([
    answerer({ behavior: 'allow', scope: 'once' }),
    answerer({ behavior: 'deny', reason: 'No.' }),
  ]);
  const [allowed, denied] = await Promise.all([allow(), deny()]);
  writeFileSync(join(scene.workspace, 'heard'), '');
  const ended = await run.ended;
  const records = readdirSync(join(session, 'agents')).flatMap((name) =>
    readFileSync(join(session, 'agents', name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Line => ({ journal: name, ...(JSON.parse(line) as Line) })),
  );
  return { allowed, denied, ended, records, workspace: scene.workspace };
};

test('a thousand questions that two processes answer at once have one decision each', async () => {
  const { allowed, denied, ended, records, workspace } = await race();
  expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const of = (type: string) => records.filter((record) => record.type === type);
  const asked = of('question.asked');
  expect(asked).toHaveLength(QUESTIONS);

  const winners = new Map<string, 'allow' | 'deny'>();
  for (const { question, ok } of allowed) if (ok) winners.set(question, 'allow');
  for (const { question, ok } of denied) {
    if (!ok) continue;
    expect(winners.has(question)).toBe(false);
    winners.set(question, 'deny');
  }
  expect(winners.size).toBe(QUESTIONS);
  const late = (deed: string) => `Too late: somebody in another terminal has ${deed} it already.`;
  const told = (heard: readonly Heard[]) =>
    new Set(heard.flatMap(({ ok, sentence }) => (ok ? [] : [sentence])));
  expect([...told(allowed)]).toEqual([late('denied')]);
  expect([...told(denied)]).toEqual([late('allowed')]);

  const accepted = of('question.answered').filter(({ outcome }) => outcome === 'accepted');
  expect(accepted).toHaveLength(QUESTIONS);
  expect(new Set(accepted.map(({ question }) => question)).size).toBe(QUESTIONS);
  const rulings = of('call.ruled').filter(
    ({ behavior, tool }) => behavior !== 'ask' && tool === 'Write',
  );
  expect(rulings).toHaveLength(QUESTIONS);
  const ruled = new Map(rulings.map((it) => [`${it.journal} ${it.call}`, String(it.behavior)]));
  const started = new Set(of('call.started').map(({ journal, call }) => `${journal} ${call}`));
  for (const { journal, call, question, description } of asked) {
    const won = winners.get(String(question));
    expect(ruled.get(`${journal} ${call}`)).toBe(won);
    expect(started.has(`${journal} ${call}`)).toBe(won === 'allow');
    expect(existsSync(join(workspace, String(description).replace('Write ', '')))).toBe(
      won === 'allow',
    );
  }
}, 180_000);
