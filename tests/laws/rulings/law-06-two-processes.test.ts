/**
 * Law 6 with real processes: hundreds of questions of a swarm, and two processes that answer all of
 * them.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PermissionAnswer } from '../../../src/protocol/permission/permission-question.js';
import { workerScene } from '../../fakes/agents/worker-scene.js';
import { type Line, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';
import { IS_WIDE } from '../../setup/wide.js';
import { bundled, startWorker } from '../../store/child-program.js';

const AGENTS = 20;
const CALLS = IS_WIDE ? 50 : 15;
const QUESTIONS = AGENTS * CALLS;
/** Number of questions per round. Both processes start each round at the same time. */
const IN_A_ROUND = 50;

const parts = Array.from({ length: AGENTS }, (_, at) => `p${at}`);
const files = (part: string) => Array.from({ length: CALLS }, (_, at) => `${part}-${at}.txt`);

const rules = (taskInput: Readonly<Record<string, unknown>>): Rules => [
  {
    match: { lastUser: 'Begin', turn: 0 },
    reply: {
      tool_use: parts.map((part) => ({
        name: 'Task',
        input: {
          description: part,
          prompt: `Write ${part}.`,
          subagent_type: 'writer',
          ...taskInput,
        },
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
  // The session must be alive for the second answer.
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

interface Reply {
  readonly question: string;
  readonly ok: boolean;
  readonly sentence: string;
}

/** Swarm that asks questions, on one process or on workers. */
interface Stage {
  readonly scene: Scene;
  /** URL of the store for answers. Undefined for files. */
  readonly url?: string;
  asked(): Promise<number>;
  /** Records of all agents, each with its journal. */
  records(): Promise<readonly Line[]>;
}

const ofJournal = (journal: string | number, records: readonly Line[]) =>
  records.map((record): Line => ({ journal, ...record }));

/** All agents run in the process of their lead. */
const inOneProcess = async (): Promise<Stage> => {
  const scene = await setScene(rules({}));
  const session = join(scene.skeinHome, 'sessions', 'race');
  const folder = join(session, 'questions');
  return {
    scene,
    asked: async () => (existsSync(folder) ? readdirSync(folder).length : 0),
    records: async () =>
      readdirSync(join(session, 'agents')).flatMap((name) => {
        const lines = readFileSync(join(session, 'agents', name), 'utf8')
          .trimEnd()
          .split('\n');
        return ofJournal(
          name,
          lines.map((line) => JSON.parse(line) as Line),
        );
      }),
  };
};

/** Half of the agents run on each of two workers. */
const onWorkers = async (): Promise<Stage> => {
  const scene = await workerScene(rules({ run_in_background: true }));
  await Promise.all([1, 2].map(() => scene.worker(['--concurrency', String(AGENTS / 2)])));
  const store = await scene.store();
  return {
    scene,
    url: scene.redis.url,
    async asked() {
      const read = await store.questions('race').read();
      return read.questions.length + read.leftOut;
    },
    records: async () =>
      (await scene.journals('race')).flatMap((records, at) => ofJournal(at, records)),
  };
};

/** Replies that two processes received for all questions, and all records. */
const race = async ({ scene, url, asked, records }: Stage) => {
  const flags = ['--ask', '--allowed-tools', 'Bash', '--agents', WRITER, '--session-id', 'race'];
  const run = scene.start(['-p', 'Begin', ...flags]);
  run.endInput();
  // No own time limit, because a busy machine is slow with so many questions.
  while ((await asked()) < QUESTIONS) await new Promise((resolve) => setTimeout(resolve, 100));
  const program = await bundled('answer-questions');
  const answerer = async (answer: PermissionAnswer) => {
    const worker = startWorker(program, scene.skeinHome, ...(url === undefined ? [] : [url]));
    worker.tell(JSON.stringify({ do: 'list' }));
    expect(JSON.parse(await worker.answer())).toHaveLength(QUESTIONS);
    return async (from: number) => {
      worker.tell(JSON.stringify({ do: 'answer', answer, from, to: from + IN_A_ROUND }));
      return JSON.parse(await worker.answer()) as readonly Reply[];
    };
  };
  const [allow, deny] = await Promise.all([
    answerer({ behavior: 'allow', scope: 'once' }),
    answerer({ behavior: 'deny', reason: 'No.' }),
  ]);
  const allowed: Reply[] = [];
  const denied: Reply[] = [];
  for (let from = 0; from < QUESTIONS; from += IN_A_ROUND) {
    // The first process may win all questions on a busy machine, so each process is first in turn.
    const isReversed = (from / IN_A_ROUND) % 2 === 1;
    const [firstAnswerer, secondAnswerer] = isReversed ? [deny, allow] : [allow, deny];
    const [first, second] = await Promise.all([firstAnswerer(from), secondAnswerer(from)]);
    allowed.push(...(isReversed ? second : first));
    denied.push(...(isReversed ? first : second));
  }
  writeFileSync(join(scene.workspace, 'heard'), '');
  const ended = await run.ended;
  return { allowed, denied, ended, records: await records(), workspace: scene.workspace };
};

/** Also checks that each call obeys its decision. */
const expectOneDecisionEach = async (stage: Stage): Promise<void> => {
  const { allowed, denied, ended, records, workspace } = await race(stage);
  expect(ended).toMatchObject({ code: 0 });
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
  const late = (action: string) => `Too late: another terminal has ${action} it already.`;
  const refusals = (replies: readonly Reply[]) =>
    new Set(replies.flatMap(({ ok, sentence }) => (ok ? [] : [sentence])));
  expect([...refusals(allowed)]).toEqual([late('denied')]);
  expect([...refusals(denied)]).toEqual([late('allowed')]);

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
};

describe('hundreds of questions that two processes answer at the same time', () => {
  test('have one decision each', async () => {
    await expectOneDecisionEach(await inOneProcess());
  }, 180_000);

  test('have one decision each if agents on two workers ask', async () => {
    await expectOneDecisionEach(await onWorkers());
  }, 180_000);
});
