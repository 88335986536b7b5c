/** Steers an agent on a worker, or in the queue, whose lead is gone: what the lead would tell it, told by the person's own command. */
import { BY_PERSON } from '../../actors/tree/stop-reasons.js';
import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import type { CommandReply, SwarmCommand } from '../../protocol/agent/swarm-commands.js';
import { systemClock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/store.js';

/** How long it is looked whether an agent has ended that was told to. */
const STOP_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

type Store = Pick<SessionStore, 'jobs' | 'mailbox' | 'openAsWorker' | 'records'>;

/**
 * Rejects with a UsageError when nobody has the agent, or only its lead could do that. Once `signal` aborts
 * nobody waits for the end of one that was told to stop.
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
      `Nobody runs session ${session}; \`skein --resume ${session}\` goes on with it.`,
    );
  }
  const says = (ok: boolean, sentence: string): CommandReply => ({ ok, sentence, agent });
  if (command.type === 'send') {
    if (command.text.trim() === '') {
      return says(false, `${agent} was sent nothing: the message is empty.`);
    }
    const raw = `[${rawText(command.text)}]`;
    const letter = randomIds('letter');
    await post(store, job, letter, { type: 'letter', letter, from: 'user', raw });
    return says(true, `${agent} has it, and reads it with its next step.`);
  }
  if (job.worker === undefined && (await store.jobs.withdraw(job))) {
    await endUnbegun(store, session, agent);
    return says(true, `${agent} is stopped; no worker had it.`);
  }
  const at = job.at === undefined ? {} : { at: job.at };
  await post(store, job, `stop_${randomIds('letter')}`, { type: 'stop', ...at, ...BY_PERSON });
  return (await hasEnded(store, session, agent, signal))
    ? says(true, `${agent} is stopped, with all that worked for it.`)
    : says(
        false,
        `${agent} was told to stop, and has not said that it has; \`skein ps\` shows it.`,
      );
};

const post = async (store: Store, job: ListedJob, id: string, mail: AgentMail): Promise<void> => {
  const sentAt = systemClock.now();
  const letter = { id, from: randomIds('owner'), to: job.id, sentAt, body: mail };
  const mailbox = store.mailbox(job.swarm);
  try {
    await mailbox.send(letter);
  } finally {
    await mailbox.close();
  }
};

/** Nobody works on it: there is only a record to write. */
const endUnbegun = async (store: Store, session: string, agent: string): Promise<void> => {
  const visited = await store.openAsWorker(session);
  const adoption = await visited.adopt(agent);
  try {
    const journal = await visited.journal(agent, await parentOf(store, session, agent));
    const turns = journal.past.records.filter(({ type }) => type === 'assistant.received').length;
    journal.append({ type: 'run.ended', ...BY_PERSON, turns, final: true });
    await journal.written();
  } finally {
    await adoption.release();
    await visited.close();
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
      systemClock.wakeAt(systemClock.now() + LOOK_EVERY_MS, resolve);
    });
  }
  return false;
};
