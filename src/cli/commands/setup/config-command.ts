/** `skein config`: prints every effective setting with its value and source. */
import { resolve } from 'node:path';
import { explainSettings, type SettingRow } from '../../../config/settings/explain-settings.js';
import { stateLayout } from '../../../config/workspace/state-layout.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import { knownPersonKey } from '../../../store/files/person-key.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { sanitize } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';

export const configCommand = (flags: RunFlags & { json?: boolean }, host: TerminalHost): number => {
  const cwd = flags.cwd === undefined ? host.cwd : resolve(host.cwd, flags.cwd);
  const settings = commandSettings(host, flags, cwd);
  for (const warning of settings.warnings) host.notify(warning);
  if (settings.ignoredNotice !== undefined) host.notify(settings.ignoredNotice);
  const rows = explainSettings(settings);
  const { skeinHome, trust } = settings;
  const { keys } = stateLayout(skeinHome);
  const publicKey = knownPersonKey(keys);
  if (flags.json === true) {
    const shown = { skeinHome, trust, publicKey: publicKey ?? null, settings: rows };
    host.out(`${JSON.stringify(shown, null, 2)}\n`);
  } else {
    host.out(table(rows));
    host.out(sanitize(`Your public key: ${publicKey ?? NO_KEY} (${keys})\n`));
  }
  return ExitCode.done;
};

const NO_KEY = 'none yet; the first run that accepts answers from other terminals creates one';

const table = (rows: readonly SettingRow[]): string => {
  const width = Math.max(...rows.map(({ key }) => key.length));
  return rows
    .map(({ key, value, source, file, line }) => {
      const shown = value === undefined ? '(not set)' : JSON.stringify(value);
      return sanitize(`${key.padEnd(width)}  ${shown}  (${locationOf(source, file, line)})\n`);
    })
    .join('');
};

/** Formats a source with file and line, such as `local, /repo/.skein/settings.local.json:4`. */
const locationOf = (source: string, file: string | undefined, line: number | undefined): string =>
  file === undefined ? source : `${source}, ${file}${line === undefined ? '' : `:${line}`}`;
