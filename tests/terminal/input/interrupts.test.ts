import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { interrupts, signals } from '../../../src/terminal/input/interrupts.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Process that receives signals, with a log of their effects. */
const listening = () => {
  const source = new EventEmitter();
  const log: string[] = [];
  const onInterrupt = interrupts(source, () => log.push('quit'));
  const stop = onInterrupt(() => log.push('interrupt'));
  return { source, log, stop };
};

describe('Ctrl-C', () => {
  test('interrupts at the first press and quits at the second', () => {
    const { source, log } = listening();
    source.emit('SIGINT');
    expect(log).toEqual(['interrupt']);
    vi.advanceTimersByTime(1_000);
    source.emit('SIGINT');
    expect(log).toEqual(['interrupt', 'quit']);
  });

  test('counts once if its signal arrives twice within 20 ms', () => {
    const { source, log } = listening();
    source.emit('SIGINT');
    vi.advanceTimersByTime(20);
    source.emit('SIGINT');
    expect(log).toEqual(['interrupt']);
  });

  test.each(['SIGTERM', 'SIGHUP'])('has the same effect as %s', (signal) => {
    const { source, log } = listening();
    source.emit(signal);
    expect(log).toEqual(['interrupt']);
  });

  test('has no listeners after the run', () => {
    const { source, log, stop } = listening();
    stop();
    source.emit('SIGINT');
    expect(log).toEqual([]);
    expect(source.eventNames()).toEqual([]);
  });
});

describe('a host with its own signal handler', () => {
  test('receives every signal by name, once for each key press', () => {
    const source = new EventEmitter();
    const log: string[] = [];
    const stop = signals(source)((signal) => log.push(signal));
    source.emit('SIGINT');
    vi.advanceTimersByTime(20);
    source.emit('SIGINT');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGINT');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGTERM');
    vi.advanceTimersByTime(1_000);
    source.emit('SIGHUP');
    expect(log).toEqual(['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']);
    stop();
    expect(source.eventNames()).toEqual([]);
  });
});
