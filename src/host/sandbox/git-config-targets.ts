/** Finds the files that the configuration of a repository includes or runs. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { GitCommand } from '../git/git-command.js';
import type { Placeholder } from './placeholders.js';

const CONFIG_BYTES = 1024 * 1024;

/** Keys whose values git runs as commands. */
const PROGRAMS =
  /^(?:core\.(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|interactive\.difffilter|gpg\.(?:.*\.)?program|credential\.(?:.*\.)?helper|filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|(?:merge|diff)tool\..*\.(?:cmd|path)|hook\..*\.command|trailer\..*\.(?:cmd|command)|pager\..*|alias\..*)$/s;
const INCLUDES = /^include(?:if\..*)?\.path$/s;

/** Returns an empty list without a usable git. `home` is the user's home folder. */
export const gitConfigTargets = async (
  git: GitCommand | undefined,
  top: string,
  home: string,
): Promise<readonly Placeholder[]> => {
  const answer = await git?.(['config', '--list', '--show-origin', '-z'], CONFIG_BYTES);
  if (answer?.code !== 0) return [];
  const fields = answer.text.split('\0');
  const targets: Placeholder[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const file = /^file:(.+)$/s.exec(fields[at] ?? '')?.[1];
    if (file === undefined) continue;
    const [, key = '', value = ''] = /^([^\n]*)\n(.*)$/s.exec(fields[at + 1] ?? '') ?? [];
    const origin = resolve(top, file);
    targets.push({ path: origin, kind: 'file' });
    const named = (base: string) => resolve(base, value.replace(/^~(?=\/)/, home));
    if (INCLUDES.test(key)) targets.push({ path: named(dirname(origin)), kind: 'file' });
    else if (key === 'core.hookspath') targets.push({ path: named(top), kind: 'folder' });
    else if (PROGRAMS.test(key)) targets.push(...programsIn(value, top));
  }
  return targets;
};

/** Returns the words of a command that are files below `top`. */
const programsIn = (command: string, top: string): readonly Placeholder[] =>
  command
    .split(/[\s"'!;&|()]+/)
    .filter((word) => word.includes('/') && existsSync(resolve(top, word)))
    .map((word) => ({ path: resolve(top, word), kind: 'file' }));
