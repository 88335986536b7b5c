/** Merges the outputs of all hooks of one event: the strictest decision wins. */
import type { HookRun, HookVerdict } from '../../protocol/permission/hooks.js';
import type { PermissionAnswer } from '../../protocol/permission/permission-question.js';
import type { HookOpinion } from '../../protocol/permission/ruling.js';
import type { HookOutput } from './hook-output.js';

/** True if no output of another hook can change the verdict. */
export const isDecisive = ({ block, halt, permission, answer }: HookOutput): boolean =>
  block !== undefined ||
  halt !== undefined ||
  permission?.behavior === 'deny' ||
  answer?.behavior === 'deny';

/** `outputs` are in the order of the settings. The last updated input and the last updated output count. */
export const hookVerdict = (
  outputs: readonly HookOutput[],
  runs: readonly HookRun[],
): HookVerdict => {
  const permission = strictest(outputs.flatMap((output) => output.permission ?? []));
  const inputs = outputs.filter((output) => Object.hasOwn(output, 'updatedInput'));
  const replaced = outputs.filter((output) => Object.hasOwn(output, 'updatedOutput'));
  const block = outputs.find((output) => output.block !== undefined)?.block;
  const halt = outputs.find((output) => output.halt !== undefined)?.halt;
  const answer = firstAnswer(outputs.flatMap((output) => output.answer ?? []));
  return {
    ...(permission && { permission }),
    ...(inputs.length > 0 && { updatedInput: inputs.at(-1)?.updatedInput }),
    ...(block && { block }),
    ...(replaced.length > 0 && { updatedOutput: replaced.at(-1)?.updatedOutput }),
    ...(answer && { answer }),
    ...(halt !== undefined && { halt }),
    context: outputs.flatMap(({ context }) => context),
    messages: outputs.flatMap(({ messages }) => messages),
    runs,
  };
};

const STRICTNESS = { deny: 2, ask: 1, allow: 0 } as const;

const strictest = (opinions: readonly HookOpinion[]): HookOpinion | undefined =>
  opinions.reduce<HookOpinion | undefined>(
    (best, next) =>
      best === undefined || STRICTNESS[next.behavior] > STRICTNESS[best.behavior] ? next : best,
    undefined,
  );

/** Returns the first denial, else the first answer. */
const firstAnswer = (answers: readonly PermissionAnswer[]): PermissionAnswer | undefined =>
  answers.find(({ behavior }) => behavior === 'deny') ?? answers[0];
