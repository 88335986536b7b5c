/** Finds the files that the configuration of a repository includes or runs. */
import { dirname, resolve } from 'node:path';
import type { GitCommand } from '../git/git-command.js';
import { statOf } from './mount-plan.js';
import type { Placeholder } from './placeholders.js';

const CONFIG_BYTES = 1024 * 1024;

/** Keys whose values git runs as commands. */
const PROGRAMS =
  /^(?:core\.(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|interactive\.difffilter|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand|credential\.(?:.*\.)?helper|submodule\..*\.update|tar\..*\.command|sendemail\..*cmd|filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|(?:merge|diff)tool\..*\.(?:cmd|path)|hook\..*\.command|trailer\..*\.(?:cmd|command)|pager\..*|alias\..*)$/s;
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

/**
 * Returns the words of a command that are files below `top`, and programs and scripts with a path that do not exist
 * yet. An empty folder takes the place of a missing file, because git adds no empty folder to a commit.
 */
const programsIn = (command: string, top: string): readonly Placeholder[] => {
  const words = command.split(/[\s"'!;&|()]+/).filter((word) => word !== '');
  return words.flatMap((word, at): readonly Placeholder[] => {
    const path = resolve(top, word);
    const stats = statOf(path);
    if (stats !== undefined) return stats.isDirectory() ? [] : [{ path, kind: 'file' }];
    const isProgram = at === 0 || word.startsWith('./') || STARTERS.test(words[at - 1] ?? '');
    return isProgram && PATH.test(word) ? [{ path, kind: 'folder' }] : [];
  });
};

const PATH = /^(?:[\w.@+-]*\/)+[\w.@+-]+$/;
/** Programs that run the script that the next word names. */
const STARTERS =
  /(?:^|\/)(?:(?:ba|da|z|k)?sh|node|python[\d.]*|perl|ruby|php|deno|bun|env|exec|nice|time)$/;
