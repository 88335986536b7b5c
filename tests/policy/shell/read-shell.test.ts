// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell expands these, not JavaScript.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readShell } from '../../../src/policy/shell/reading/read-shell.js';
import { joinWords } from '../../../src/policy/shell/shell-word.js';

const WORLD = {
  home: '/home/ada',
  roots: ['/repo'],
  ignoreCase: false,
  realPath: (path: string) => path.replace(/^\/repo\/link/, '/etc/deep'),
};
const analyse = (command: string) => readShell(command, '/repo', WORLD);
const partsOf = (command: string) =>
  analyse(command)
    .parts.filter(({ words }) => words.length > 0)
    .map(({ words }) => joinWords(words));
const dirsOf = (command: string, program: string) =>
  analyse(command)
    .parts.filter(({ words }) => words[0]?.text === program)
    .map(({ dirs, areDirsIncomplete: isLost }) => (isLost ? undefined : dirs))[0];

describe('the analysis of a command line', () => {
  test.each([
    ['a b; c | d && e || f & g', ['a b', 'c', 'd', 'e', 'f', 'g']],
    ['a $(b "$(c)") `d` <(e)', ['b \0', 'c', 'd', 'e', 'a \0 \0 \0']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for x in $(a); do b; done; while c; do d; done', ['a', 'b', 'c', 'd']],
    ['case $(a) in x) b ;; y) c ;; esac', ['a', 'b', 'c']],
    ['f() { a; }; (b; { c; })', ['function f', 'a', 'b', 'c']],
    ['[[ $(a) ]] && (( $(b) ))', ['a', 'b']],
    ['env X=1 a b', ['env X=1 a b', 'a b']],
    ['timeout 5 nice -n 3 a', ['timeout 5 nice -n 3 a', 'nice -n 3 a', 'a']],
    [`bash -c "a; b 'c d'"`, ["bash -c a; b 'c d'", 'a', 'b c d']],
    ['find . -exec a {} \\; -exec b {} +', ['find . -exec a {} ; -exec b {} +', 'a \0', 'b \0']],
    ['cat <<X\n$(a)\nX', ['a', 'cat']],
    ["cat <<'X'\n$(a)\nX", ['cat']],
    ['! time a', ['a']],
  ])('finds every program in %j', (command, parts) => {
    expect(partsOf(command).toSorted()).toEqual(parts.toSorted());
  });

  test.each([
    ['cd src && x', ['/repo/src']],
    ['cd src; x', ['/repo/src', '/repo']],
    ['cd src || x', ['/repo']],
    ['cd src || exit; x', ['/repo/src']],
    ['(cd src); x', ['/repo']],
    ['cd src | x', ['/repo']],
    ['cd src & x', ['/repo']],
    ['{ cd src; } && x', ['/repo/src']],
    ['cd && x', ['/home/ada']],
    ['cd ~/a && x', ['/home/ada/a']],
    ['cd link && x', ['/repo/link', '/etc/deep']],
    ['cd src && cd .. && x', ['/repo']],
    ['command cd src && x', ['/repo/src']],
    ['eval cd src && x', ['/repo/src']],
    ['env -C src x', ['/repo/src']],
    ['cd $y && x', undefined],
    ['cd - && x', undefined],
    ['popd && x', undefined],
    ['while a; do cd ..; done; x', undefined],
    ['f() { cd /; }; f; x', undefined],
  ])('knows the working directory after %j', (command, dirs) => {
    expect(dirsOf(command, 'x')).toEqual(dirs);
  });

  test.each([
    ['too long', 'x '.repeat(100_000)],
    ['too long', `echo ${'x'.repeat(200_000)}`],
    ['too deeply', `${'$('.repeat(60)}x${')'.repeat(60)}`],
    ['too deeply', `${'( '.repeat(3000)}x${' )'.repeat(3000)}`],
    ['too deeply', `${'bash -c "'.repeat(1)}${'nice '.repeat(50)}x"`],
    ['too many', 'x;'.repeat(5000)],
    ['not valid shell', '$('.repeat(60_000)],
    ['not valid shell', '"'.repeat(9)],
    ['a NUL', 'a\0b'],
  ])('reports a doubt if the command is %s', (_, command) => {
    expect(analyse(command).doubts).not.toEqual([]);
  });

  test('never throws, and its doubts are sentences', () => {
    const pieces = [
      'a',
      'rm',
      ' ',
      ' ',
      '\n',
      '"',
      "'",
      '\\',
      '`',
      '$',
      '$(',
      '${',
      '$((',
      '))',
      '(',
      ')',
      '{',
      '}',
      ';',
      '&',
      '|',
      '<',
      '>',
      '<<E\n',
      '\nE\n',
      '<(',
      '#',
      '=',
      '*',
      '~',
      '[[',
      ']]',
      'if ',
      'then ',
      'fi',
      'for ',
      'do ',
      'done',
      'case ',
      'esac',
      'in ',
      'f() ',
      'env ',
      'eval ',
      'bash -c ',
      'xargs ',
      'sudo ',
      'cd ',
      '-c',
      '--',
      '!',
      'time ',
      'coproc ',
      '\r',
      '\u00a0',
    ];
    const command = fc
      .array(fc.constantFrom(...pieces), { maxLength: 24 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(command, (text) => {
        const { parts, doubts } = analyse(text);
        for (const { words } of parts)
          for (const { text } of words) expect(typeof text).toBe('string');
        expect(doubts.every((doubt) => doubt.endsWith('.'))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the words of a command', () => {
  const letters = fc.string({
    unit: fc.constantFrom(...'ab1 \t$"\'\\`*?[]{}~#;&|<>()!=-.,/é\n'.split('')),
    minLength: 1,
    maxLength: 5,
  });
  const escaped = letters.map((text) => text.replaceAll('\n', '').replaceAll(/[^\wé]/g, '\\$&'));
  const single = letters.map((text) => `'${text.replaceAll("'", '')}'`);
  const double = letters.map((text) => `"${text.replaceAll(/["\\$`!]/g, '\\$&')}"`);
  const ansi = fc
    .constantFrom(
      'a',
      '\\x41',
      '\\101',
      '\\n',
      "\\'",
      '\\\\',
      '\\u00e9',
      '\\t',
      '\\e',
      '\\cA',
      '\\?',
      '\\z',
    )
    .map((text) => `$'${text}'`);
  const bare = fc.constantFrom(
    'a',
    'b-c',
    '-x',
    '.',
    '/',
    '$HOME',
    '${HOME}',
    '"$HOME"',
    '=',
    'x=1',
    '%',
    '@',
    '\\\n',
  );
  const piece = fc.oneof(escaped, single, double, ansi, bare);
  const word = fc
    .tuple(fc.constantFrom('', '', '', '~', '~/'), fc.array(piece, { minLength: 1, maxLength: 4 }))
    .map(([start, rest]) => start + rest.join(''));
  const blank = fc.constantFrom(' ', '  ', '\t', ' \\\n ');
  const line = fc
    .array(fc.tuple(blank, word), { minLength: 1, maxLength: 5 })
    .map((words) => `printf '<%s>' x${words.flat().join('')} # $(no) 'word`);

  test.each(['$HOME\\\na', '$HO\\\nME', '"$HOME\\\n_x"', '$\\\nHOME'])(
    'are dynamic if a variable name continues on the next line: %j',
    (word) => {
      const { parts } = analyse(`printf x ${word}`);
      expect(parts[0]?.words.at(-1)).toMatchObject({ dynamic: true });
    },
  );

  test('equal the words that a real bash passes to the program', () => {
    const lines = fc.sample(line, 1500);
    const { stdout } = spawnSync(
      '/bin/bash',
      ['--norc', '-c', lines.map((line) => `${line}\nprintf '\\0'\n`).join('')],
      {
        encoding: 'utf8',
        cwd: mkdtempSync(join(tmpdir(), 'words-')),
        maxBuffer: 1 << 26,
        env: { HOME: '/home/ada', PATH: '/bin:/usr/bin', LC_ALL: 'C.UTF-8' },
      },
    );
    const printed = stdout.split('\0');
    let compared = 0;
    for (const [index, command] of lines.entries()) {
      const { parts, doubts } = analyse(command);
      expect({ command, doubts }).toEqual({ command, doubts: [] });
      const words = parts[0]?.words.slice(2) ?? [];
      if (words.some(({ dynamic }) => dynamic)) continue;
      compared += 1;
      expect({ command, words: words.map(({ text }) => `<${text}>`).join('') }).toEqual({
        command,
        words: printed[index],
      });
    }
    expect(compared).toBeGreaterThan(1000);
  });
});
