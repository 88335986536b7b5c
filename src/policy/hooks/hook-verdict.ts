/** What all hooks of one event have said together: in the order of the settings, the strictest first. */
import type { HookRun, HookVerdict } from '../../protocol/permission/hooks.js';
import type { HookOpinion, PermissionAnswer } from '../../protocol/permission/permission.js';
import type { HookSaid } from './hook-output.js';

/** Nothing that another hook says can change this any more. */
export const isDecisive = ({ block, halt, permission, answer }: HookSaid): boolean =>
  block !== undefined ||
  halt !== undefined ||
  permission?.behavior === 'deny' ||
  answer?.behavior === 'deny';

export const mergeVerdict = (said: readonly HookSaid[], runs: readonly HookRun[]): HookVerdict => {
  const permission = strictest(said.flatMap((one) => one.permission ?? []));
  const inputs = said.filter((one) => Object.hasOwn(one, 'updatedInput'));
  const outputs = said.filter((one) => Object.hasOwn(one, 'updatedOutput'));
  const block = said.find((one) => one.block !== undefined)?.block;
  const halt = said.find((one) => one.halt !== undefined)?.halt;
  const answer = firstAnswer(said.flatMap((one) => one.answer ?? []));
  return {
    ...(permission && { permission }),
    ...(inputs.length > 0 && { updatedInput: inputs.at(-1)?.updatedInput }),
    ...(block && { block }),
    ...(outputs.length > 0 && { updatedOutput: outputs.at(-1)?.updatedOutput }),
    ...(answer && { answer }),
    ...(halt !== undefined && { halt }),
    context: said.flatMap(({ context }) => context),
    messages: said.flatMap(({ messages }) => messages),
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

/** A no wins; else the first who answered. */
const firstAnswer = (answers: readonly PermissionAnswer[]): PermissionAnswer | undefined =>
  answers.find(({ behavior }) => behavior === 'deny') ?? answers[0];
