/** Worktree text of a report: where the child's work is, and what the parent has to do. */
import type { WorktreeReport } from '../../protocol/agent/child-report.js';
import { untrustedLine } from '../text/untrusted-text.js';

const MAX_FILES = 20;
const MAX_PATH_LENGTH = 300;
const MAX_REASON_LENGTH = 500;

export const worktreeText = ({ outcome, path, branch, top, diff }: WorktreeReport): string => {
  const patch = diff === undefined ? '' : ` Its diff is in ${diff}.`;
  switch (outcome.kind) {
    case 'unchanged':
      return `It changed nothing in its worktree.${leftover(outcome.isLeft, path)}`;
    case 'merged': {
      const count = outcome.files.length;
      const files = count === 1 ? '1 file' : `${count} files`;
      return `Its work is merged into ${top} (${files}), and also on the branch ${branch}.${patch}${leftover(outcome.isLeft, path)}`;
    }
    case 'conflict':
      return `Its work is NOT merged: ${listOf(outcome.conflicts)}. Nothing in ${top} was changed. Its version is on the branch ${branch} and in ${path}.${patch} To resolve it, look at that diff or at \`git show ${branch}:<file>\`, and make the changes in ${top} yourself.`;
    case 'pushed': {
      const count = outcome.files.length;
      const files = count === 1 ? '1 file' : `${count} files`;
      return `It worked on another machine, and its work is NOT merged: it is pushed to the branch ${branch} of ${untrustedLine(outcome.url, MAX_PATH_LENGTH)} (${files}, commit ${outcome.commit}).${patch} To get it, run \`git fetch ${untrustedLine(outcome.url, MAX_PATH_LENGTH)} ${branch}\`, look at FETCH_HEAD, and merge what you want.`;
    }
    case 'kept':
      return `Its work is NOT merged: ${untrustedLine(outcome.why, MAX_REASON_LENGTH)} It is kept in ${path}, and its commits on the branch ${branch}.${patch}`;
  }
};

const leftover = (isLeft: boolean | undefined, path: string): string =>
  isLeft === true ? ` Files that git does not merge are still in ${path}.` : '';

const listOf = (conflicts: readonly { readonly path: string; readonly why: string }[]): string => {
  const shown = conflicts.slice(0, MAX_FILES).map(({ path, why }) => {
    const location = path === '' ? '' : `${untrustedLine(path, MAX_PATH_LENGTH)}: `;
    return `${location}${untrustedLine(why, MAX_REASON_LENGTH)}`;
  });
  const more = conflicts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};
