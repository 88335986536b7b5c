import { describe, expect, test } from 'vitest';
import { bash, policyOf, rule } from '../policy-fixtures.js';

const policy = policyOf({ rules: [rule('allow', 'Bash')], mode: 'bypassPermissions' });
const behaviorOf = (line: string) => policy.rule(bash(line)).behavior;

describe('a git command', () => {
  test.each([
    'git config -e',
    'git config --global user.name x',
    'git config core.pager less',
    'git config --unset user.name --global',
    'git checkout -f',
    'git checkout -- .',
    'git checkout .',
    'git restore .',
    'git reset --hard',
    'git clean -fd',
    'git stash drop',
    'git stash clear',
    'git branch -D topic',
    'git push --force',
    'git push origin +main',
    'git push --mirror',
    'git push origin :topic',
    'git filter-branch --all',
    'git reflog expire --all',
    'git gc --prune=now',
    'git worktree remove --force a',
    'git update-ref -d refs/heads/main',
    'git tag -d v1',
    'git remote remove origin',
    'git -c core.pager=sh log',
    'git filter-repo --path a',
    'git prune',
    'git daemon --export-all',
    'git bisect run ./test.sh',
    'git rebase -x make main',
    'git difftool -x sh',
    'git submodule foreach ls',
  ])('that can lose work or run programs needs permission: %s', (line) => {
    expect(behaviorOf(line)).not.toBe('allow');
  });

  test.each([
    'git config user.name',
    'git config --get core.pager',
    'git config user.name x',
    'git checkout -b topic',
    'git stash list',
    'git branch topic',
    'git push origin topic',
    'git tag v1',
  ])('that loses nothing does not: %s', (line) => {
    expect(behaviorOf(line)).toBe('allow');
  });
});
