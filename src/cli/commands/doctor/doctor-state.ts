/** The checks of what Skein reads and writes: its state directory, the disk, settings, the terminal. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { resolveSkeinHome } from '../../../config/workspace/state-directory.js';
import { ruleProblems } from '../../../policy/rules/rule-matcher.js';
import { UsageError } from '../../../protocol/errors.js';
import { settingsFor } from '../../../sdk/assembly/options/command-settings.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { bytes } from '../../../terminal/text/format-numbers.js';
import type { RunFlags } from '../../run/run-flags.js';
import type { Check, Finding } from './doctor-check.js';

/** A file is really made and removed: modes and quotas do not tell everything. */
export const checkState: Check = {
  name: 'state',
  run(machine) {
    const home = resolveSkeinHome(machine);
    const isNew = !fs.existsSync(home);
    const folder = isNew ? existingParent(home) : home;
    try {
      const trial = fs.mkdtempSync(join(folder, '.skein-doctor-'));
      try {
        fs.writeFileSync(join(trial, 'file'), 'x', { mode: 0o600 });
      } finally {
        fs.rmSync(trial, { recursive: true, force: true });
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const fix = 'Make it writable, or set SKEIN_HOME to a directory that is.';
      return { status: 'fail', found: `${home} cannot be written (${code})`, fix };
    }
    if (isNew) return { status: 'ok', found: `${home}, which is made at the first run` };
    return privacy(home) ?? { status: 'ok', found: home };
  },
};

/** Sessions hold everything that was said and read. */
const privacy = (home: string): Finding | undefined => {
  // Inside a closed directory nobody else gets to a file.
  if ((fs.statSync(home).mode & 0o077) === 0) return undefined;
  const fix = `Run chmod -R go= '${home}'.`;
  return { status: 'warn', found: `others can look into ${home}`, fix };
};

const existingParent = (path: string): string =>
  fs.existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path));

const ROOM = { fail: 10_000_000, warn: 1_000_000_000 };

export const diskFinding = (free: number, place: string): Finding => {
  const found = `${bytes(free)} free at ${place}`;
  if (free >= ROOM.warn) return { status: 'ok', found };
  const fix = 'Free some space, or set SKEIN_HOME to another disk; sessions stop when it is full.';
  return { status: free < ROOM.fail ? 'fail' : 'warn', found, fix };
};

const checkDisk: Check = {
  name: 'disk',
  run(machine) {
    const place = existingParent(resolveSkeinHome(machine));
    const { bavail, bsize } = fs.statfsSync(place);
    return diskFinding(bavail * bsize, place);
  },
};

/** The flags of the command count too: `skein --settings F doctor` tries F. */
export const checkSettings = (flags: RunFlags, cwd: string): Check => ({
  name: 'settings',
  run(machine) {
    try {
      const { rules, warnings, trust } = settingsFor(machine, flags, cwd);
      const problems = ruleProblems(rules);
      const fatal = problems.find(({ fatal: isFatal }) => isFatal);
      if (fatal !== undefined)
        return { status: 'fail', found: fatal.message, fix: 'Mend the rule.' };
      const doubts = [...warnings, ...problems.map(({ message }) => message)];
      const [first] = doubts;
      if (first === undefined)
        return { status: 'ok', found: `every file can be read; workspace ${trust}` };
      const more = doubts.length > 1 ? ` (and ${doubts.length - 1} more)` : '';
      return {
        status: 'warn',
        found: `${first}${more}`,
        fix: 'Run skein config to see all of it.',
      };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return {
        status: 'fail',
        found: error.message,
        fix: 'Mend or remove what is named; nothing runs until then.',
      };
    }
  },
});

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export const terminalFinding = (terminal: Terminal, env: TerminalHost['env']): Finding => {
  if (terminal.isTTY !== true) return { status: 'note', found: 'output goes to a file or a pipe' };
  const { TERM, NO_COLOR, COLORTERM } = env;
  const width = terminal.columns ?? 0;
  const colours = NO_COLOR ? 'no colours (NO_COLOR)' : COLORTERM ? 'true colours' : 'colours';
  if (TERM === undefined || TERM === '' || TERM === 'dumb') {
    const fix = 'Set TERM to the name of your terminal, such as xterm-256color, for more.';
    return { status: 'note', found: `TERM is ${TERM || 'not set'}: plain lines only`, fix };
  }
  const found = `${TERM}, ${width} columns, ${colours}`;
  if (width >= 60) return { status: 'ok', found };
  return { status: 'warn', found, fix: 'Make the window at least 60 columns wide.' };
};

export const STATE_CHECKS: readonly Check[] = [checkState, checkDisk];
