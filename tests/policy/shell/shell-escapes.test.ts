import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readShell } from '../../../src/policy/shell/reading/read-shell.js';
import type { ShellPart } from '../../../src/policy/shell/shell-part.js';
import { PERMISSION_MODES } from '../../../src/protocol/permission/permission-mode.js';
import { IS_WIDE } from '../../setup/wide.js';
import { bash, policyOf, rule } from '../policy-fixtures.js';
import { CORPUS, CORPUS_RULES } from './shell-corpus.js';

const single = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string) => `"${text.replaceAll(/["\\$`]/g, '\\$&')}"`;

/** Replaces `{}` in the command. */
const inFind = (it: string) => `find . -exec sh -c ${single(it)} \\;`;

/** Ways to wrap a command line. No wrapper makes a command safe. */
const WRAPS: readonly ((command: string) => string)[] = [
  (it) => `bash -c ${single(it)}`,
  (it) => `sh -c ${double(it)}`,
  (it) => `eval ${single(it)}`,
  (it) => `env A=1 bash -c ${single(it)}`,
  (it) => `sudo -n sh -c ${single(it)}`,
  (it) => `timeout 5 bash -c ${single(it)}`,
  (it) => `nohup nice -n 3 sh -c ${single(it)}`,
  (it) => `busybox sh -c ${single(it)}`,
  // A text of its own for each layer, because an outer xargs would replace the text of an inner one.
  (it) => `xargs -I_${it.length}_ sh -c ${single(it)}`,
  inFind,
  (it) => `env -S ${single(`bash -c ${single(it)}`)}`,
  (it) => `(${it}\n)`,
  (it) => `{ ${it}\n}`,
  (it) => `true && { ${it}\n}`,
  (it) => `if true; then ${it}\nfi`,
  (it) => `for i in 1; do ${it}\ndone`,
  (it) => `f() { ${it}\n}; f`,
  (it) => `echo "$(${it}\n)"`,
  (it) => `x=$(${it}\n)`,
  (it) => `cat <(${it}\n)`,
  (it) => `ls | { ${it}\n}`,
  (it) => `{ ${it}\n} > /dev/null 2>&1`,
  (it) => `bash <<'END_OF_SCRIPT'\n${it}\nEND_OF_SCRIPT`,
  (it) => `ls; ${it}`,
  (it) => `${it}\nls`,
  (it) => `time ${it}`,
  (it) => `! ${it}`,
  (it) => `# harmless\n${it}`,
];

const wraps = fc.array(fc.constantFrom(...WRAPS), { minLength: 1, maxLength: 4 });
const wrapped = (command: string, layers: readonly ((it: string) => string)[]) =>
  layers.reduce((inner, wrap) => wrap(inner), command);

/** Quotes each letter of a plain word in a random way. */
const disguise = (word: string, ways: readonly number[]) =>
  /^[\w./-]+$/.test(word)
    ? word
        .split('')
        .map((char, index) => {
          const hex = char.charCodeAt(0).toString(16);
          const spellings = [
            char,
            `\\${char}`,
            `'${char}'`,
            `"${char}"`,
            `$'\\x${hex}'`,
            `""${char}`,
            `\\\n${char}`,
          ];
          return spellings[(ways[index % ways.length] ?? 0) % spellings.length] ?? char;
        })
        .join('')
    : word;

const commandsRuled = (behavior: string) =>
  CORPUS.filter(({ ruling }) => ruling.startsWith(behavior)).flatMap(({ commands }) => commands);

/** `npm run test:soak` tries four times as many commands. */
const RUNS = IS_WIDE ? 1_600 : 400;

const ALLOW_ALL = { rules: [...CORPUS_RULES, rule('allow', 'Bash')] };
const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

