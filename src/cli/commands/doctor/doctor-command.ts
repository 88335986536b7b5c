/** `skein doctor`: checks what works on this machine, and says how to fix the rest. */
import { resolve } from 'node:path';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText, sanitize } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';
import { type CheckResult, type DoctorCheck, type Health, runChecks } from './doctor-check.js';
import { networkChecks } from './network-checks.js';
import { PROGRAM_CHECKS } from './program-checks.js';
import { redisChecks } from './redis-checks.js';
import { checkSettings, STATE_CHECKS, terminalFinding } from './state-checks.js';

export interface DoctorFlags extends RunFlags {
  readonly json?: boolean;
  readonly online?: boolean;
}

export const doctorCommand = async (flags: DoctorFlags, host: TerminalHost): Promise<number> => {
  const cwd = resolve(host.cwd, flags.cwd ?? '');
  const checks: readonly DoctorCheck[] = [
    ...PROGRAM_CHECKS,
    ...STATE_CHECKS,
    checkSettings(flags, cwd),
    ...networkChecks(flags.online === true),
    ...redisChecks(flags, host),
    { name: 'terminal', run: ({ env, stdout }) => terminalFinding(stdout, env) },
  ];
  const findings = await runChecks(checks, { ...host, env: environmentOf(flags, host, cwd) });
  const isWell = findings.every(({ status }) => status !== 'fail');
  if (flags.json === true) {
    const checks = findings.map(({ items, ...finding }) => ({
      ...finding,
      ...(items !== undefined && { items: items.map(({ value }) => value) }),
    }));
    host.out(`${JSON.stringify({ ok: isWell, checks }, null, 2)}\n`);
  } else host.out(sanitize(`${findings.map(lineOf).join('')}\n${conclusion(findings)}\n`));
  return isWell ? ExitCode.done : ExitCode.failed;
};

/**
 * Returns the environment of a run, because settings may set keys and proxies. Ignores broken settings, which
 * `checkSettings` reports.
 */
const environmentOf = (
  flags: DoctorFlags,
  host: TerminalHost,
  cwd: string,
): TerminalHost['env'] => {
  try {
    const { env } = commandSettings(host, flags, cwd);
    const set = Object.entries(env).map(([name, { value }]) => [name, value] as const);
    return { ...host.env, ...Object.fromEntries(set) };
  } catch {
    return host.env;
  }
};

const SIGNS: Readonly<Record<Health, string>> = {
  ok: 'ok  ',
  note: 'note',
  warn: 'warn',
  fail: 'FAIL',
};

const lineOf = ({ name, status, found, fix, items = [] }: CheckResult): string => {
  const more = [...items.map(({ line }) => line), ...(fix === undefined ? [] : [fix])];
  const line = `${SIGNS[status]}  ${name.padEnd(10)}  ${plainText(found, 300)}\n`;
  return `${line}${more.map((text) => `                  ${plainText(text, 300)}\n`).join('')}`;
};

const conclusion = (findings: readonly CheckResult[]): string => {
  const names = (health: Health) =>
    findings.filter(({ status }) => status === health).map(({ name }) => name);
  const [failed, doubtful] = [names('fail'), names('warn')];
  if (failed.length > 0) return `Skein cannot work properly yet: fix ${failed.join(', ')}.`;
  if (doubtful.length > 0) return `Skein can work; check ${doubtful.join(', ')}.`;
  return 'All required parts work.';
};
