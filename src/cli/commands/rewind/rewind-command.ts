/** `skein rewind`: shows what a rewind would change, asks, and rewinds. */
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { RestoreError } from '../../../actors/checkpoints/restore-files.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { StorageError, UsageError } from '../../../protocol/skein-error.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import {
  isBlocking,
  openSessionRewind,
  type RewindOutcome,
  type RewindPlan,
  type SessionRewind,
} from '../../../sdk/sessions/session-rewind.js';
import { wantsColour } from '../../../terminal/terminal.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';
import { withSessionStore } from '../../session/with-session-store.js';
import {
  blockingFileLines,
  changeOf,
  rewindDoneText,
  rewindPlanText,
  rewindPointsText,
} from './rewind-plan-text.js';

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

export const rewindCommand = (
  query: string | undefined,
  flags: RewindFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => rewindSession(store, query, flags, host));

const rewindSession = async (
  store: SessionStore,
  query: string | undefined,
  flags: RewindFlags,
  host: TerminalHost,
): Promise<number> => {
  checkFlags(flags);
  const meta = await findSession(store, query, resolve(host.cwd, flags.cwd ?? ''));
  const rewind = await openSessionRewind(host, flags, store, meta);
  if (flags.list === true) return list(rewind, flags, host);
  const chosen = await choose(rewind, flags, host);
  if (chosen === undefined) return ExitCode.done;
  const plan =
    flags.undo === true ? rewind.planUndo() : rewind.plan({ ...partsOf(flags), ...chosen });
  return carryOut(rewind, plan, flags, host);
};

const checkFlags = ({ to, undo, list, files, conversation, both }: RewindFlags): void => {
  const parts = [files, conversation, both].filter((part) => part === true);
  if (parts.length > 1) throw new UsageError('Use one of --files, --conversation and --both.');
  if (undo === true && (to !== undefined || parts.length > 0)) {
    throw new UsageError(
      '--undo undoes the whole last rewind: leave out --to, --files, --conversation and --both.',
    );
  }
  if (list === true && (to !== undefined || undo === true)) {
    throw new UsageError('--list only lists the prompts: leave out --to and --undo.');
  }
  if (to === 0) throw new UsageError('Prompts count from 1; --list shows them.');
};

const partsOf = ({ files, conversation }: RewindFlags) => ({
  files: conversation !== true,
  conversation: files !== true,
});

/** Returns the prompt to rewind to. Asks at a terminal if no flag names it; undefined means cancel. */
const choose = async (
  rewind: SessionRewind,
  flags: RewindFlags,
  host: TerminalHost,
): Promise<{ readonly to?: number } | undefined> => {
  if (flags.to !== undefined) return { to: flags.to };
  const isPrompted = host.stdin.isTTY && flags.json !== true && flags.yes !== true;
  if (flags.undo === true || !isPrompted || rewind.points().length < 2) return {};
  host.out(rewindPointsText(rewind, Date.now()));
  const answer = await ask('Rewind to before which prompt? A number, or Enter to quit: ', host);
  if (answer === '') return undefined;
  if (!/^\d{1,9}$/.test(answer)) throw new UsageError('That is not the number of a prompt.');
  return { to: Number(answer) };
};

const list = (rewind: SessionRewind, flags: RewindFlags, host: TerminalHost): number => {
  if (flags.json === true) {
    const points = rewind.points().map(({ number, at, text, files }) => ({
      number,
      at: formatIsoTime(at),
      prompt: plainText(text, 400),
      filesChangedSince: files,
    }));
    host.out(`${JSON.stringify({ session: rewind.meta.id, points }, null, 2)}\n`);
  } else host.out(rewindPointsText(rewind, Date.now()));
  return ExitCode.done;
};

const carryOut = async (
  rewind: SessionRewind,
  plan: RewindPlan,
  flags: RewindFlags,
  host: TerminalHost,
): Promise<number> => {
  const print = flags.json === true ? () => undefined : host.out;
  const answer = (outcome: RewindOutcome | undefined) => {
    if (flags.json === true)
      host.out(`${JSON.stringify(document(rewind, plan, outcome), null, 2)}\n`);
  };
  print(rewindPlanText(rewind, plan, wantsColour(host)));
  const blocking = plan.files.filter(isBlocking);
  if (blocking.length > 0 && flags.force !== true) {
    answer(undefined);
    host.err(refusal(rewind, plan));
    return ExitCode.failed;
  }
  const isEmpty = plan.files.length === 0 && !plan.conversation;
  if (isEmpty && flags.dryRun !== true) await rewind.sweep();
  if (isEmpty || flags.dryRun === true) {
    answer(undefined);
    return ExitCode.done;
  }
  if (!(await isAgreed(flags, host))) {
    host.err('Nothing was changed.\n');
    return ExitCode.done;
  }
  try {
    const outcome = await rewind.apply(plan, flags.force === true);
    answer(outcome);
    print(`\n${rewindDoneText(rewind, plan, outcome)}`);
    return ExitCode.done;
  } catch (error) {
    if (!(error instanceof RestoreError || error instanceof StorageError)) throw error;
    host.err(`skein: ${error.message}\n`);
    return ExitCode.failed;
  }
};

const refusal = (rewind: SessionRewind, plan: RewindPlan): string => {
  const lines = blockingFileLines(rewind, plan).map((line) => `  ${line}\n`);
  return `skein: Nothing was changed, because of:\n${lines.join('')}Add --force to rewind anyway: changes by others are saved first, and files that cannot be restored stay.\n`;
};

const document = (rewind: SessionRewind, plan: RewindPlan, outcome: RewindOutcome | undefined) => ({
  session: rewind.meta.id,
  done: outcome !== undefined,
  prompt: plan.point?.number ?? null,
  undo: plan.undoes !== undefined,
  conversation: plan.conversation,
  promptsTakenBack: plan.prompts.length,
  files: plan.files.map((file) => ({
    path: file.path,
    change: changeOf(file),
    verdict: file.verdict,
    ...(file.why !== '' && { why: file.why }),
  })),
  left: outcome === undefined ? [] : [...outcome.full, ...outcome.left.map(({ path }) => path)],
  notTakenBack: plan.irreversible.commands.map((command) => plainText(command, 400)),
});

const isAgreed = async (
  { yes, force, json }: RewindFlags,
  host: TerminalHost,
): Promise<boolean> => {
  if (yes === true || force === true) return true;
  if (!host.stdin.isTTY || json === true) {
    throw new UsageError(
      'A rewind changes files: add --yes, or --dry-run to only show the changes.',
    );
  }
  return /^y(?:es)?$/i.test(await ask('Rewind? [y/N] ', host));
};

const ask = async (question: string, host: TerminalHost): Promise<string> => {
  host.err(question);
  const lines = createInterface({ input: host.stdin });
  const stop = host.onInterrupt(() => lines.close());
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
