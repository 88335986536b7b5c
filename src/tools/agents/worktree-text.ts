/** What an agent reads about the worktree of one that worked for it: where the work is, and what is left to do. */
import type { WorktreeReport } from '../../protocol/agent/swarm.js';
import { onOneLine } from '../search/search-report.js';
import { shortLine } from '../truncation.js';
import { withoutOurTags } from '../untrusted-text.js';

const MOST_FILES = 20;
const LONGEST_PATH = 300;
const LONGEST_REASON = 500;

export const worktreeText = ({ outcome, path, branch, top, diff }: WorktreeReport): string => {
  const patch = diff === undefined ? '' : ` As a diff it is in ${diff}.`;
  switch (outcome.kind) {
    case 'unchanged':
      return `It changed nothing in its worktree.${leftover(outcome.isLeft, path)}`;
    case 'merged': {
      const many = outcome.files.length;
      const files = many === 1 ? '1 file' : `${many} files`;
      return `Its work is merged into ${top} (${files}), and also on the branch ${branch}.${patch}${leftover(outcome.isLeft, path)}`;
    }
    case 'conflict':
      return `Its work is NOT merged: ${listOf(outcome.conflicts)}. Nothing in ${top} was changed. Its side is on the branch ${branch} and in ${path}.${patch} To resolve it, look at that diff or at \`git show ${branch}:<file>\`, and make the changes in ${top} yourself.`;
    case 'pushed': {
      const many = outcome.files.length;
      const files = many === 1 ? '1 file' : `${many} files`;
      return `It worked on another machine, and its work is NOT merged: it is pushed to the branch ${branch} of ${line(outcome.url, LONGEST_PATH)} (${files}, commit ${outcome.commit}).${patch} To have it, run \`git fetch ${line(outcome.url, LONGEST_PATH)} ${branch}\`, look at FETCH_HEAD, and merge what you want.`;
    }
    case 'kept':
      return `Its work is NOT merged: ${line(outcome.why, LONGEST_REASON)} It is kept in ${path}, and what was committed on the branch ${branch}.${patch}`;
  }
};

const leftover = (isLeft: boolean | undefined, path: string): string =>
  isLeft === true ? ` Something that git does not take along is still in ${path}.` : '';

const listOf = (conflicts: readonly { readonly path: string; readonly why: string }[]): string => {
  const shown = conflicts.slice(0, MOST_FILES).map(({ path, why }) => {
    const what = path === '' ? '' : `${line(path, LONGEST_PATH)}: `;
    return `${what}${line(why, LONGEST_REASON)}`;
  });
  const more = conflicts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

const line = (text: string, length: number): string =>
  shortLine(withoutOurTags(onOneLine(text)), length);
