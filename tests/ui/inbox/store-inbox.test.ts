import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SignedAnswer } from '../../../src/protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../../src/protocol/session/question-board.js';
import type { SessionMeta, SessionStore } from '../../../src/protocol/session/session-store.js';
import { openPersonKey } from '../../../src/store/files/person-key.js';
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
  const notices: string[] = [];
  const tracked: Promise<unknown>[] = [];
  let [bells, reads, openQuestions] = [0, 0, [] as string[]];
  /** Surface that answered first; undefined before the first answer. */
  let first: Partial<SignedAnswer> | undefined;
  const store = {
    jobs: { local: undefined },
    questions: () => ({
      read: async () => {
        reads += 1;
        return { questions: [...board], leftOut: 0 };
      },
      decisions: {
        answer: async (signed: SignedAnswer) => {
          decided.push(signed);
          return first === undefined ? signed : { ...signed, ...first };
        },
        find: async () => decided.at(-1),
      },
    }),
    /** The asking process accepts every answer. */
    async *events() {
      const call = { agent: 'a_1', call: 'toolu_1' };
      for (const { question } of decided) yield { type: 'permission.requested', ...call, question };
      yield { type: 'permission.ruled', ...call, behavior: 'allow' };
    },
  } as unknown as SessionStore;
  const session = { id: 's_1', lead: 'a_0' } as SessionMeta;
  const swarms = (): readonly SwarmView[] => {
    const questions = openQuestions.map(
      (question) => ({ question }) as AgentView['questions'][number],
    );
    const lead = agent({ id: 'a_0', kind: 'lead', type: null, parent: null, questions: [] });
    return [{ session, holder: undefined, agents: [lead, agent({ parent: 'a_0', questions })] }];
  };
  const inbox = new QuestionInbox({ showFull: () => {}, now: () => performance.now() + 10_000 });
  const home = mkdtempSync(`${tmpdir()}/inbox-`);
  openPersonKey(`${home}/keys`);
  const storeInbox = new StoreInbox({
    host: { env: { SKEIN_HOME: home }, home, cwd: home },
    store,
    inbox,
    swarms,
    track: (work) => {
      tracked.push(work);
      return work;
    },
    ring: () => {
      bells += 1;
    },
    notify: (sentence) => notices.push(sentence),
    onDefect: (error) => {
      throw error;
    },
  });
  onTestFinished(() => storeInbox.close());
  return {
    board,
    decided,
    notices,
    tracked,
    inbox,
    storeInbox,
    bells: () => bells,
    reads: () => reads,
    setOpenQuestions: (...ids: string[]) => {
      openQuestions = ids;
      storeInbox.refresh();
    },
    setFirstAnswer: (answer: Partial<SignedAnswer>) => {
      first = answer;
    },
  };
};

const ids = (inbox: QuestionInbox) => inbox.entries.map(({ id }) => id);

describe('the inbox of watched swarms', () => {
  test('shows a new question with its agent and purpose', async () => {
    const { board, setOpenQuestions, inbox, bells } = setUp();
    board.push(posted('q_1'));
    setOpenQuestions('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    expect(inbox.shown).toMatchObject({
      asker: 'explorer a_1',
      purpose: 'lead a_0 (look) → explorer a_1 (look)',
    });
    expect(bells()).toBe(1);
  });

  test('reads again if an event arrives before the posted question', async () => {
    const { board, setOpenQuestions, inbox } = setUp();
    setOpenQuestions('q_1');
    setTimeout(() => board.push(posted('q_1')), 100);
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
  });

  test('removes questions that were answered elsewhere', async () => {
    const { board, setOpenQuestions, inbox } = setUp();
    board.push(posted('q_1'), posted('q_2'));
    setOpenQuestions('q_1', 'q_2');
    await expect.poll(() => ids(inbox)).toEqual(['q_1', 'q_2']);
    board.shift();
    setOpenQuestions('q_2');
    await expect.poll(() => ids(inbox)).toEqual(['q_2']);
    board.shift();
    setOpenQuestions();
    await expect.poll(() => ids(inbox)).toEqual([]);
  });

  test('does not read the store while no agent asks a new question', async () => {
    const { board, setOpenQuestions, inbox, storeInbox, reads } = setUp();
    board.push(posted('q_1'));
    setOpenQuestions('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const before = reads();
    for (let at = 0; at < 100; at += 1) storeInbox.refresh();
    expect(reads()).toBe(before);
  });

  test('signs an answer and shows its outcome', async () => {
    const { board, setOpenQuestions, inbox, decided, notices } = setUp();
    board.push(posted('q_1'));
    setOpenQuestions('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    await expect.poll(() => notices).toEqual(['Allowed: Bash of a_1.']);
    expect(decided).toMatchObject([{ question: 'q_1', surface: 'inbox' }]);
  });

  test('sends an answer even if it closes at once, without a later notice', async () => {
    const { board, setOpenQuestions, inbox, decided, notices, tracked, storeInbox } = setUp();
    board.push(posted('q_1'));
    setOpenQuestions('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    storeInbox.close();
    // The store stays open until the answer is sent.
    expect(tracked).toHaveLength(1);
    await Promise.all(tracked);
    expect(decided).toMatchObject([{ question: 'q_1', surface: 'inbox' }]);
    await new Promise(setImmediate);
    expect(notices).toEqual([]);
  });

  test('names the surface that answered first', async () => {
    const { board, setOpenQuestions, inbox, notices, setFirstAnswer } = setUp();
    board.push(posted('q_1'));
    setOpenQuestions('q_1');
    await expect.poll(() => ids(inbox)).toEqual(['q_1']);
    setFirstAnswer({
      signature: 'other',
      surface: 'terminal',
      answer: { behavior: 'deny', reason: '' },
    });
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    await expect.poll(() => notices).toEqual(['Too late: terminal has denied it already.']);
  });
});
