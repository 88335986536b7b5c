/** Texts about records of an agent that the store has lost: for the agent, and for its parent and people. */
import { systemReminder } from './system-reminder.js';

interface LostCall {
  readonly description: string;
}

/** Maximum calls that a text names. */
const MAX_NAMED_CALLS = 20;

/** Result of a call whose records are lost. */
export const LOST_CALL =
  'Redis has lost the records of this call. It may have run, with all of its effect: check before you repeat it.';

/** Returns the text that the agent reads with its next message. `lost` is 0 if the number is unknown. */
export const lossNotice = (lost: number, calls: readonly LostCall[]): string =>
  systemReminder(
    `Redis has lost ${recordsText(lost)} of this conversation, after the message above. ${callsText(calls)} Check their effects before you repeat them.`,
  );

/** Returns the reason why the agent has ended, for its parent and for people. */
export const lossDetail = (lost: number, calls: readonly LostCall[]): string =>
  `Redis has lost ${recordsText(lost)} of this agent, so the agent is not restarted by itself. ${callsText(calls)} Check their effects, then write to the agent to continue it.`;

const recordsText = (lost: number): string => {
  if (lost === 0) return 'records';
  return lost === 1 ? '1 record' : `${lost} records`;
};

const callsText = (calls: readonly LostCall[]): string => {
  if (calls.length === 0) return 'Calls that are not in the transcript may have run.';
  const named = calls.slice(0, MAX_NAMED_CALLS).map(({ description }) => description);
  const more = calls.length - named.length;
  const list = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return `These calls may have run: ${list}.`;
};
