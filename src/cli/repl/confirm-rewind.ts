/** Confirms a rewind of the open session (`/rewind`): shows the plan and asks the person. */
import { UsageError } from '../../protocol/skein-error.js';
import {
  isBlocking,
  type RewindPlan,
  type SessionRewind,
} from '../../sdk/sessions/session-rewind.js';
import type { Terminal } from '../../terminal/terminal.js';
import {
  blockingFileLines,
  rewindPlanText,
  rewindPointsText,
} from '../commands/rewind/rewind-plan-text.js';

interface ConfirmedRewind {
  /** Makes the plan again after the session was closed, because files may have changed. */
  plan(rewind: SessionRewind): RewindPlan;
  readonly force: boolean;
}

/** Resolves with undefined if the person declines. Rejects with UsageError. */
export const confirmRewind = async (
  rewind: SessionRewind,
  typed: string,
  terminal: Terminal,
  isColoured: boolean,
): Promise<ConfirmedRewind | undefined> => {
  const choice = typed === '' ? await askForPrompt(rewind, terminal) : typed;
  if (choice === '') return undefined;
  const planner = plannerOf(choice);
  const plan = planner(rewind);
  terminal.write(rewindPlanText(rewind, plan, isColoured));
  if (plan.files.length === 0 && !plan.conversation) return undefined;
  const force = plan.files.some(isBlocking);
  if (force) {
    const lines = blockingFileLines(rewind, plan).map((line) => `  ${line}\n`);
    terminal.write(`\nThese files block the rewind:\n${lines.join('')}`);
  }
  const question = force ? 'Rewind anyway? [y/N] ' : 'Rewind? [y/N] ';
  const isAgreed = /^y(?:es)?$/i.test(await answer(question, terminal));
  return isAgreed ? { plan: planner, force } : undefined;
};

const plannerOf = (choice: string): ConfirmedRewind['plan'] => {
  if (choice === 'undo') return (rewind) => rewind.planUndo();
  if (!/^\d{1,9}$/.test(choice) || Number(choice) === 0) {
    throw new UsageError(
      '/rewind takes the number of a prompt, or undo; alone it lists the prompts.',
    );
  }
  return (rewind) => rewind.plan({ to: Number(choice), files: true, conversation: true });
};

const askForPrompt = (rewind: SessionRewind, terminal: Terminal): Promise<string> => {
  terminal.write(rewindPointsText(rewind, Date.now()));
  return answer('Rewind to before which prompt? A number, or Enter to cancel: ', terminal);
};

const answer = async (label: string, terminal: Terminal): Promise<string> => {
  const reply = await terminal.ask(label, new AbortController().signal, true);
  return reply.kind === 'line' ? reply.text.trim() : '';
};
