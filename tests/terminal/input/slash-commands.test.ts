import { describe, expect, test } from 'vitest';
import {
  explainUnknown,
  helpText,
  parseTypedLine,
  SLASH_COMMANDS,
} from '../../../src/terminal/input/slash-commands.js';

describe('a typed line', () => {
  test.each([
    ['hello /help', { kind: 'prompt', text: 'hello /help' }],
    ['//etc/hosts', { kind: 'prompt', text: '/etc/hosts' }],
    ['///', { kind: 'prompt', text: '//' }],
    [' /help ', { kind: 'command', name: 'help', rest: '' }],
    [
      '/Compact the  plan\nand more',
      { kind: 'command', name: 'compact', rest: 'the  plan\nand more' },
    ],
    ['/quit', { kind: 'command', name: 'exit', rest: '' }],
    ['/resume 3', { kind: 'command', name: 'resume', rest: '3' }],
    ['/helpless', { kind: 'unknown', name: 'helpless' }],
    ['/', { kind: 'unknown', name: '' }],
    ['/constructor', { kind: 'unknown', name: 'constructor' }],
  ])('%j is parsed', (line, expected) => {
    expect(parseTypedLine(line)).toEqual(expected);
  });
});

describe('help', () => {
  test.each(['lines', 'keys', 'screen'] as const)(
    'names every command for input by %s',
    (typing) => {
      for (const { name } of SLASH_COMMANDS) expect(helpText(typing)).toContain(`/${name}`);
    },
  );

  test('lists keys only if the terminal reads keys', () => {
    expect(helpText('keys')).toContain('Ctrl-R');
    expect(helpText('lines')).not.toContain('Ctrl-R');
    expect(helpText('lines')).toContain('"""');
  });

  test('lists every command after an unknown command', () => {
    for (const { name } of SLASH_COMMANDS) expect(explainUnknown('x')).toContain(`/${name}`);
  });
});
