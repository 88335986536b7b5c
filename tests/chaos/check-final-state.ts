/** Checks the final state of a chaos run. Every error is a sentence. */

import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import type { FinalState } from './final-state.js';
import { tokenOf } from './swarm-script.js';

export interface Findings {
  /** Errors. Empty for a correct run. */
  readonly wrong: readonly string[];
  /** Number of calls with an effect that a dead process left unfinished. */
  readonly interrupted: number;
  /** Number of takeovers of agents, summed over all agents. */
  readonly takeOvers: number;
  /** Number of processes that ran the lead. */
  readonly leads: number;
}

export const checkFinalState = (state: FinalState, agents: number): Findings => {
  const { events, lead, agents: journals } = state;
  const wrong = [...gapsIn('The event index', events), ...gapsIn('The lead', lead)];
  wrong.push(...staleEpochsIn('the lead', lead), ...sharedErrors(state));
  if (journals.size !== agents) wrong.push(`There are ${journals.size} agents.`);
  let interrupted = 0;
  for (let at = 0; at < agents; at += 1) {
    const token = tokenOf(at);
    const [first, ...more] = [...journals].filter(([, records]) => hasTask(token, records));
    if (first === undefined || more.length > 0) wrong.push(`${token} is not one agent.`);
    const [id = '', records = []] = first ?? [];
    wrong.push(...gapsIn(token, records), ...staleEpochsIn(token, records));
    wrong.push(...repeatedJobs(token, records));
    const agentEvents = events.filter(({ agent }) => agent === id);
    wrong.push(
      ...endErrors(token, records, agentEvents),
      ...letterErrors(token, id, records, lead),
    );
    const call = effectOutcome(records);
    const times = state.effects.filter((line) => line === token).length;
    if (call !== 'ok') interrupted += 1;
    if (times > 1 || (call === 'ok' && times === 0)) {
      wrong.push(`${token} left ${times} lines, and its call is ${call}.`);
    }
  }
  const epochs = [...journals.values()].reduce((sum, records) => sum + epochCount(records), 0);
  return { wrong, interrupted, takeOvers: epochs - agents, leads: epochCount(lead) };
};

/** Errors that do not belong to a single agent. */
const sharedErrors = (state: FinalState): readonly string[] => [
  ...state.badCopies.map((id) => `The copy of ${id} is another than its journal.`),
  ...[...state.mail].flatMap(([address, { waiting, dead }]) => [
    ...(waiting > 0 ? [`${waiting} letters to ${address} wait.`] : []),
    ...dead.map((letter) => `A letter to ${address} is dead: ${letter}`),
  ]),
  ...[...state.jobs].flatMap(([list, count]) => (count > 0 ? [`${count} jobs are ${list}.`] : [])),
  ...state.lasting.map((key) => `${key} never expires.`),
  ...[...state.shown].flatMap(([id, status]) =>
    status === 'ended' ? [] : [`${id} is shown as ${status}.`],
  ),
  ...state.processes.map((process) => `A process is left: ${process}`),
];

const gapsIn = (name: string, rows: readonly { readonly seq: number }[]): readonly string[] => {
  const at = rows.findIndex(({ seq }, index) => seq !== index + 1);
  return at === -1 ? [] : [`${name} has number ${rows[at]?.seq} in place ${at + 1}.`];
};

const staleEpochsIn = (name: string, records: readonly JournalRecord[]): readonly string[] => {
  const at = records.findIndex(({ epoch }, index) => epoch < (records[index - 1]?.epoch ?? 0));
  return at === -1 ? [] : [`An older epoch follows in place ${at + 1} of ${name}.`];
};

/** A process that hands an agent over twice adds a second job, and two workers take the agent from each other. */
const repeatedJobs = (name: string, records: readonly JournalRecord[]): readonly string[] => {
  const epochs = records.flatMap((it) =>
    it.type === 'agent.queued' && it.awaits === 'worker' ? [it.epoch] : [],
  );
  const repeated = new Set(epochs.filter((epoch, at) => epochs.indexOf(epoch) < at));
  return [...repeated].map((epoch) => `${name} has several jobs of epoch ${epoch}.`);
};

const epochCount = (records: readonly JournalRecord[]): number =>
  records.filter(({ type }) => type === 'epoch.began').length;

/** True if the agent has the task with this token. The first letter of an agent is its task. */
const hasTask = (token: string, records: readonly JournalRecord[]): boolean => {
  const task = records.find(({ type }) => type === 'letter.received');
  return task !== undefined && JSON.stringify(task).includes(token);
};

const endErrors = (
  token: string,
  records: readonly JournalRecord[],
  events: readonly SwarmEvent[],
): readonly string[] => {
  const ends = records.flatMap((it) => {
    return it.type === 'run.ended' ? [`${it.reason} ${it.detail ?? ''}`.trim()] : [];
  });
  const shown = events.filter(({ type }) => type === 'agent.stopped').length;
  if (ends.join() === 'end_turn' && shown === 1) return [];
  return [`${token} ended ${ends.length} times (${ends.join(', ')}), and ${shown} in the index.`];
};

/** Outcome of the call with an effect, as recorded in the journal. */
const effectOutcome = (records: readonly JournalRecord[]): string =>
  records
    .flatMap((it) => (it.type === 'call.ended' && it.tool === 'Bash' ? [it.outcome] : []))
    .join(' and ');

/** The lead must have received the report and the message of an agent once each. */
const letterErrors = (
  token: string,
  id: string,
  records: readonly JournalRecord[],
  lead: readonly JournalRecord[],
): readonly string[] => {
  const received = lead.flatMap((it) => (it.type === 'letter.received' ? [it.letter] : []));
  const sent = records.flatMap((it) => (it.type === 'letter.sent' ? [it.letter] : []));
  // A takeover starts another run, and the lead receives the report of the last run.
  return [`r_${id}_`, ...new Set(sent)].flatMap((letter) => {
    const times = received.filter((id) => id.startsWith(letter)).length;
    return times === 1 ? [] : [`The letter ${letter} of ${token} came ${times} times.`];
  });
};
