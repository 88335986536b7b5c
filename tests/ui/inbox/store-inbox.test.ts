import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SignedAnswer } from '../../../src/protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../../src/protocol/session/question-board.js';
import type { SessionMeta, SessionStore } from '../../../src/protocol/session/session-store.js';
import { QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { StoreInbox } from '../../../src/ui/inbox/store-inbox.js';
import type { AgentView, SwarmView } from '../../../src/views/swarm/swarm-view.js';
import { permission } from './questions.js';

const posted = (id: string): PostedQuestion => ({ ...permission({ id }), askedAt: 1 });

const agent = (change: Partial<AgentView>): AgentView =>
  ({
    id: 'a_1',
    name: null,
    type: 'explorer',
    kind: 'sync',
    description: 'look',
    ...change,
  }) as AgentView;

const setUp = () => {
  const board: PostedQuestion[] = [];
  const decided: SignedAnswer[] = [];
  const said: string[] = [];
  const kept: Promise<unknown>[] = [];
  let [rung, looks, asking] = [0, 0, [] as string[]];
  /** Surface that answered first; undefined before the first answer. */
  let first: Partial<SignedAnswer> | undefined;
  const store = {
    jobs: { local: undefined },
    questions: () => ({
      read: async () => {
        looks += 1;
        return { questions: [...board], leftOut: 0 };
      },
      decisions: {
        answer: async (signed: SignedAnswer) => {
          decided.push(signed);
          return first === undefined ? signed : { ...signed, ...first };
        },
      },
    }),
  } as unknown as SessionStore;
  const session = { id: 's_1', lead: 'a_0' } as SessionMeta;
  const swarms = (): readonly SwarmView[] => {
    const questions = asking.map((question) => ({ question }) as AgentView['questions'][number]);
    const lead = agent({ id: 'a_0', kind: 'lead', type: null, parent: null, questions: [] });
    return [{ session, holder: undefined, agents: [lead, agent({ parent: 'a_0', questions })] }];
  };
  const inbox = new QuestionInbox({ showFull: () => {}, now: () => performance.now() + 10_000 });
  const home = mkdtempSync(`${tmpdir()}/inbox-`);
  const desk = new StoreInbox({
    host: { env: { SKEIN_HOME: home }, home, cwd: home },
    store,
    inbox,
    swarms,
    track: (work) => {
      kept.push(work);
      return work;
    },
    ring: () => {
      rung += 1;
    },
    notify: (sentence) => said.push(sentence),
    onDefect: (error) => {
      throw error;
    },
  });
  onTestFinished(() => desk.close());
  return {
    board,
    decided,
    said,
    kept,
    inbox,
    desk,
    rung: () => rung,
    looks: () => looks,
    asks: (...ids: string[]) => {
      asking = ids;
      desk.refresh();
    },
    beatenBy: (answer: Partial<SignedAnswer>) => {
      first = answer;
    },
  };
};

const ids = (inbox: QuestionInbox) => inbox.entries.map(({ id }) => id);

describe('the questions of swarms that are watched', () => {
  test('come into the inbox when agents ask, with who asks and for whom', async () => {
    const { board, asks, inbox, rung } = setUp();
    board.push(posted('q_1'));
    asks('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    expect(inbox.shown).toMatchObject({
      asker: 'explorer a_1',
      purpose: 'lead a_0 (look) → explorer a_1 (look)',
    });
    expect(rung()).toBe(1);
  });

  test('are looked for again where the log was faster', async () => {
    const { board, asks, inbox } = setUp();
    asks('q_1');
    setTimeout(() => board.push(posted('q_1')), 100);
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
  });

  test('go when they were answered elsewhere', async () => {
    const { board, asks, inbox } = setUp();
    board.push(posted('q_1'), posted('q_2'));
    asks('q_1', 'q_2');
    await expect.poll(() => ids(inbox)).toEqual(['q_1', 'q_2']);
    board.shift();
    asks('q_2');
    await expect.poll(() => ids(inbox)).toEqual(['q_2']);
    board.shift();
    asks();
    await expect.poll(() => ids(inbox)).toEqual([]);
  });

  test('are not looked for while nobody asks anything else', async () => {
    const { board, asks, inbox, desk, looks } = setUp();
    board.push(posted('q_1'));
    asks('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const before = looks();
    for (let at = 0; at < 100; at += 1) desk.refresh();
    expect(looks()).toBe(before);
  });

  test('are answered with a signature, and what came of it is said', async () => {
    const { board, asks, inbox, decided, said } = setUp();
    board.push(posted('q_1'));
    asks('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    await expect.poll(() => said).toEqual(['Allowed: Bash of a_1.']);
    expect(decided).toMatchObject([{ question: 'q_1', surface: 'inbox' }]);
  });

  test('are answered also by somebody who leaves at once, and is told nothing then', async () => {
    const { board, asks, inbox, decided, said, kept, desk } = setUp();
    board.push(posted('q_1'));
    asks('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    desk.close();
    // The store stays open until the answer is sent.
    expect(kept).toHaveLength(1);
    await Promise.all(kept);
    expect(decided).toMatchObject([{ question: 'q_1', surface: 'inbox' }]);
    await new Promise(setImmediate);
    expect(said).toEqual([]);
  });

  test('say who was first when somebody was', async () => {
    const { board, asks, inbox, said, beatenBy } = setUp();
    board.push(posted('q_1'));
    asks('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    beatenBy({ signature: 'other', surface: 'terminal', answer: { behavior: 'deny', reason: '' } });
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    await expect.poll(() => said).toEqual(['Too late: terminal has denied it already.']);
  });
});
