import { describe, expect, test } from 'vitest';
import { isCompoundCommand } from '../../src/tools/compound-command.js';
import { startsSkein } from '../../src/tools/forbidden-program.js';
import { runCommand } from '../../src/tools/run-command.js';

describe('a plain command', () => {
  test.each([
    'ls -la',
    'git commit -m "fix(tools): cut; do not tear"',
    "grep -rn 'a|b' src",
    "awk '{print $1}' file",
    'echo "costs $5"',
    'ls $HOME/src',
    'grep a\\|b file',
    'git commit -m "one\n\ntwo"',
    'ls *.ts',
    'node --test=x',
    'git log a#b',
  ])('is one program with arguments: %s', (command) => {
    expect(isCompoundCommand(command)).toBe(false);
  });
});

describe('a compound command', () => {
  test.each([
    'a; b',
    'a && b',
    'a | b',
    'a &',
    'a\nb',
    'a\r\nb',
    'echo `b`',
    'echo $(b)',
    'echo "$(b)"',
    'echo "`b`"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours.
    'echo ${b:-c}',
    'echo "$[1+1]"',
    "echo $'a'",
    'a > b',
    'a < b',
    '(a)',
    '{ a; }',
    '$A b',
    'A=b c',
    'PATH+=x c',
    '! a',
    "a 'open",
    'a "open',
    'a \\',
    'a \\\n b',
    "a 'x'; b",
    'a "x\\"" ; b',
    'a \\\\; b',
    "a # '\nb #'",
    '# a',
  ])('is anything that may do more: %s', (command) => {
    expect(isCompoundCommand(command)).toBe(true);
  });
});

describe('skein itself', () => {
  test.each([
    'skein approve 1',
    './node_modules/.bin/skein ps',
    'npx skein approve 1',
    'npx --yes skein@latest approve 1',
    'npm exec -- skein approve 1',
    'node dist/skein.js approve 1',
    'env A=b skein ps',
    'sudo -u root skein ps',
    'timeout -s KILL 5 skein ps',
    'cd /tmp && skein ps',
    'true; skein ps',
    'echo $(skein ps)',
    'bash -c "skein ps"',
    "'sk'ein ps",
    's\\kein ps',
    'if skein ps; then true; fi',
    'ls | xargs skein send',
  ])('is denied however it is started: %s', (command) => {
    expect(startsSkein(command)).toBe(true);
    expect(runCommand.checkPermissions?.({ command }, 'default')).toMatchObject({
      behavior: 'deny',
    });
  });

  test.each([
    'grep skein README.md',
    'cd ~/src/skein',
    'ls /work/skein',
    'cat skein.md',
    'git log --grep skein',
  ])('may be spoken of: %s', (command) => {
    expect(startsSkein(command)).toBe(false);
    expect(runCommand.checkPermissions?.({ command }, 'default')).toBeUndefined();
  });

  test('is not the only reason to ask', () => {
    expect(runCommand.checkPermissions?.({ command: 'a; b' }, 'default')).toMatchObject({
      behavior: 'ask',
    });
  });
});
