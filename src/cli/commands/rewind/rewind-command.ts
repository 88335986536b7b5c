/** `skein rewind`: shows what would be taken back, asks, and takes it back. */

import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { RestoreError } from '../../../actors/checkpoints/restore-files.js';
import { StorageError, UsageError } from '../../../protocol/errors.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import {
  isBlocking,
  openRewind,
  type RewindDesk,
  type RewindOutcome,
  type RewindPlan,
} from '../../../sdk/sessions/rewind-session.js';
import { wantsColour } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plural } from '../../../terminal/text/format-numbers.js';
import { isoTime } from '../../../terminal/text/format-time.js';
import { exactText, plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import type { RunFlags } from '../../run/run-flags.js';
import { withSessions } from '../inspect/with-session-store.js';
import { actOf, obstacles, planText, pointsText, shownPath } from './rewind-text.js';

export interface RewindFlags extends RunFlags {
  readonly to?: number;
  readonly list?: boolean;
  readonly files?: boolean;
  readonly conversation?: boolean;
  readonly both?: boolean;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const rewind = (
  wanted: string | undefined,
  flags: RewindFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => rewindIn(store, wanted, flags, machine));

const rewindIn = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: RewindFlags,
  machine: TerminalHost,
): Promise<number> => {
  checkFlags(flags);
  const meta = await sessionNamed(store, wanted, resolve(machine.cwd, flags.cwd ?? ''));
  const desk = await openRewind(machine, flags, store, meta);
  if (flags.list === true) return list(desk, flags, machine);
  const chosen = await choose(desk, flags, machine);
  if (chosen === undefined) return EXIT.done;
  const plan = flags.undo === true ? desk.planUndo() : desk.plan({ ...partsOf(flags), ...chosen });
  return carryOut(desk, plan, flags, machine);
};

const checkFlags = ({ to, undo, list, files, conversation, both }: RewindFlags): void => {
  const parts = [files, conversation, both].filter((part) => part === true);
  if (parts.length > 1) throw new UsageError('Use one of --files, --conversation and --both.');
  if (undo === true && (to !== undefined || parts.length > 0)) {
    throw new UsageError(
      '--undo takes back the last rewind as a whole: leave --to and the parts out.',
    );
  }
  if (list === true && (to !== undefined || undo === true)) {
    throw new UsageError('--list only shows the prompts: leave --to and --undo out.');
  }
  if (to === 0) throw new UsageError('Prompts count from 1; --list shows them.');
};

const partsOf = ({ files, conversation }: RewindFlags) => ({
  files: conversation !== true,
  conversation: files !== true,
});

/** At a terminal, without a word of what is meant, the person is shown what there is. */
const choose = async (
  desk: RewindDesk,
  flags: RewindFlags,
  machine: TerminalHost,
): Promise<{ readonly to?: number } | undefined> => {
  if (flags.to !== undefined) return { to: flags.to };
  const isAsked = machine.stdin.isTTY && flags.json !== true && flags.yes !== true;
  if (flags.undo === true || !isAsked || desk.points().length < 2) return {};
  machine.out(pointsText(desk, Date.now()));
  const answer = await ask('Back to before which prompt? A number, or Enter to leave: ', machine);
  if (answer === '') return undefined;
  if (!/^\d{1,9}$/.test(answer)) throw new UsageError('That is no number of a prompt.');
  return { to: Number(answer) };
};

const list = (desk: RewindDesk, flags: RewindFlags, machine: TerminalHost): number => {
  if (flags.json === true) {
    const points = desk.points().map(({ number, at, text, files }) => ({
      number,
      at: isoTime(at),
      prompt: plainText(text, 400),
      filesChangedSince: files,
    }));
    machine.out(`${JSON.stringify({ session: desk.meta.id, points }, null, 2)}\n`);
  } else machine.out(pointsText(desk, Date.now()));
  return EXIT.done;
};

const carryOut = async (
  desk: RewindDesk,
  plan: RewindPlan,
  flags: RewindFlags,
  machine: TerminalHost,
): Promise<number> => {
  const say = flags.json === true ? () => undefined : machine.out;
  const answer = (outcome: RewindOutcome | undefined) => {
    if (flags.json === true)
      machine.out(`${JSON.stringify(document(desk, plan, outcome), null, 2)}\n`);
  };
  say(planText(desk, plan, wantsColour(machine)));
  const blocking = plan.files.filter(isBlocking);
  if (blocking.length > 0 && flags.force !== true) {
    answer(undefined);
    machine.err(refusal(desk, plan));
    return EXIT.failed;
  }
  const isNothing = plan.files.length === 0 && !plan.conversation;
  if (isNothing || flags.dryRun === true) {
    answer(undefined);
    return EXIT.done;
  }
  if (!(await isAgreed(flags, machine))) {
    machine.err('Nothing was taken back.\n');
    return EXIT.done;
  }
  try {
    const outcome = await desk.carryOut(plan, flags.force === true);
    answer(outcome);
    say(`\n${doneText(desk, plan, outcome)}`);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof RestoreError || error instanceof StorageError)) throw error;
    machine.err(`skein: ${error.message}\n`);
    return EXIT.failed;
  }
};