describe('a denied command', () => {
  const denied = commandsRuled('deny');

  test('is not allowed in any wrapper, for any rules and mode', () => {
    const mode = fc.constantFrom(...PERMISSION_MODES);
    fc.assert(
      fc.property(fc.constantFrom(...denied), wraps, mode, (command, layers, name) => {
        fc.pre(!command.includes('{}') || !layers.includes(inFind));
        const ruling = policyOf({ ...ALLOW_ALL, mode: name }).rule(bash(wrapped(command, layers)));
        expect(ruling.behavior).not.toBe('allow');
      }),
      { numRuns: RUNS },
    );
  });

  test('stays denied in a single plain wrapper', () => {
    const plain = denied.filter((command) => !/[\n#&]|<<|^(?:cd|pushd)/.test(command));
    fc.assert(
      fc.property(
        fc.constantFrom(...plain),
        fc.constantFrom(...WRAPS.slice(0, 6)),
        (command, wrap) => {
          expect(policyOf(ALLOW_ALL).rule(bash(wrap(command))).behavior).toBe('deny');
        },
      ),
      { numRuns: 600 },
    );
  });

  test('is denied if its letters are quoted', () => {
    // A quoted keyword is an ordinary word.
    const plain = denied.filter(
      (command) => /^[\w./ -]+$/.test(command) && !command.startsWith('coproc'),
    );
    const ways = fc.array(fc.nat(6), { minLength: 1, maxLength: 12 });
    const gaps = fc.constantFrom(' ', '  ', '\t', ' \\\n');
    fc.assert(
      fc.property(fc.constantFrom(...plain), ways, gaps, (command, how, gap) => {
        const hidden = command
          .split(' ')
          .map((word) => disguise(word, how))
          .join(gap);
        expect({ hidden, behavior: policyOf(ALLOW_ALL).rule(bash(hidden)).behavior }).toEqual({
          hidden,
          behavior: 'deny',
        });
      }),
      { numRuns: RUNS },
    );
  });
});

/** False for an incomplete command line, whose meaning changes inside a wrapper. */
const isWhole = (command: string): boolean =>
  !/not valid shell/.test(policyOf(ALLOW_ALL).rule(bash(command)).reason);

describe('a command that requires a question', () => {
  test('is not allowed in a wrapper if a rule allows every command', () => {
    const dangerous = CORPUS.filter(
      ({ ruling, about }) => ruling === 'ask@ask' && !about.startsWith('installations'),
    )
      .flatMap(({ commands }) => commands)
      .filter(isWhole);
    fc.assert(
      fc.property(fc.constantFrom(...dangerous), wraps, (command, layers) => {
        const hidden = wrapped(command, layers);
        // Only the parser, not the shell, reads a lone `!` as a command.
        fc.pre(!/! && /.test(hidden));
        expect({ hidden, behavior: policyOf(ALLOW_ALL).rule(bash(hidden)).behavior }).not.toEqual({
          hidden,
          behavior: 'allow',
        });
      }),
      { numRuns: RUNS },
    );
  });

  test('is not allowed beside other commands', () => {
    const asked = commandsRuled('ask').filter(isWhole);
    const other = fc.constantFrom(...commandsRuled('allow'));
    const seam = fc.constantFrom(' && ', '; ', ' || ', '\n', ' & ', ' | ');
    fc.assert(
      fc.property(fc.constantFrom(...asked), other, seam, (command, beside, join) => {
        // After `cd src`, `../other` is another path.
        fc.pre(!/#|<<|\bcd\b/.test(beside));
        const both = beside + join + command;
        expect({
          both,
          behavior: policyOf({ rules: CORPUS_RULES }).rule(bash(both)).behavior,
        }).not.toEqual({ both, behavior: 'allow' });
      }),
      { numRuns: RUNS },
    );
  });
});

describe('any modified command', () => {
  test('has a ruling with a reason', () => {
    const all = CORPUS.flatMap(({ commands }) => commands);
    const junk = fc.string({
      unit: fc.constantFrom(...'ab \n\'"`$(){}[]<>|&;#\\*?~=-/!\0\u00a0'.split('')),
      maxLength: 3,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        fc.nat(60),
        fc.nat(5),
        junk,
        (command, at, cut, text) => {
          const changed = command.slice(0, at) + text + command.slice(at + cut);
          const ruling = policyOf({ rules: CORPUS_RULES }).rule(bash(changed));
          expect(STRICTNESS[ruling.behavior]).toBeDefined();
          expect(ruling.reason).toMatch(/\S.*\.$/s);
        },
      ),
      { numRuns: 2 * RUNS },
    );
  });
});

describe('a program that a real shell starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trip-'));
  writeFileSync(join(folder, 'TRIP'), '#!/bin/sh\necho TRIPPED >&2\n');
  chmodSync(join(folder, 'TRIP'), 0o755);
  const inBash = (command: string) =>
    spawnSync('/bin/bash', ['--norc', '-c', command], {
      encoding: 'utf8',
      cwd: folder,
      timeout: 5_000,
      input: '',
      env: { PATH: `${folder}:/bin:/usr/bin`, HOME: folder },
    }).stderr;
  const isFound = (command: string) => {
    const environment = {
      home: folder,
      roots: [folder],
      ignoreCase: false,
      realPath: (path: string) => path,
    };
    const { parts, doubts } = readShell(command, folder, environment);
    // The script file itself is not analysed.
    const runs = ({ words, redirects }: ShellPart) =>
      [...words.slice(0, 2), ...redirects.map(({ target }) => target)].some(
        ({ text }) => text === 'TRIP',
      );
    return doubts.length > 0 || parts.some(runs);
  };

  const PIECES = [
    'TRIP',
    'TRIP',
    'TRIP',
    'a',
    ' ',
    ' ',
    ' ',
    '\n',
    '\t',
    "'",
    "'",
    '"',
    '"',
    '\\',
    '#',
    ';',
    '&',
    '|',
    '`',
    '`',
    '$',
    '$(',
    '${x:-',
    '(',
    ')',
    ')',
    '{ ',
    '; }',
    '< ',
    '> /dev/null ',
    '=',
    '! ',
    '[',
    ']',
    '<(',
    '<<E\n',
    '\nE\n',
    '<<<',
    '\r',
    'env ',
    'eval ',
    'bash -c ',
    'sh ',
    'exec ',
    'command ',
    'nice ',
    'xargs ',
    'true',
    '&& ',
    '|| ',
    'if ',
    'then ',
    'fi',
    'time ',
  ];

  test('is found by the analysis, or the analysis has a doubt', () => {
    const command = fc
      .array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 10 })
      .map((parts) => parts.join(''))
      .filter((text) => text.includes('TRIP') && !isFound(text));
    fc.assert(
      fc.property(command, (text) => {
        expect({ text, stderr: inBash(text) }).not.toEqual({
          text,
          stderr: expect.stringContaining('TRIPPED'),
        });
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  test('is detected by the shell of this test', () => {
    expect(inBash('a; TRIP')).toContain('TRIPPED');
    expect(inBash("# '\nTRIP #'")).toContain('TRIPPED');
  });
});
