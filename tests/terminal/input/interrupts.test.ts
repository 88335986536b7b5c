import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { interrupts, signals } from '../../../src/terminal/input/interrupts.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Process that receives signals, with a log of their effects. */
const listening = () => {
  const source = new EventEmitter();
  const heard: string[] = [];
  const onInterrupt = interrupts(source, () => heard.push('quit'));
  const stop = onInterrupt(() => heard.push('interrupt'));
  return { source, heard, stop };
};

describe('Ctrl-C', () => {
  test('interrupts once, and quits when it is pressed again', () => {
    const { source, heard } = listening();
    source.emit('SIGINT');
    expect(heard).toEqual(['interrupt']);
    vi.advanceTimersByTime(1_000);
    source.emit('SIGINT');
    expect(heard).toEqual(['interrupt', 'quit']);
  });

  test('that arrives twice for one key is one', () => {
    const { source, heard } = listening();
    source.emit('SIGINT');
    vi.advanceTimersByTime(20);
    source.emit('SIGINT');
    expect(heard).toEqual(['interrupt']);
  });

  test.each(['SIGTERM', 'SIGHUP'])('is what %s does too', (signal) => {
    const { source, heard } = listening();
    source.emit(signal);
    expect(heard).toEqual(['interrupt']);
  });

  test('is nobody to hear after the run', () => {
    const { source, heard, stop } = listening();
    stop();
    source.emit('SIGINT');
    expect(heard).toEqual([]);
    expect(source.eventNames()).toEqual([]);
  });
});

describe('a host that decides itself', () => {
  test('hears every signal by its name, one key press once', () => {
    const source = new EventEmitter();
    const heard: string[] = [];
    const stop = signals(source)((signal) => heard.push(signal));
    source.emit('SIGINT');
    vi.advanceTimersByTime(20);
    source.emit('SIGINT');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGINT');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGTERM');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGHUP');
    expect(heard).toEqual(['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']);
    stop();
    expect(source.eventNames()).toEqual([]);
  });
});
