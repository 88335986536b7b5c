/**
 * What a pattern of the shell may stand for, as far as it is worth guarding: `cat .en[v]` names no
 * secret, and reads one. The disk is not looked at; names that secrets usually have are tried.
 */
import { compileGlob, GlobProblem } from '../../../lib/glob.js';
import { type ShellWord, UNKNOWN } from '../shell-words.js';

const USUAL = [
  '.env',
  '.env.local',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  'id_rsa',
  'id_ed25519',
  'server.pem',
  'server.key',
];

/** With less than this in it, a pattern means everybody and not a secret. */
const TELLING = /^\.[^a-z0-9]*[a-z0-9]|[a-z0-9].*[a-z0-9]/i;

/** The same path with the usual names that fit its patterns, and what only the shell knows of it. */
export const sensitiveGlobMatches = ({ text, glob, dynamic }: ShellWord): readonly string[] => {
  if (!glob && !dynamic) return [];
  const names = text.replaceAll(UNKNOWN, '*').split('/');
  const found: string[] = [];
  for (const [at, name] of names.entries()) {
    if (!/[*?[]/.test(name) || !TELLING.test(name)) continue;
    for (const bait of USUAL.filter((usual) => mayBe(name, usual))) {
      found.push([...names.slice(0, at), bait, ...names.slice(at + 1)].join('/'));
    }
  }
  return found;
};

/** As the shell matches: a dot in front must be written. */
const mayBe = (pattern: string, name: string): boolean => {
  if (name.startsWith('.') && !/^(?:\.|\[|\\)/.test(pattern)) return false;
  try {
    return compileGlob(pattern).matches([name]);
  } catch (error) {
    if (error instanceof GlobProblem) return false;
    throw error;
  }
};
