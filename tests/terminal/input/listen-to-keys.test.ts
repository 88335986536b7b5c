import { EventEmitter } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type KeyListener, listenToKeys } from '../../../src/terminal/input/listen-to-keys.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { eventually } from '../../fakes/eventually.js';

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';

describe('a paste without an end marker', () => {
  const keyboardWithFakeTimers = () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    return keyboard();
  };

  test('ends after a silence, and keys are received again', () => {
    const { received, send } = keyboardWithFakeTimers();
    send(`${BEGIN}one`);
    vi.advanceTimersByTime(4500);
    send(' two\u001b[20');
    vi.advanceTimersByTime(4500);
    expect(received).toEqual([]);
    vi.advanceTimersByTime(1000);
    send('x');
    expect(received).toEqual(['paste one two', 'x']);
  });

  test('ends at Ctrl-C, and the key is received', () => {
    const { received, send } = keyboardWithFakeTimers();
    send(`${BEGIN}one`);
    send('\u0003');
    expect(received).toEqual(['paste one', 'C-c']);
    vi.advanceTimersByTime(25000);
    expect(received).toHaveLength(2);
  });

  test('is dropped if the listener closes', () => {
    const { received, send, close } = keyboardWithFakeTimers();
    send(`${BEGIN}one`);
    close();
    vi.advanceTimersByTime(25000);
    expect(received).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('continues with unread input after the process was busy', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { received, send } = keyboard();
    send(`${BEGIN}one`);
    vi.advanceTimersByTime(5_000);
    send(' two');
    await new Promise((resolve) => setImmediate(resolve));
    send(END);
    expect(received).toEqual(['paste one two']);
  });
});

const keyboard = () => {
  const modes: boolean[] = [];
  const stdin = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
    resume: () => {},
    pause: () => {},
  });
  const written: string[] = [];
  const received: string[] = [];
  const registered = new Set<() => void>();
  const listener: KeyListener = {
    key: ({ name, ctrl, meta }) => received.push(`${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`),
    paste: (text) => received.push(`paste ${text}`),
    end: () => received.push('end'),
  };
  const continued = new Set<() => void>();
  const host = {
    onContinue: (listener: () => void) => {
      continued.add(listener);
      return () => continued.delete(listener);
    },
    stdin: stdin as unknown as TerminalHost['stdin'],
    out: (text: string) => written.push(text),
    restoreAtExit: (restore: () => void) => {
      registered.add(restore);
      return () => registered.delete(restore);
    },
  };
  const open = () => listenToKeys(host, listener);
  const close = open();
  onTestFinished(close);
  const send = (text: string) => stdin.emit('data', Buffer.from(text));
  return { stdin, modes, written, received, registered, continued, send, open, close };
};

describe('the keyboard', () => {
  test('reports keys by name and a paste as a whole', () => {
    const { received, send } = keyboard();
    send(`a\u0003\r\u001b[A\u001b\r${BEGIN}x\ny${END}`);
    expect(received).toEqual(['a', 'C-c', 'return', 'up', 'M-return', 'paste x\ny']);
  });

  test('reports a single Esc after a delay', async () => {
    const { received, send } = keyboard();
    send('\u001b');
    await eventually('the key was received', () => received.length === 1);
    expect(received[0]).toMatch(/escape$/);
  });

  test('decodes a character that arrives in two chunks', () => {
    const { received, stdin } = keyboard();
    const [first, ...rest] = Buffer.from('é');
    stdin.emit('data', Buffer.from([first ?? 0]));
    stdin.emit('data', Buffer.from(rest));
    expect(received).toHaveLength(1);
  });

  test('restores the terminal once, at process exit or at close', () => {
    const { modes, written, registered, close } = keyboard();
    expect([modes, written]).toEqual([[true], ['\u001b[?2004h']]);
    for (const restore of registered) restore();
    close();
    expect([modes, written]).toEqual([
      [true, false],
      ['\u001b[?2004h', '\u001b[?2004l'],
    ]);
    expect(registered.size).toBe(0);
  });

  test('enters raw mode again when a stopped process continues', () => {
    const { modes, written, continued, close } = keyboard();
    for (const notify of continued) notify();
    expect([modes, written]).toEqual([
      [true, false, true],
      ['\u001b[?2004h', '\u001b[?2004h'],
    ]);
    close();
    expect(continued.size).toBe(0);
  });

  test('adds no listeners when reopened, and ignores an error after close', () => {
    const { stdin, received, open, close } = keyboard();
    stdin.emit('error', new Error('EIO'));
    expect(received).toEqual(['end']);
    close();
    const once = stdin.listenerCount('error');
    for (let at = 0; at < 20; at++) open()();
    expect(stdin.listenerCount('error')).toBe(once);
    stdin.emit('error', new Error('EIO'));
    expect(received).toEqual(['end']);
  });
});
