import { describe, expect, test } from 'vitest';
import { bash, policyOf, rule } from '../policy-fixtures.js';
import { printed, spelled } from './output-classes.js';

/** Programs around the command. A rule allows each of them, but not the command itself. */
const OUTER = [
  'awk sed split tar prlimit setpriv choom setarch linux64 sg xargs env command find sort rg',
  'echo printf cat base64 rev tr head tail cut grep uniq tac paste fmt dd stdbuf timeout builtin',
  'bash sh eval read printenv tee date expr yes cd nohup . mapfile set exec coproc cp chmod trap',
  'declare shift local export function f g [ true false',
].flatMap((names) => names.split(' ').map((name) => rule('allow', `Bash(${name}:*)`)));

/** A rule for `bash` allows to run any file, also a file that was written before. */
const RUNS_FILE = /\| (?:tee|dd of=)/;

describe('a command that a command line spells', () => {
  test.each(['default', 'bypassPermissions'] as const)(
    'is denied in mode %s if it is forbidden',
    (mode) => {
      const policy = policyOf({ rules: [...OUTER, rule('allow', 'Bash')], mode });
      const lines = [...printed('rm -rf /'), ...spelled('rm -rf /')];
      const missed = lines.filter((line) => policy.rule(bash(line)).behavior !== 'deny');
      expect(missed).toEqual([]);
    },
  );

  test('needs permission if rules allow only the commands around it', () => {
    const policy = policyOf({ rules: OUTER });
    const lines = [...printed('touch ran'), ...spelled('touch ran')].filter(
      (line) => !RUNS_FILE.test(line),
    );
    const allowed = lines.filter((line) => policy.rule(bash(line)).behavior === 'allow');
    expect(allowed).toEqual([]);
  });
});

/** Programs that print text of their arguments, which looks like a number to a reader of the command line. */
const PRINTS_ARGUMENT = [
  `expr 'a[$(touch ran)]' : '\\(.*\\)'`,
  `date +'a[$(touch ran)]'`,
  `seq -f 'a[$(touch ran)]%g' 1`,
  `mktemp -u 'a[$(touch ran)]XXXXXX'`,
];

test.each(PRINTS_ARGUMENT)('the output of %s is not harmless in arithmetic', (program) => {
  const policy = policyOf({ rules: [rule('allow', 'Bash')] });
  expect(policy.rule(bash(`x=$(${program}); echo $((x))`)).behavior).toBe('ask');
});

/** Scripts and options without a command. */
const ORDINARY = [
  `awk -F'|' '{print $1 "|" $2}' a`,
  `awk '/a|b/ || $1 ~ /c|d/ {print; n++} END {print n}' a`,
  `awk '{ if (a || b) print "system(x)" }' a`,
  `sed -e 's/one/e/;s/e/f/g' -i a`,
  `sed '/end/d;1,3s|a|b|g' a`,
  'sed -n "/re/,/e/p" a',
  'tar -I zstd -xf a.tar.zst',
  'tar --use-compress-program="zstd -19" -cf a.tar.zst a',
  'split -b 1M a',
  'sort -k2 -u a',
  'rg --pretty x',
  'sort a | uniq -c | head -5',
  'echo "rm -rf /" > notes.txt',
  'echo "rm -rf /" > notes.txt; cat notes.txt',
  'printf "%s\\n" "rm -rf /" | grep rm',
  `git commit -m "$(printf 'never run rm -rf /')"`,
  `python3 x.py --text 'rm -rf /'`,
  'for f in *.ts; do echo "$f" | sed s/ts/js/; done',
  'ls | xargs -n1 basename',
  'command -v node',
];

test('a command line with texts that no command runs stays allowed by a rule for every command', () => {
  const rules = [rule('allow', 'Bash'), rule('allow', 'Edit')];
  const policy = policyOf({ rules });
  const rulings = ORDINARY.map((line) => ({ line, behavior: policy.rule(bash(line)).behavior }));
  expect(rulings.filter(({ behavior }) => behavior !== 'allow')).toEqual([]);
});
