/** Steers an agent on a worker or in the queue while its lead is not running. */
import { stops } from '../../machines/stops.js';
import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import type { CommandReply, SwarmCommand } from '../../protocol/agent/swarm-command.js';
import { systemClock } from '../../protocol/clock.js';
import { randomIds } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Maximum wait in ms for the end of an agent that was told to stop. */
const STOP_LIMIT_MS = 30_000;
const POLL_MS = 200;

type Store = Pick<SessionStore, 'jobs' | 'mailbox' | 'openAsWorker' | 'records'>;

/**
 * Rejects with UsageError if the agent is not in the queue, or if only its lead can carry out the command.
 * `signal` ends the wait for the end of a stopped agent.
 */
export const steerOrphaned = async (
  store: Store,
  session: string,
  agent: string,
  command: SwarmCommand,
  signal?: AbortSignal,
): Promise<CommandReply> => {
  const job = (await store.jobs.list(session)).find(({ id }) => id === agent);
  if (job === undefined || (command.type !== 'stop' && command.type !== 'send')) {
    throw new UsageError(
      `Session ${session} is not running; \`skein --resume ${session}\` resumes it.`,
    );
  }
  const reply = (isOk: boolean, sentence: string): CommandReply => ({ ok: isOk, sentence, agent });
  if (command.type === 'send') {
    if (command.text.trim() === '') {
      return reply(false, `${agent} was sent nothing: the message is empty.`);
    }
    const raw = `[${rawText(command.text)}]`;
    const letter = randomIds('letter');
    await sendMail(store, job, letter, { type: 'letter', letter, from: 'user', raw });
    return reply(true, `${agent} has the message and reads it with its next step.`);
  }
  if (job.worker === undefined && (await store.jobs.withdraw(job))) {
    await recordStop(store, session, agent);
    return reply(true, `${agent} is stopped; no worker had started it.`);
  }
  const at = job.at === undefined ? {} : { at: job.at };
  await sendMail(store, job, `stop_${randomIds('letter')}`, {
    type: 'stop',
    ...at,
    ...stops.BY_PERSON,
  });
  return (await hasEnded(store, session, agent, signal))
    ? reply(true, `${agent} is stopped, with all its agents.`)
    : reply(
        false,
        `${agent} was asked to stop and has not confirmed it yet; \`skein ps\` shows its state.`,
      );
};

const sendMail = async (
  store: Store,
  job: ListedJob,
  id: string,
  mail: AgentMail,
): Promise<void> => {
  const sentAt = systemClock.now();
  const letter = { id, from: randomIds('owner'), to: job.id, sentAt, body: mail };
  const mailbox = store.mailbox(job.swarm);
  try {
    await mailbox.send(letter);
  } finally {
    await mailbox.close();
  }
};

/** Writes the final record of an agent that no worker has started. */
const recordStop = async (store: Store, session: string, agent: string): Promise<void> => {
  const opened = await store.openAsWorker(session);
  const adoption = await opened.adopt(agent);
  try {
    const journal = await opened.journal(agent, await parentOf(store, session, agent));
    const turns = journal.past.records.filter(({ type }) => type === 'assistant.received').length;
    journal.append({ type: 'run.ended', ...stops.BY_PERSON, turns, final: true });
    await journal.written();
  } finally {
    await adoption.release();
    await opened.close();
  }
};

const parentOf = async (store: Store, session: string, agent: string): Promise<string | null> => {
  for await (const record of store.records(session, agent)) {
    if (record.type === 'agent.created') return record.parent;
  }
  return null;
};

const hasEnded = async (
  store: Store,
  session: string,
  agent: string,
  signal?: AbortSignal,
): Promise<boolean> => {
  const until = systemClock.now() + STOP_LIMIT_MS;
  while (systemClock.now() < until && signal?.aborted !== true) {
    let isOver = false;
    for await (const { type } of store.records(session, agent)) {
      if (type === 'run.ended') isOver = true;
      else if (type === 'run.started') isOver = false;
    }
    if (isOver) return true;
    await new Promise<void>((resolve) => {
      systemClock.wakeAt(systemClock.now() + POLL_MS, resolve);
    });
  }
  return false;
};
