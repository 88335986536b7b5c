import { describe, expect, test } from 'vitest';
import { bash, policyOf, rule } from '../../policy-fixtures.js';
import { CORPUS, CORPUS_RULES } from '../shell-corpus.js';

describe('a read-only command', () => {
  const free = CORPUS.filter(({ ruling }) => ruling === 'allow@mode').flatMap(
    ({ commands }) => commands,
  );

  test('is allowed in every mode', () => {
    for (const mode of ['default', 'acceptEdits', 'plan', 'dontAsk', 'bubble'] as const) {
      const policy = policyOf({ mode });
      const refused = free.filter((command) => policy.rule(bash(command)).behavior !== 'allow');
      expect(refused).toEqual([]);
    }
  });

  test('may start early and run again, unless it changes the working directory', () => {
    const policy = policyOf();
    expect(policy.rule(bash('git status | head -3')).readOnly).toBe(true);
    expect(policy.rule(bash('cat /etc/passwd')).readOnly).toBe(true);
    expect(policy.rule(bash('cd src && ls')).readOnly).toBe(false);
    expect(policy.rule(bash('touch a')).readOnly).toBe(false);
    expect(policy.rule(bash('ls > a')).readOnly).toBe(false);
  });

  test('outside the workspace requires a question in plan mode, and effects are denied', () => {
    const policy = policyOf({ mode: 'plan', rules: CORPUS_RULES });
    expect(policy.rule(bash('cat /etc/passwd')).behavior).toBe('ask');
    expect(policy.rule(bash('grep -r x .')).behavior).toBe('ask');
    expect(policy.rule(bash('npm test'))).toMatchObject({ behavior: 'deny', step: 'mode' });
    expect(policy.rule(bash('ls > a'))).toMatchObject({ behavior: 'deny', step: 'mode' });
  });

  test('may run git only at a workspace root because a folder may fake a repository', () => {
    const policy = policyOf({ roots: ['/repo', '/more'] });
    const at = (cwd: string) => policy.rule({ ...bash('git status'), cwd }).behavior;
    expect([at('/repo'), at('/more'), at('/repo/sub')]).toEqual(['allow', 'allow', 'ask']);
    expect(policy.rule(bash('cd sub && git status')).behavior).toBe('ask');
  });

  test.each([
    'xargs -a /etc/passwd echo',
    'xargs -a.env echo',
    'xargs --arg-file=/etc/passwd echo',
  ])('may not pass on a file that is not judged: %j', (command) => {
    expect(policyOf().rule(bash(command)).behavior).toBe('ask');
  });

  test('does not read through a link out of the workspace', () => {
    const realPath = (path: string) => path.replace(/^\/repo\/out/, '/etc');
    const policy = policyOf({ realPath });
    expect(policy.rule(bash('cat out/passwd')).behavior).toBe('ask');
    expect(policy.rule(bash('cd out && cat passwd')).behavior).toBe('ask');
    expect(policy.rule(bash('cat < out/passwd')).behavior).toBe('ask');
    expect(policy.rule(bash('cat in/passwd')).behavior).toBe('allow');
  });
});

describe('a redirection', () => {
  const rulingOf = (mode: 'default' | 'acceptEdits' | 'bypassPermissions', command: string) => {
    const { behavior, step } = policyOf({ mode, rules: [rule('allow', 'Bash(make:*)')] }).rule(
      bash(command),
    );
    return `${behavior}@${step}`;
  };

  test('into the workspace is an edit of the workspace', () => {
    expect(rulingOf('default', 'make > log')).toBe('ask@callback');
    expect(rulingOf('acceptEdits', 'make > log')).toBe('allow@allow');
    expect(rulingOf('acceptEdits', 'echo x > log')).toBe('allow@mode');
    expect(rulingOf('acceptEdits', 'echo x > ../log')).toBe('ask@callback');
    expect(rulingOf('acceptEdits', 'cd .. && echo x > log')).toBe('ask@callback');
    expect(rulingOf('acceptEdits', 'touch log')).toBe('ask@callback');
  });

  test('into a control file requires a question in every mode', () => {
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
      expect(rulingOf(mode, 'echo x > .claude/settings.json')).toBe('ask@ask');
      expect(rulingOf(mode, 'echo x > .git/hooks/pre-commit')).toBe('ask@ask');
    }
  });
});
