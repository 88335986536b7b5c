/** Questions of running swarms as the person sees them from any terminal, and their answers to them. */

import { INBOX } from '../../actors/permissions/inbox-surface.js';
import { inputDigest } from '../../actors/permissions/input-digest.js';
import { signClaims } from '../../actors/permissions/signing-surface.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-directory.js';
import type { CommandReply } from '../../protocol/agent/swarm-commands.js';
import { systemClock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import type { PermissionAnswer } from '../../protocol/permission/permission.js';
import type { PostedQuestion } from '../../protocol/session/question-board.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { openPersonKey } from '../../store/shared/person-key.js';
import { withCachedJobs } from '../../views/swarm/cached-job-list.js';
import { type AgentView, type SwarmView, viewsOfSwarms } from '../../views/swarm/swarm-view.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { newestFirst } from '../sessions/find-session.js';
import { commandSwarm, liveSessions } from './remote-commands.js';

export interface OpenQuestion {
  readonly question: PostedQuestion;
  readonly session: SessionMeta;
  /** Whoever asks; undefined when its events do not tell of it yet, or cannot be read. */
  readonly agent: AgentView | undefined;
  /** For whom it asks: the lead first, its parent last. Empty when it is the lead. */
  readonly above: readonly AgentView[];
}

export interface OpenQuestions {
  /** Oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** Questions that cannot be read. */
  readonly leftOut: number;
}

type Place = Pick<HostEnvironment, 'env' | 'home' | 'cwd'>;

/**
 * Of one session, or of all that run. Nothing is read of a session that nobody runs, but where answers are
 * kept for whoever asks: an agent on a worker needs no lead to go on.
 */
export const openQuestions = async (
  store: SessionStore,
  session?: SessionMeta,
): Promise<OpenQuestions> => {
  const sessions =
    store.jobs.own === undefined ? newestFirst(await store.list()) : await liveSessions(store);
  const questions: OpenQuestion[] = [];
  let leftOut = 0;
  const source = withCachedJobs(store);
  for (const live of sessions) {
    if (session !== undefined && live.id !== session.id) continue;
    const posted = await store.questions(live.id).read();
    leftOut += posted.leftOut;
    if (posted.questions.length === 0) continue;
    // A question can be answered without knowing more of who asks it.
    const [swarm] = await viewsOfSwarms(source, [live], () => {});
    questions.push(...askedBy(posted.questions, live, swarm?.agents ?? []));
  }
  return { questions: questions.sort(byTime), leftOut };
};

/** The same of swarms that somebody looks at already. */
export const questionsOfSwarms = async (
  store: Pick<SessionStore, 'questions'>,
  swarms: readonly Pick<SwarmView, 'session' | 'agents'>[],
): Promise<OpenQuestions> => {
  const questions: OpenQuestion[] = [];
  let leftOut = 0;
  for (const { session, agents } of swarms) {
    const posted = await store.questions(session.id).read();
    leftOut += posted.leftOut;
    questions.push(...askedBy(posted.questions, session, agents));
  }
  return { questions: questions.sort(byTime), leftOut };
};

const byTime = (a: OpenQuestion, b: OpenQuestion): number =>
  a.question.askedAt - b.question.askedAt;

const askedBy = (
  questions: readonly PostedQuestion[],
  session: SessionMeta,
  agents: readonly AgentView[],
): readonly OpenQuestion[] => {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  return questions.map((question) => {
    const agent = byId.get(question.agent);
    return { question, session, agent, above: aboveOf(agent, byId) };
  });
};

const aboveOf = (
  agent: AgentView | undefined,
  byId: ReadonlyMap<string, AgentView>,
): readonly AgentView[] => {
  const above: AgentView[] = [];
  let next = byId.get(agent?.parent ?? '');
  // What files say of parents may go in circles.
  while (next !== undefined && next !== agent && !above.includes(next)) {
    above.unshift(next);
    next = byId.get(next.parent ?? '');
  }
  return above;
};

/** By its id or the beginning of it. Throws a UsageError with candidates. */
export const questionNamed = (questions: readonly OpenQuestion[], wanted: string): OpenQuestion => {
  const fitting =
    wanted === '' ? [] : questions.filter(({ question }) => question.id.startsWith(wanted));
  const exact = fitting.find(({ question }) => question.id === wanted);
  const [only] = fitting;
  if (exact !== undefined) return exact;
  if (only !== undefined && fitting.length === 1) return only;
  const shown = wanted.slice(0, 80);
  const some = (from: readonly OpenQuestion[]) =>
    from
      .slice(0, 5)
      .map(({ question }) => `${question.id} (${question.tool})`)
      .join(', ');
  if (only !== undefined) {
    throw new UsageError(
      `"${shown}" fits ${fitting.length} questions: ${some(fitting)}. Give more of the id.`,
    );
  }
  const others = questions.length === 0 ? 'No question is open.' : `Open: ${some(questions)}.`;
  throw new UsageError(
    `There is no open question "${shown}"; it may have been answered or withdrawn. ${others}`,
  );
};

/**
 * Signs with the person's key what was shown: the answer holds for that very input and no other. Once
 * `signal` aborts nobody waits for what comes of it; it is given all the same.
 */
export const answerQuestion = async (
  machine: Place,
  store: SessionStore,
  { question, session }: OpenQuestion,
  answer: PermissionAnswer,
  signal?: AbortSignal,
): Promise<CommandReply> => {
  if (answer.behavior === 'allow' && (answer.scope ?? 'once') !== 'once' && !question.grant) {
    throw new UsageError('Such calls are asked about each time: allow it without --for.');
  }
  const { privateKey } = openPersonKey(stateLayout(resolveSkeinHome(machine)).keys);
  const { id, agent, call, input, askedAt } = question;
  const signed = signClaims(
    {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      answer,
      // By the clock of whoever asked it came first, whatever this one says.
      surface: INBOX,
      issuedAt: Math.max(systemClock.now(), askedAt),
    },
    privateKey,
  );
  const { verdicts } = store.questions(session.id);
  if (verdicts === undefined) {
    return commandSwarm(store, session.id, { type: 'answer', signed }, signal);
  }
  const won = await verdicts.decide(signed);
  if (won.signature !== signed.signature) {
    const sentence = tooLate(won.surface, won.answer.behavior === 'allow');
    return { ok: false, sentence, agent };
  }
  const deed = answer.behavior === 'allow' ? 'Allowed' : 'Denied';
  return { ok: true, sentence: `${deed}: ${question.tool} of ${agent}.`, agent };
};

/** For whoever answers what somebody else has answered. */
export const tooLate = (surface: string, isAllowed: boolean): string => {
  const who = surface === INBOX ? 'somebody in another terminal' : surface;
  return `Too late: ${who} has ${isAllowed ? 'allowed' : 'denied'} it already.`;
};
