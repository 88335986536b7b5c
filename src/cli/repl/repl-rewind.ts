/** `/rewind`: the same as `skein rewind`, asked for in the session that it is about. */
import { UsageError } from '../../protocol/errors.js';
import { isBlocking, type RewindDesk, type RewindPlan } from '../../sdk/sessions/rewind-session.js';
import type { Terminal } from '../../terminal/terminal.js';
import { obstacles, planText, pointsText } from '../commands/rewind/rewind-text.js';

export interface AgreedRewind {
  /** Made again once nobody holds the session. */
  plan(desk: RewindDesk): RewindPlan;
  readonly force: boolean;
}

/** Undefined when the person would rather not. Throws a UsageError. */
export const agreeOnRewind = async (
  desk: RewindDesk,
  wanted: string,
  terminal: Terminal,
  coloured: boolean,
): Promise<AgreedRewind | undefined> => {
  const choice = wanted === '' ? await letChoose(desk, terminal) : wanted;
  if (choice === '') return undefined;
  const planner = plannerOf(choice);
  const plan = planner(desk);
  terminal.write(planText(desk, plan, coloured));
  if (plan.files.length === 0 && !plan.conversation) return undefined;
  const force = plan.files.some(isBlocking);
  if (force) {
    const lines = obstacles(desk, plan).map((line) => `  ${line}\n`);
    terminal.write(`\nIn the way:\n${lines.join('')}`);
  }
  const question = force ? 'Go on all the same? [y/N] ' : 'Take it back? [y/N] ';
  const isAgreed = /^y(?:es)?$/i.test(await answer(question, terminal));
  return isAgreed ? { plan: planner, force } : undefined;
};

const plannerOf = (choice: string): AgreedRewind['plan'] => {
  if (choice === 'undo') return (desk) => desk.planUndo();
  if (!/^\d{1,9}$/.test(choice) || Number(choice) === 0) {
    throw new UsageError(
      '/rewind takes the number of a prompt, or undo; alone it lists the prompts.',
    );
  }
  return (desk) => desk.plan({ to: Number(choice), files: true, conversation: true });
};

const letChoose = (desk: RewindDesk, terminal: Terminal): Promise<string> => {
  terminal.write(pointsText(desk, Date.now()));
  return answer('Back to before which prompt? A number, or Enter to stay here: ', terminal);
};

const answer = async (label: string, terminal: Terminal): Promise<string> => {
  const reply = await terminal.ask(label, new AbortController().signal, true);
  return reply.kind === 'line' ? reply.text.trim() : '';
};
