import { expect, test } from 'vitest';
import { keyName } from '../../../src/ui/screen/key-name.js';

test.each([
  [{ name: 'j', sequence: 'j' }, 'j'],
  [{ name: 'g', sequence: 'G', shift: true }, 'G'],
  [{ sequence: '?' }, '?'],
  [{ name: 'space', sequence: ' ' }, 'space'],
  [{ name: 'c', sequence: '\u0003', ctrl: true }, 'C-c'],
  [{ name: 'b', sequence: '\u001bb', meta: true }, 'M-b'],
  [{ name: 'tab', sequence: '\u001b[Z', shift: true }, 'S-tab'],
  [{ name: 'up', sequence: '\u001b[A' }, 'up'],
  [{ name: 'escape', sequence: '\u001b\u001b', meta: true }, 'escape'],
  [{ sequence: '語' }, ''],
])('the name of the key %j is "%s"', (key, name) => {
  expect(keyName(key)).toBe(name);
});
