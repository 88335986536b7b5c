/** What a storm must not have done: sentences about what is wrong with what it has left. */

import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import type { Remains } from './remains.js';
import { tokenOf } from './swarm-script.js';

export interface Findings {
  /** None is as it should be. */
  readonly wrong: readonly string[];
  /** Calls with an effect that a process left behind. */
  readonly interrupted: number;
  /** How often an agent was taken over, all together. */
  readonly takeOvers: number;
  /** Processes that were the lead, one after another. */
  readonly leads: number;
}

export const examine = (remains: Remains, agents: number): Findings => {
  const { events, lead, agents: journals } = remains;
  const wrong = [...holesIn('The event index', events), ...holesIn('The lead', lead)];
  wrong.push(...epochsIn('the lead', lead), ...aroundIt(remains));
  if (journals.size !== agents) wrong.push(`There are ${journals.size} agents.`);
  let interrupted = 0;
  for (let at = 0; at < agents; at += 1) {
    const token = tokenOf(at);
    const [first, ...more] = [...journals].filter(([, records]) => isOf(token, records));
    if (first === undefined || more.length > 0) wrong.push(`${token} is not one agent.`);
    const [id = '', records = []] = first ?? [];
    wrong.push(...holesIn(token, records), ...epochsIn(token, records));
    const own = events.filter(({ agent }) => agent === id);
    wrong.push(...endsOf(token, records, own), ...lettersOf(token, id, records, lead));
    const call = effectIn(records);
    const times = remains.effects.filter((line) => line === token).length;
    if (call !== 'ok') interrupted += 1;
    if (times > 1 || (call === 'ok' && times === 0)) {
      wrong.push(`${token} left ${times} lines, and its call is ${call}.`);
    }
  }
  const begun = [...journals.values()].reduce((sum, records) => sum + beginnings(records), 0);
  return { wrong, interrupted, takeOvers: begun - agents, leads: beginnings(lead) };
};

/** What is not of one agent alone. */
const aroundIt = (remains: Remains): readonly string[] => [
  ...remains.badCopies.map((id) => `The copy of ${id} is another than its journal.`),
  ...[...remains.mail].flatMap(([address, { waiting, dead }]) => [
    ...(waiting > 0 ? [`${waiting} letters to ${address} wait.`] : []),
    ...dead.map((letter) => `A letter to ${address} is dead: ${letter}`),
  ]),
  ...[...remains.jobs].flatMap(([where, many]) => (many > 0 ? [`${many} jobs are ${where}.`] : [])),
  ...remains.lasting.map((key) => `${key} never expires.`),
  ...[...remains.shown].flatMap(([id, status]) =>
    status === 'ended' ? [] : [`${id} is shown as ${status}.`],
  ),
  ...remains.processes.map((process) => `A process is left: ${process}`),
];

const holesIn = (what: string, rows: readonly { readonly seq: number }[]): readonly string[] => {
  const at = rows.findIndex(({ seq }, index) => seq !== index + 1);
  return at === -1 ? [] : [`${what} has number ${rows[at]?.seq} in place ${at + 1}.`];
};

const epochsIn = (what: string, records: readonly JournalRecord[]): readonly string[] => {
  const at = records.findIndex(({ epoch }, index) => epoch < (records[index - 1]?.epoch ?? 0));
  return at === -1 ? [] : [`An older epoch follows in place ${at + 1} of ${what}.`];
};

const beginnings = (records: readonly JournalRecord[]): number =>
  records.filter(({ type }) => type === 'epoch.began').length;

/** The first letter of an agent is its task. */
const isOf = (token: string, records: readonly JournalRecord[]): boolean => {
  const task = records.find(({ type }) => type === 'letter.received');
  return task !== undefined && JSON.stringify(task).includes(token);
};

const endsOf = (
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

/** What its journal says of its call with an effect. */
const effectIn = (records: readonly JournalRecord[]): string =>
  records
    .flatMap((it) => (it.type === 'call.ended' && it.tool === 'Bash' ? [it.outcome] : []))
    .join(' and ');

/** Its report and its message have reached the lead, each once. */
const lettersOf = (
  token: string,
  id: string,
  records: readonly JournalRecord[],
  lead: readonly JournalRecord[],
): readonly string[] => {
  const received = lead.flatMap((it) => (it.type === 'letter.received' ? [it.letter] : []));
  const sent = records.flatMap((it) => (it.type === 'letter.sent' ? [it.letter] : []));
  // Whoever takes it over begins another run, and of the last one the lead hears.
  return [`r_${id}_`, ...new Set(sent)].flatMap((letter) => {
    const times = received.filter((other) => other.startsWith(letter)).length;
    return times === 1 ? [] : [`The letter ${letter} of ${token} came ${times} times.`];
  });
};
