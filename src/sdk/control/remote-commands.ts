/** Steers a swarm from another process: a letter to its owner, and the owner's reply. */

import {
  COMMAND_ADDRESS,
  COMMAND_LIFETIME_MS,
  type CommandReply,
  commandAnswer,
  type SwarmCommand,
} from '../../protocol/agent/swarm-commands.js';
import { systemClock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import type { Inbox, MailLetter } from '../../protocol/session/mailbox.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { cachedJobs, type SwarmSource, withCachedJobs } from '../../views/swarm/cached-job-list.js';
import { type LeaveOut, type SwarmView, viewsOfSwarms } from '../../views/swarm/swarm-view.js';
import { type Addressed, newestFirst } from '../sessions/find-session.js';

/** Those that a process works on now, newest first. */
export const liveSessions = async (store: SessionStore): Promise<readonly SessionMeta[]> => {
  const live: SessionMeta[] = [];
  const source = withCachedJobs(store);
  for (const session of newestFirst(await store.list())) {
    if (await isWorkedOn(source, session.id)) live.push(session);
  }
  return live;
};

/** By its lead, or by a worker that has an agent of it. */
export const isWorkedOn = async (
  store: Pick<SwarmSource, 'holder' | 'jobs'>,
  session: string,
): Promise<boolean> => {
  if ((await store.holder(session)) !== undefined) return true;
  if (store.jobs.own !== undefined) return false;
  return (await store.jobs.list(session)).some(({ worker }) => worker !== undefined);
};

/** Worked on, or some agent of it waits for a worker. */
export const isUnderWay = async (
  store: Pick<SwarmSource, 'holder' | 'jobs'>,
  session: string,
): Promise<boolean> => {
  if ((await store.holder(session)) !== undefined) return true;
  return store.jobs.own === undefined && (await store.jobs.list(session)).length > 0;
};

/** Those of agents that wait in the queue: whoever takes one begins it, also when nobody leads its session. */
export const sessionsThatQueue = async (
  store: Pick<SessionStore, 'jobs'>,
  found: readonly Addressed[],
): Promise<readonly SessionMeta[]> => {
  if (store.jobs.own !== undefined) return [];
  const waiting = new Map<string, SessionMeta>();
  const seen = cachedJobs(store.jobs);
  for (const { session, agent } of found) {
    if (agent === undefined || waiting.has(session.id)) continue;
    const jobs = await seen.list(session.id);
    if (jobs.some(({ id }) => id === agent)) waiting.set(session.id, session);
  }
  return [...waiting.values()];
};

export const liveSwarms = async (
  store: SessionStore,
  leaveOut: LeaveOut,
): Promise<readonly SwarmView[]> => viewsOfSwarms(store, await liveSessions(store), leaveOut);

/** Throws a UsageError when nobody runs the session. */
export const refuseUnlessLive = async (
  store: Pick<SessionStore, 'holder'>,
  session: string,
): Promise<void> => {
  if ((await store.holder(session)) !== undefined) return;
  throw new UsageError(
    `Nobody runs session ${session}; \`skein --resume ${session}\` goes on with it.`,
  );
};

/** How often it is looked whether somebody is still there to reply. */
const LOOK_EVERY_MS = 500;

/**
 * Resolves with what the owner says, or with a reply of our own when it says nothing: then the
 * command may or may not have taken effect. Once `signal` aborts nobody waits for the owner any more;
 * the command is sent all the same.
 */
export const commandSwarm = async (
  store: Pick<SessionStore, 'holder' | 'mailbox'>,
  session: string,
  command: SwarmCommand,
  signal?: AbortSignal,
): Promise<CommandReply> => {
  const mailbox = store.mailbox(session);
  const from = randomIds('owner');
  const inbox = await mailbox.open(from);
  const over = new AbortController();
  let isLeft = false;
  const deadline = setTimeout(() => over.abort(), COMMAND_LIFETIME_MS);
  const look = setInterval(() => {
    store.holder(session).then(
      (holder) => {
        if (holder !== undefined) return;
        isLeft = true;
        over.abort();
      },
      // A store that cannot be asked tells that elsewhere.
      () => {},
    );
  }, LOOK_EVERY_MS);
  try {
    const sentAt = systemClock.now();
    const letter = { id: randomIds('letter'), from, to: COMMAND_ADDRESS, sentAt, body: command };
    await mailbox.send(letter);
    const until = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
    const reply = await replyTo(letter, inbox, until);
    if (reply !== undefined) return reply;
    const limit = over.signal.aborted ? ` within ${COMMAND_LIFETIME_MS / 1_000} seconds` : ' yet';
    const sentence = isLeft
      ? `The process that ran session ${session} ended before it answered.`
      : `The process that runs session ${session} did not answer${limit}; \`skein logs ${session}\` shows whether it did anything.`;
    return { ok: false, sentence, agent: null };
  } finally {
    clearTimeout(deadline);
    clearInterval(look);
    await mailbox.close();
  }
};

const replyTo = async (
  { id }: MailLetter,
  inbox: Inbox,
  signal: AbortSignal,
): Promise<CommandReply | undefined> => {
  for (;;) {
    const letter = await inbox.next(signal);
    if (letter === undefined) return undefined;
    await inbox.acknowledge(letter.id);
    const { data } = commandAnswer.safeParse(letter.body);
    if (data?.command === id) return data.reply;
  }
};