export const refusal = (desk: RewindDesk, plan: RewindPlan): string => {
  const lines = obstacles(desk, plan).map((line) => `  ${line}\n`);
  return `skein: Nothing was taken back, because of:\n${lines.join('')}Add --force to go on all the same: what somebody else changed is kept first, and what cannot be brought back stays.\n`;
};

export const doneText = (
  desk: RewindDesk,
  { conversation, prompts, undoes }: RewindPlan,
  { files, full, left }: RewindOutcome,
): string => {
  const parts = [
    ...(files.length > 0 ? [`${plural(files.length, 'file')} put back`] : []),
    ...(conversation ? [`${plural(prompts.length, 'prompt')} taken back`] : []),
  ];
  const { id, cwd } = desk.meta;
  const kept = [...full, ...left.map(({ path }) => path)].map((path) =>
    exactText(shownPath(cwd, path)),
  );
  return [
    undoes === undefined
      ? `Done: ${parts.join(', ')}.`
      : `Undone: ${plural(files.length, 'file')} put back.`,
    ...(kept.length > 0 ? [`Left as they are: ${kept.join(', ')}.`] : []),
    `\`skein rewind ${id} --undo\` takes this back.`,
    '',
  ].join('\n');
};

const document = (desk: RewindDesk, plan: RewindPlan, outcome: RewindOutcome | undefined) => ({
  session: desk.meta.id,
  done: outcome !== undefined,
  prompt: plan.point?.number ?? null,
  undo: plan.undoes !== undefined,
  conversation: plan.conversation,
  promptsTakenBack: plan.prompts.length,
  files: plan.files.map((file) => ({
    path: file.path,
    change: actOf(file),
    verdict: file.verdict,
    ...(file.why !== '' && { why: file.why }),
  })),
  left: outcome === undefined ? [] : [...outcome.full, ...outcome.left.map(({ path }) => path)],
  notTakenBack: plan.irreversible.commands.map((command) => plainText(command, 400)),
});

const isAgreed = async (
  { yes, force, json }: RewindFlags,
  machine: TerminalHost,
): Promise<boolean> => {
  if (yes === true || force === true) return true;
  if (!machine.stdin.isTTY || json === true) {
    throw new UsageError('Rewinding changes files: add --yes, or --dry-run to only look.');
  }
  return /^y(?:es)?$/i.test(await ask('Take it back? [y/N] ', machine));
};

const ask = async (question: string, machine: TerminalHost): Promise<string> => {
  machine.err(question);
  const lines = createInterface({ input: machine.stdin });
  const stop = machine.onInterrupt(() => lines.close());
  try {
    const answer = await new Promise<string>((settle) => {
      lines.once('line', settle);
      lines.once('close', () => settle(''));
    });
    return answer.trim();
  } finally {
    stop();
    lines.close();
  }
};
