/** Law 6 with real processes: hundreds of questions of a swarm, and two processes that answer all of them. */
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
/** Both begin again with so many, at the same time. */
const IN_A_ROUND = 50;

const parts = Array.from({ length: AGENTS }, (_, at) => `p${at}`);
const files = (part: string) => Array.from({ length: CALLS }, (_, at) => `${part}-${at}.txt`);

const rules = (terms: Readonly<Record<string, unknown>>): Rules => [
  {
    match: { lastUser: 'Begin', turn: 0 },
    reply: {
      tool_use: parts.map((part) => ({
        name: 'Task',
        input: { description: part, prompt: `Write ${part}.`, subagent_type: 'writer', ...terms },
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

/** A swarm that asks, wherever its agents work. */
interface Stage {
  readonly scene: Scene;
  /** Of the store that answers go to; none for files. */
  readonly url?: string;
  asked(): Promise<number>;
  /** Of all agents, each with the journal that it is in. */
  records(): Promise<readonly Line[]>;
}

const ofJournal = (journal: string | number, records: readonly Line[]) =>
  records.map((record): Line => ({ journal, ...record }));

/** All agents work in the process of their lead. */
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

/** Half of the agents work on each of two workers. */
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

/** What two who answered everything heard, and what is on record. */
const race = async ({ scene, url, asked, records }: Stage) => {
  const flags = ['--ask', '--allowed-tools', 'Bash', '--agents', WRITER, '--session-id', 'race'];
  const run = scene.start(['-p', 'Begin', ...flags]);
  run.endInput();
  // For as long as the test may take: a busy machine needs its time for so many.
  while ((await asked()) < QUESTIONS) await new Promise((resolve) => setTimeout(resolve, 100));
  const program = await bundled('answer-questions');
  const answerer = async (answer: PermissionAnswer) => {
    const worker = startWorker(program, scene.skeinHome, ...(url === undefined ? [] : [url]));
    worker.tell(JSON.stringify({ do: 'list' }));
    expect(JSON.parse(await worker.answer())).toHaveLength(QUESTIONS);
    return async (from: number) => {
      worker.tell(JSON.stringify({ do: 'answer', answer, from, to: from + IN_A_ROUND }));
      return JSON.parse(await worker.answer()) as readonly Heard[];
    };
  };
  const [allow, deny] = await Promise.all([
    answerer({ behavior: 'allow', scope: 'once' }),
    answerer({ behavior: 'deny', reason: 'No.' }),
  ]);
  const allowed: Heard[] = [];
  const denied: Heard[] = [];
  for (let from = 0; from < QUESTIONS; from += IN_A_ROUND) {
    // A busy machine may let the first one do it all: each is the first in turn.
    const isTurned = (from / IN_A_ROUND) % 2 === 1;
    const [one, other] = isTurned ? [deny, allow] : [allow, deny];
    const [first, second] = await Promise.all([one(from), other(from)]);
    allowed.push(...(isTurned ? second : first));
    denied.push(...(isTurned ? first : second));
  }
  writeFileSync(join(scene.workspace, 'heard'), '');
  const ended = await run.ended;
  return { allowed, denied, ended, records: await records(), workspace: scene.workspace };
};

/** Also for those who asked: what each does is what was decided. */
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
};

describe('hundreds of questions that two processes answer at once', () => {
  test('have one decision each', async () => {
    await expectOneDecisionEach(await inOneProcess());
  }, 180_000);

  test('have one decision each where agents on two workers ask', async () => {
    await expectOneDecisionEach(await onWorkers());
  }, 180_000);
});
