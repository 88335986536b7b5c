/**
 * Finds secret files that a shell pattern may match.
 *
 * `cat .en[v]` reads `.env` without naming it. Tries the usual names of secrets and does not read the disk.
 */
import { compileGlob, GlobProblem } from '../../../lib/paths/glob.js';
import { type ShellWord, UNKNOWN } from '../shell-word.js';

const SECRET_NAMES = [
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

/** Minimum of a pattern. A pattern with fewer letters is meant for all files, not for a secret. */
const SPECIFIC = /^\.[^a-z0-9]*[a-z0-9]|[a-z0-9].*[a-z0-9]/i;

/** Returns the word's path with each secret name that its patterns or unknown parts may match. */
export const sensitiveGlobMatches = ({ text, glob, dynamic }: ShellWord): readonly string[] => {
  if (!glob && !dynamic) return [];
  const names = text.replaceAll(UNKNOWN, '*').split('/');
  const found: string[] = [];
  for (const [at, name] of names.entries()) {
    if (!/[*?[]/.test(name) || !SPECIFIC.test(name)) continue;
    for (const secret of SECRET_NAMES.filter((candidate) => matches(name, candidate))) {
      found.push([...names.slice(0, at), secret, ...names.slice(at + 1)].join('/'));
    }
  }
  return found;
};

/** Matches like the shell: a leading dot must be written in the pattern. */
const matches = (pattern: string, name: string): boolean => {
  if (name.startsWith('.') && !/^(?:\.|\[|\\)/.test(pattern)) return false;
  try {
    return compileGlob(pattern).matches([name]);
  } catch (error) {
    if (error instanceof GlobProblem) return false;
    throw error;
  }
};
