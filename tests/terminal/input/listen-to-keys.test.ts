import { EventEmitter } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type KeyListener, listenToKeys } from '../../../src/terminal/input/listen-to-keys.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { eventually } from '../../host/process/processes.js';

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';

describe('a paste whose end never comes', () => {
  const patiently = () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    return keyboard();
  };

  test('is over after a silence, and keys are heard again', () => {
    const { heard, send } = patiently();
    send(`${BEGIN}one`);
    vi.advanceTimersByTime(4500);
    send(' two\u001b[20');
    vi.advanceTimersByTime(4500);
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(1000);
    send('x');
    expect(heard).toEqual(['paste one two', 'x']);
  });

  test('is over at a Ctrl-C, which is heard', () => {
    const { heard, send } = patiently();
    send(`${BEGIN}one`);
    send('\u0003');
    expect(heard).toEqual(['paste one', 'C-c']);
    vi.advanceTimersByTime(25000);
    expect(heard).toHaveLength(2);
  });

  test('is not told to those who have given the keyboard back', () => {
    const { heard, send, close } = patiently();
    send(`${BEGIN}one`);
    close();
    vi.advanceTimersByTime(25000);
    expect(heard).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('goes on with what waits to be read when a process was busy for long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { heard, send } = keyboard();
    send(`${BEGIN}one`);
    vi.advanceTimersByTime(5_000);
    send(' two');
    await new Promise((resolve) => setImmediate(resolve));
    send(END);
    expect(heard).toEqual(['paste one two']);
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
  const heard: string[] = [];
  const registered = new Set<() => void>();
  const listener: KeyListener = {
    key: ({ name, ctrl, meta }) => heard.push(`${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`),
    paste: (text) => heard.push(`paste ${text}`),
    end: () => heard.push('end'),
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
  return { stdin, modes, written, heard, registered, continued, send, open, close };
};

describe('the keyboard', () => {
  test('tells keys by their names, and pastes as a whole', () => {
    const { heard, send } = keyboard();
    send(`a\u0003\r\u001b[A\u001b\r${BEGIN}x\ny${END}`);
    expect(heard).toEqual(['a', 'C-c', 'return', 'up', 'M-return', 'paste x\ny']);
  });

  test('tells a single Esc a moment later', async () => {
    const { heard, send } = keyboard();
    send('\u001b');
    await eventually('the key was heard', () => heard.length === 1);
    expect(heard[0]).toMatch(/escape$/);
  });

  test('keeps a character whole that arrives in two pieces', () => {
    const { heard, stdin } = keyboard();
    const [first, ...rest] = Buffer.from('é');
    stdin.emit('data', Buffer.from([first ?? 0]));
    stdin.emit('data', Buffer.from(rest));
    expect(heard).toHaveLength(1);
  });

  test('gives the terminal back once, also when the process ends', () => {
    const { modes, written, registered, close } = keyboard();
    expect([modes, written]).toEqual([[true], ['\u001b[?2004h']]);
    for (const giveBack of registered) giveBack();
    close();
    expect([modes, written]).toEqual([
      [true, false],
      ['\u001b[?2004h', '\u001b[?2004l'],
    ]);
    expect(registered.size).toBe(0);
  });

  test('takes the terminal again when the process goes on that was stopped from outside', () => {
    const { modes, written, continued, close } = keyboard();
    for (const goOn of continued) goOn();
    expect([modes, written]).toEqual([
      [true, false, true],
      ['\u001b[?2004h', '\u001b[?2004h'],
    ]);
    close();
    expect(continued.size).toBe(0);
  });

  test('leaves nothing behind however often it is closed, and a late error ends nothing', () => {
    const { stdin, heard, open, close } = keyboard();
    stdin.emit('error', new Error('EIO'));
    expect(heard).toEqual(['end']);
    close();
    const once = stdin.listenerCount('error');
    for (let at = 0; at < 20; at++) open()();
    expect(stdin.listenerCount('error')).toBe(once);
    stdin.emit('error', new Error('EIO'));
    expect(heard).toEqual(['end']);
  });
});
