/** State checks: the state directory, the disk, the settings and the terminal. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { resolveSkeinHome } from '../../../config/workspace/state-layout.js';
import { ruleProblems } from '../../../policy/rules/compile-rules.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import { knownTools } from '../../../sdk/assembly/options/known-tools.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatBytes } from '../../../terminal/text/format-number.js';
import { builtinTools } from '../../../tools/builtin-tools.js';
import type { RunFlags } from '../../session/run-flags.js';
import type { DoctorCheck, Finding } from './doctor-check.js';

/** Creates and removes a file, because modes and quotas alone do not show whether writing works. */
const checkState: DoctorCheck = {
  name: 'state',
  run(host) {
    const home = resolveSkeinHome(host);
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
      const fix = 'Make it writable, or set SKEIN_HOME to a writable directory.';
      return { status: 'fail', found: `${home} cannot be written (${code})`, fix };
    }
    if (isNew) return { status: 'ok', found: `${home}, which the first run creates` };
    return privacyFinding(home) ?? { status: 'ok', found: home };
  },
};

/** Warns if other users can read the state directory, because sessions contain whole conversations. */
const privacyFinding = (home: string): Finding | undefined => {
  // In a private directory no other user can reach the files.
  if ((fs.statSync(home).mode & 0o077) === 0) return undefined;
  const fix = `Run chmod -R go= '${home}'.`;
  return { status: 'warn', found: `other users can read ${home}`, fix };
};

const existingParent = (path: string): string =>
  fs.existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path));

const MIN_FREE_BYTES = { fail: 10_000_000, warn: 1_000_000_000 };

export const diskFinding = (free: number, path: string): Finding => {
  const found = `${formatBytes(free)} free at ${path}`;
  if (free >= MIN_FREE_BYTES.warn) return { status: 'ok', found };
  const fix = 'Free some space, or set SKEIN_HOME to another disk; sessions stop when it is full.';
  return { status: free < MIN_FREE_BYTES.fail ? 'fail' : 'warn', found, fix };
};

const checkDisk: DoctorCheck = {
  name: 'disk',
  run(host) {
    const path = existingParent(resolveSkeinHome(host));
    const { bavail, bsize } = fs.statfsSync(path);
    return diskFinding(bavail * bsize, path);
  },
};

/** Checks the settings including flags: `skein --settings F doctor` checks F. */
export const checkSettings = (flags: RunFlags, cwd: string): DoctorCheck => ({
  name: 'settings',
  run(host) {
    try {
      const { rules, warnings, trust } = commandSettings(host, flags, cwd);
      const problems = ruleProblems(rules, knownTools(builtinTools, true));
      const fatal = problems.find(({ fatal: isFatal }) => isFatal);
      if (fatal !== undefined)
        return { status: 'fail', found: fatal.message, fix: 'Fix the rule.' };
      const doubts = [...warnings, ...problems.map(({ message }) => message)];
      const [first] = doubts;
      if (first === undefined)
        return { status: 'ok', found: `every file can be read; workspace ${trust}` };
      const more = doubts.length > 1 ? ` (and ${doubts.length - 1} more)` : '';
      return {
        status: 'warn',
        found: `${first}${more}`,
        fix: 'Run skein config to see all warnings.',
      };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return {
        status: 'fail',
        found: error.message,
        fix: 'Fix or remove the named setting; no run starts until then.',
      };
    }
  },
});

interface TerminalOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export const terminalFinding = (terminal: TerminalOutput, env: TerminalHost['env']): Finding => {
  if (terminal.isTTY !== true) return { status: 'note', found: 'output goes to a file or a pipe' };
  const { TERM, NO_COLOR, COLORTERM } = env;
  const width = terminal.columns ?? 0;
  const colours = NO_COLOR ? 'no colours (NO_COLOR)' : COLORTERM ? 'true colours' : 'colours';
  if (TERM === undefined || TERM === '' || TERM === 'dumb') {
    const fix =
      'Set TERM to the name of your terminal, such as xterm-256color, for screens and colours.';
    return { status: 'note', found: `TERM is ${TERM || 'not set'}: plain lines only`, fix };
  }
  const found = `${TERM}, ${width} columns, ${colours}`;
  if (width >= 60) return { status: 'ok', found };
  return { status: 'warn', found, fix: 'Make the window at least 60 columns wide.' };
};

export const STATE_CHECKS: readonly DoctorCheck[] = [checkState, checkDisk];
