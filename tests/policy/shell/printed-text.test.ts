import { describe, expect, test } from 'vitest';
import { bash, policyOf, rule } from '../policy-fixtures.js';

/** Commands that print `rm`. */
const PRINTS_RM = [
  'echo rm',
  'echo -n rm',
  String.raw`echo -e '\162m'`,
  String.raw`echo -e '\x72\x6d'`,
  String.raw`printf '\u0072m'`,
  String.raw`printf -- '%s%b' r '\x6d'`,
  "printf '%s%%' r | tr % m",
  'echo mr | rev',
  'echo qm | tr q r',
  'echo bm | tr a-c q-s | tr r-s r',
  'echo rxm | tr -d x',
  'echo cm0= | base64 -d',
  'echo cm0= | base64 --decode',
  'echo 726d | xxd -r -p',
  'cat <<< rm',
  'cat < <(echo rm)',
  'cat <<E\nrm\nE\n',
  "cat <<'E'\nrm\nE\n",
  ['cat <<E\n', '{x}m\nE\n'].join('$'),
  'echo rm | cat -',
  'echo rm | tee',
  '{ echo rm; }',
  ' ( echo rm )',
  ': ; true; echo rm',
];

describe('a program whose name another command prints', () => {
  test.each(PRINTS_RM)('is denied if it is forbidden: %j', (command) => {
    const policy = policyOf({ mode: 'bypassPermissions' });
    expect(policy.rule(bash(`x=r; $(${command}) -rf /`)).behavior).toBe('deny');
  });

  test.each([
    ['xrm', '{x#x}'],
    ['rmx', '{x%x}'],
    ['rxm', '{x/x/}'],
    ['rxxm', '{x//x/}'],
    ['RM', '{x,,}'],
    ['Rm', '{x,}'],
    ['arm', '{x:1}'],
    ['armx', '{x:1:2}'],
    ['', '{x:-rm}'],
    ['rm', '{x:-ls}'],
  ])('is denied if an expansion of %j makes it forbidden: %s', (value, expansion) => {
    const policy = policyOf({ mode: 'bypassPermissions' });
    expect(policy.rule(bash(`x=${value}; $${expansion} -rf /`)).behavior).toBe('deny');
  });

  test.each(['parallel rm -rf {} ::: /', 'watch -n 1 rm -rf /', 'busybox rm -rf /'])(
    'is not allowed behind a program that starts it: %s',
    (line) => {
      const policy = policyOf({ mode: 'bypassPermissions' });
      expect(policy.rule(bash(line)).behavior).not.toBe('allow');
    },
  );

  test.each([
    'cat name',
    'echo cm0= | base64',
    'rev',
    'tr a b',
    'xxd -p',
    'tr -s a',
    'cat a | rev',
  ])('is doubtful if the text does not tell it: %j', (command) => {
    const policy = policyOf({ rules: [rule('allow', 'Bash')] });
    expect(policy.rule(bash(`$(${command}) -rf /`)).behavior).toBe('ask');
  });
});

describe('a value that another command prints', () => {
  const policy = policyOf({ rules: [rule('allow', 'Bash')] });

  test.each([
    'wc -l',
    'grep -c x f',
    'git rev-list --count HEAD',
    'stat -c %s f',
    'seq 3',
    'nproc',
    'date +%s',
  ])('may be used in arithmetic if it is a number: %s', (command) => {
    expect(policy.rule(bash(`n=$(${command}); echo $((n + 1))`)).behavior).toBe('allow');
  });

  test.each(['wc -l f', 'grep -rc x .', 'git log', 'stat -c %n f', 'cat f'])(
    'is doubtful in arithmetic otherwise: %s',
    (command) => {
      expect(policy.rule(bash(`n=$(${command}); echo $((n + 1))`)).behavior).toBe('ask');
    },
  );
});
