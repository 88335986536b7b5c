/** Glob, Grep and LS. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const PATTERNS = fc.oneof(
  fc.constantFrom('*', '**', '**/**/**/*', '*.txt', '{a,b}*', '[!a]*', '[', '{', '\\', '!', '?'),
  fc.string({ minLength: 1, maxLength: 12 }),
);

const crowd = (count: number) => (bench: Bench) => {
  for (let index = 0; index < count; index += 1) {
    writeFileSync(join(bench.cwd, `folder/crowd-${index}.log`), 'crowd\n');
  }
};

export const glob: Entry = {
  tool: 'Glob',
  sample: { pattern: '*.txt' },
  endless: { pattern: '**/**/**/**/*' },
  draws: () => ({ pattern: PATTERNS }),
  cases: {
    'names at any depth, without ignored files': {
      input: { pattern: '*.txt' },
      end: 'ok',
      says: /folder\/inner\.txt/,
      after: (_, { text }) => expect(text).not.toMatch(/away\.txt|secret\.txt/),
    },
    'a pattern without a match': { input: { pattern: '*.rs' }, end: 'ok', says: /No file/ },
    'repeated stars': {
      input: { pattern: '**/**/**/**/**/**/**/*.nothing' },
      end: 'ok',
      says: /No file/,
    },
    'a thousand stars': {
      input: { pattern: '*a'.repeat(1_000) },
      end: 'ok',
      says: /No file/,
    },
    'braces with a million alternatives': {
      input: { pattern: '{a,b}'.repeat(20) },
      end: 'failed',
      says: /more than 256/,
    },
    'a pattern that leaves the folder': {
      input: { pattern: '../outside/*' },
      end: 'failed',
      says: /"\.\."/,
    },
    'an absolute pattern outside the folder': {
      input: { pattern: '/etc/*' },
      end: 'failed',
      says: /absolute/,
    },
    'a link out of the workspace, by not following it': {
      input: { pattern: 'folder-out/*' },
      end: 'ok',
      says: /No file/,
    },
    'a name with line breaks, on a single line': {
      input: { pattern: 'two*' },
      end: 'ok',
      says: /^[^\n]*two\\nlines\.txt[^\n]*$/,
    },
    'too many files': {
      first: crowd(300),
      input: { pattern: '*.log' },
      end: 'ok',
      says: /100 of 300/,
    },
    'a missing folder': {
      input: { pattern: '*', path: 'nowhere' },
      end: 'failed',
      says: /nowhere/,
    },
    'a NUL': { input: { pattern: '*', path: 'a\0b' }, end: 'failed', says: /NUL/ },
    'a pipe as folder': { input: { pattern: '*', path: 'pipe' }, end: 'failed', says: /pipe/ },
  },
};

export const grep: Entry = {
  tool: 'Grep',
  sample: { pattern: 'beta', output_mode: 'content' },
  endless: { pattern: '(x+x+)+y', multiline: true, output_mode: 'count' },
  draws: () => ({ pattern: PATTERNS, glob: PATTERNS, type: fc.constantFrom('ts', 'py', 'no') }),
  cases: {
    'lines with their numbers': {
      input: { pattern: 'beta', output_mode: 'content' },
      end: 'ok',
      says: /notes\.txt:2:beta/,
    },
    'files by default, without ignored files': {
      input: { pattern: 'alpha' },
      end: 'ok',
      says: /notes\.txt/,
      after: (_, { text }) => expect(text).not.toMatch(/away\.txt/),
    },
    'a pattern without a match': { input: { pattern: 'omega' }, end: 'ok', says: /Nothing below/ },
    'an invalid expression': {
      input: { pattern: '(' },
      end: 'failed',
      says: /expression|pattern/,
    },
    'an expression with exponential backtracking': {
      input: { pattern: '(a+)+$', path: 'explode.txt' },
      end: 'ok',
      says: /Nothing below|takes too long/,
    },
    'an expression too large to compile': {
      input: { pattern: '((((a{1000}){1000}){1000}){1000})' },
      onlyRipgrep: true,
      end: 'failed',
      says: /cannot be used/,
    },
    'look-around, which is not supported': {
      input: { pattern: '(?<=a)b' },
      end: 'failed',
      says: /look-?around/i,
    },
    'an option in place of an expression': {
      input: { pattern: '--files' },
      end: 'ok',
      says: /Nothing below/,
      after: (_, { text }) => expect(text).not.toContain('notes.txt'),
    },
    'an option in place of a glob': {
      input: { pattern: 'alpha', glob: '--no-ignore' },
      end: 'ok',
      says: /Nothing below/,
      after: (_, { text }) => expect(text).not.toContain('away.txt'),
    },
    'an unknown file type': {
      input: { pattern: 'a', type: 'klingon' },
      end: 'failed',
      says: /klingon/,
    },
    'a line of two million characters, by cutting it': {
      input: { pattern: 'the end', path: 'one-line.txt', output_mode: 'content' },
      end: 'ok',
      says: /one-line\.txt:1:x+/,
      after: (_, { text }) => expect(text.length).toBeLessThan(20_000),
    },
    'too many lines': {
      input: {
        pattern: 'line',
        path: 'many-lines.txt',
        output_mode: 'content',
        head_limit: 10_000,
      },
      end: 'ok',
      says: /offset/,
    },
    'a binary file, by skipping it': {
      input: { pattern: '.', path: 'binary.bin' },
      end: 'ok',
      says: /Nothing below/,
    },
    'a pipe': { input: { pattern: 'a', path: 'pipe' }, end: 'failed', says: /pipe/ },
    'a link out of the workspace, by not following it': {
      input: { pattern: 'secret' },
      end: 'ok',
      says: /Nothing below/,
      after: (_, { text }) => expect(text).not.toMatch(/secret\.txt|link-out/),
    },
  },
};

export const ls: Entry = {
  tool: 'LS',
  sample: { path: '.' },
  draws: () => ({ ignore: fc.array(PATTERNS, { maxLength: 4 }) }),
  cases: {
    'a directory': { input: {}, end: 'ok', says: /folder\/\n[\s\S]*notes\.txt \(17\)/ },
    'links, with their targets': {
      input: {},
      end: 'ok',
      says: /link-out -> \.\.\/outside\/secret\.txt/,
    },
    'names with line breaks, on a single line': { input: {}, end: 'ok', says: /two\\nlines\.txt/ },
    'names with terminal control characters': {
      input: {},
      end: 'ok',
      says: /red\.txt/,
      after: (_, { text }) => expect(text).not.toContain('\u001b'),
    },
    'ignored names': {
      input: { ignore: ['*.txt'] },
      end: 'ok',
      says: /folder/,
      after: (_, { text }) => expect(text).not.toContain('many-lines.txt'),
    },
    'an empty directory': { input: { path: 'bare' }, end: 'ok', says: /is empty/ },
    'too many entries': {
      first: crowd(1_200),
      input: { path: 'folder' },
      end: 'ok',
      says: /1000 of 1201/,
    },
    'a file': { input: { path: 'notes.txt' }, end: 'failed', says: /notes\.txt/ },
    'a pipe': { input: { path: 'pipe' }, end: 'failed', says: /pipe/ },
    'a missing directory': { input: { path: 'nowhere' }, end: 'failed', says: /nowhere/ },
    'a NUL': { input: { path: 'a\0b' }, end: 'failed', says: /NUL/ },
  },
};
