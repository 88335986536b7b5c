/** Sends a command to the process that runs a swarm, and waits for its reply. */
import {
  COMMAND_ADDRESS,
  COMMAND_LIFETIME_MS,
  type CommandReply,
  commandAnswer,
  type SwarmCommand,
} from '../../protocol/agent/swarm-command.js';
import { systemClock } from '../../protocol/clock.js';
import { randomIds } from '../../protocol/ids.js';
import type { Inbox, MailLetter } from '../../protocol/session/mailbox.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Rejects with UsageError if no process runs the session. */
export const refuseUnlessLive = async (
  store: Pick<SessionStore, 'holder'>,
  session: string,
): Promise<void> => {
  if ((await store.holder(session)) !== undefined) return;
  throw new UsageError(
    `Session ${session} is not running; \`skein --resume ${session}\` resumes it.`,
  );
};

/** Interval in ms at which the lease is checked while waiting for the reply. */
const LEASE_CHECK_MS = 500;

/**
 * Resolves with the owner's reply. If the owner does not reply in time, resolves with `ok: false`: the
 * command may or may not have taken effect. `signal` ends the wait, but the command is sent anyway.
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
  let isOwnerGone = false;
  const deadline = setTimeout(() => over.abort(), COMMAND_LIFETIME_MS);
  const leaseCheck = setInterval(() => {
    store.holder(session).then(
      (holder) => {
        if (holder !== undefined) return;
        isOwnerGone = true;
        over.abort();
      },
      // A store failure is reported elsewhere.
      () => {},
    );
  }, LEASE_CHECK_MS);
  try {
    const sentAt = systemClock.now();
    const letter = { id: randomIds('letter'), from, to: COMMAND_ADDRESS, sentAt, body: command };
    await mailbox.send(letter);
    const until = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
    const reply = await replyTo(letter, inbox, until);
    if (reply !== undefined) return reply;
    const limit = over.signal.aborted ? ` within ${COMMAND_LIFETIME_MS / 1_000} seconds` : ' yet';
    const sentence = isOwnerGone
      ? `The process that ran session ${session} ended before it answered.`
      : `The process that runs session ${session} did not answer${limit}; \`skein logs ${session}\` shows whether it did anything.`;
    return { ok: false, sentence, agent: null };
  } finally {
    clearTimeout(deadline);
    clearInterval(leaseCheck);
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
