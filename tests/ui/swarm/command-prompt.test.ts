import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CommandPrompt } from '../../../src/ui/swarm/command-prompt.js';
import type { SwarmSteering } from '../../../src/ui/swarm/swarm-data-source.js';

const DOCS = { session: 's_one', id: 'a_docs', called: 'docs', below: 0 };

/** Steering whose outcomes the test controls. */
const setUp = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const signals: AbortSignal[] = [];
  let reply: (sentence: string) => void = () => {};
  const told = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((resolve) => {
      reply = resolve;
    });
  };
  const steering: SwarmSteering = {
    send: (_session, _agent, _text, signal) => told(signal),
    stop: (_session, _agent, signal) => told(signal),
    resume: (_session, _agent, signal) => told(signal),
    onDefect: (defect) => {
      throw defect;
    },
  };
  const changed = vi.fn<() => void>();
  const desk = new CommandPrompt(steering, changed);
  const replied = async (sentence: string) => {
    reply(sentence);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { desk, changed, signals, replied };
};

const ORDERS: Readonly<Record<string, (desk: CommandPrompt) => void>> = {
  resume: (desk) => desk.resume(DOCS),
  stop: (desk) => {
    desk.askToStop(DOCS);
    desk.press({ name: 'y', sequence: 'y' });
  },
  message: (desk) => {
    desk.write(DOCS);
    desk.paste('hey');
    desk.press({ name: 'return' });
  },
};

describe('whoever steers an agent and leaves', () => {
  test.each(Object.keys(ORDERS))('does not wait for the reply to a %s', async (order) => {
    const { desk, changed, signals, replied } = setUp();
    ORDERS[order]?.(desk);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    desk.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await replied('docs has it.');
    expect(vi.getTimerCount()).toBe(0);
    expect(changed).not.toHaveBeenCalled();
  });

  test('leaves nothing behind of what was said before', async () => {
    const { desk, replied } = setUp();
    desk.resume(DOCS);
    await replied('docs goes on.');
    expect(desk.view(80)?.lines).toEqual(['docs goes on.']);
    desk.close();
    desk.showNotice('Something else.');
    expect(vi.getTimerCount()).toBe(0);
  });
});
