/** Lists the open questions of running swarms for any terminal, and sends answers to them. */

import { INBOX } from '../../actors/permissions/inbox-surface.js';
import { inputDigest } from '../../actors/permissions/input-digest.js';
import { signClaims } from '../../actors/permissions/signing-surface.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-layout.js';
import { ancestorsOf } from '../../lib/ancestors-of.js';
import type { CommandReply } from '../../protocol/agent/swarm-command.js';
import { systemClock } from '../../protocol/clock.js';
import type { PermissionAnswer } from '../../protocol/permission/permission-question.js';
import type { PostedQuestion } from '../../protocol/session/question-board.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { knownPersonKey, openPersonKey } from '../../store/files/person-key.js';
import { withCachedJobs } from '../../views/swarm/cached-jobs.js';
import { liveSessions, newestFirst } from '../../views/swarm/live-sessions.js';
import { type AgentView, type SwarmView, swarmViews } from '../../views/swarm/swarm-view.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { answerVerdict } from './answer-verdict.js';
import { refuseUnlessLive } from './command-swarm.js';
import { questionOutcome, tooLateText } from './question-outcome.js';

export interface OpenQuestion {
  readonly question: PostedQuestion;
  readonly session: SessionMeta;
  /** Agent that asks. Undefined if the event index does not have it yet or cannot be read. */
  readonly agent: AgentView | undefined;
  /** Ancestors of the agent, from the lead to its parent. Empty for the lead. */
  readonly above: readonly AgentView[];
}

interface OpenQuestions {
  /** Oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** Number of questions that cannot be read. */
  readonly leftOut: number;
}

type Environment = Pick<HostEnvironment, 'env' | 'home' | 'cwd'>;

/**
 * Returns the open questions of one session, or of all running sessions. With Redis, sessions that are not
 * running are included: their answers are stored, and an agent on a worker needs no lead to resume.
 */
export const openQuestions = async (
  store: SessionStore,
  session?: SessionMeta,
): Promise<OpenQuestions> => {
  const sessions =
    store.jobs.local === undefined ? newestFirst(await store.list()) : await liveSessions(store);
  const questions: OpenQuestion[] = [];
  let leftOut = 0;
  const source = withCachedJobs(store);
  for (const live of sessions) {
    if (session !== undefined && live.id !== session.id) continue;
    const posted = await store.questions(live.id).read();
    leftOut += posted.leftOut;
    if (posted.questions.length === 0) continue;
    // An unreadable event index is ignored, because the question can be answered without it.
    const [swarm] = await swarmViews(source, [live], () => {});
    questions.push(...openQuestionsOf(posted.questions, live, swarm?.agents ?? []));
  }
  return { questions: questions.sort(compareTimes), leftOut };
};

/** Returns the open questions of swarms whose views are already known. */
export const questionsOfSwarms = async (
  store: Pick<SessionStore, 'questions'>,
  swarms: readonly Pick<SwarmView, 'session' | 'agents'>[],
): Promise<OpenQuestions> => {
  const questions: OpenQuestion[] = [];
  let leftOut = 0;
  for (const { session, agents } of swarms) {
    const posted = await store.questions(session.id).read();
    leftOut += posted.leftOut;
    questions.push(...openQuestionsOf(posted.questions, session, agents));
  }
  return { questions: questions.sort(compareTimes), leftOut };
};

const compareTimes = (a: OpenQuestion, b: OpenQuestion): number =>
  a.question.askedAt - b.question.askedAt;

const openQuestionsOf = (
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
  if (agent === undefined) return [];
  return [...ancestorsOf(agent, ({ parent }) => byId.get(parent ?? ''))].reverse();
};

/** Returns the question with that id or unique prefix. Throws UsageError with candidates. */
export const questionNamed = (questions: readonly OpenQuestion[], query: string): OpenQuestion => {
  const fitting =
    query === '' ? [] : questions.filter(({ question }) => question.id.startsWith(query));
  const exact = fitting.find(({ question }) => question.id === query);
  const [single] = fitting;
  if (exact !== undefined) return exact;
  if (single !== undefined && fitting.length === 1) return single;
  const shown = query.slice(0, 80);
  const listText = (from: readonly OpenQuestion[]) =>
    from
      .slice(0, 5)
      .map(({ question }) => `${question.id} (${question.tool})`)
      .join(', ');
  if (single !== undefined) {
    throw new UsageError(
      `"${shown}" matches ${fitting.length} questions: ${listText(fitting)}. Give more of the id.`,
    );
  }
  const others = questions.length === 0 ? 'No question is open.' : `Open: ${listText(questions)}.`;
  throw new UsageError(
    `There is no open question "${shown}"; it may have been answered or withdrawn. ${others}`,
  );
};

const OTHER_KEYS =
  'the session that asks accepts other keys than yours (`personKeys` in its settings)';
const UNCONFIRMED = 'The process that asks has not confirmed the answer yet.';
const NOT_BELIEVED =
  'The answer was not accepted: the process that asks refused its signature. It accepts other keys than yours, or the stored question differs from its question.';

/**
 * Signs the answer with the person's key, stores it and waits for the process that asks, which may refuse it. The
 * signature covers the input that was shown, so the answer is valid for that input only. Rejects with UsageError if a lasting answer is not possible, or if the
 * session is not running.
 */
export const answerQuestion = async (
  host: Environment,
  store: SessionStore,
  { question, session }: OpenQuestion,
  answer: PermissionAnswer,
): Promise<CommandReply> => {
  if (answer.behavior === 'allow' && (answer.scope ?? 'once') !== 'once' && !question.grant) {
    throw new UsageError('Such a call needs a new answer each time: allow it without --for.');
  }
  const { keys } = stateLayout(resolveSkeinHome(host));
  const { id, agent, call, input, askedAt, personKeys } = question;
  const known = knownPersonKey(keys);
  // A new key would be unknown to the session, and would replace the person's key for later sessions.
  if (known === undefined || personKeys?.includes(known) === false) {
    const problem = known === undefined ? `there is no key of yours in ${keys}` : OTHER_KEYS;
    return { ok: false, sentence: `The answer was not accepted: ${problem}.`, agent };
  }
  const { privateKey } = openPersonKey(keys);
  const signed = signClaims(
    {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      answer,
      surface: INBOX,
      // The clocks of two machines may differ, so the answer is never dated before the question.
      issuedAt: Math.max(systemClock.now(), askedAt),
    },
    privateKey,
  );
  const { decisions } = store.questions(session.id);
  // Workers keep their questions open while the lead's process is away.
  if (store.jobs.local !== undefined && (await store.holder(session.id)) === undefined) {
    // The session may have ended because of an earlier answer.
    const earlier = await decisions.find(id);
    if (earlier !== undefined) return { ok: false, sentence: tooLateText(earlier), agent };
    await refuseUnlessLive(store, session.id);
  }
  const winner = await decisions.answer(signed);
  if (winner?.signature !== signed.signature) {
    const outcome = winner === undefined ? await questionOutcome(store, id) : tooLateText(winner);
    return { ok: false, sentence: outcome ?? 'The question is not open.', agent };
  }
  const verdict = await answerVerdict(store, session.id, signed);
  if (verdict === 'refused') return { ok: false, sentence: NOT_BELIEVED, agent };
  const verb = answer.behavior === 'allow' ? 'Allowed' : 'Denied';
  const unconfirmed = verdict === 'pending' ? ` ${UNCONFIRMED}` : '';
  return { ok: true, sentence: `${verb}: ${question.tool} of ${agent}.${unconfirmed}`, agent };
};
