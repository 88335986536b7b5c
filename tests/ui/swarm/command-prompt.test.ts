import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CommandPrompt } from '../../../src/ui/swarm/command-prompt.js';
import type { SwarmSteering } from '../../../src/ui/swarm/swarm-data-source.js';

const DOCS = { session: 's_one', id: 'a_docs', called: 'docs', below: 0 };

/** Command prompt with replies that the test controls. */
const setUp = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const signals: AbortSignal[] = [];
  let reply: (sentence: string) => void = () => {};
  const pendingReply = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((resolve) => {
      reply = resolve;
    });
  };
  const steering: SwarmSteering = {
    send: (_session, _agent, _text, signal) => pendingReply(signal),
    stop: (_session, _agent, signal) => pendingReply(signal),
    resume: (_session, _agent, signal) => pendingReply(signal),
    onDefect: (defect) => {
      throw defect;
    },
  };
  const changed = vi.fn<() => void>();
  const prompt = new CommandPrompt(steering, changed);
  const replied = async (sentence: string) => {
    reply(sentence);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { prompt, changed, signals, replied };
};

const COMMANDS: Readonly<Record<string, (prompt: CommandPrompt) => void>> = {
  resume: (prompt) => prompt.resume(DOCS),
  stop: (prompt) => {
    prompt.askToStop(DOCS);
    prompt.press({ name: 'y', sequence: 'y' });
  },
  message: (prompt) => {
    prompt.write(DOCS);
    prompt.paste('hey');
    prompt.press({ name: 'return' });
  },
};

describe('a closed command prompt', () => {
  test.each(Object.keys(COMMANDS))('does not wait for the reply to a %s', async (command) => {
    const { prompt, changed, signals, replied } = setUp();
    COMMANDS[command]?.(prompt);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    prompt.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await replied('docs has it.');
    expect(vi.getTimerCount()).toBe(0);
    expect(changed).not.toHaveBeenCalled();
  });

  test('has no timers of earlier notices', async () => {
    const { prompt, replied } = setUp();
    prompt.resume(DOCS);
    await replied('docs goes on.');
    expect(prompt.view(80)?.lines).toEqual(['docs goes on.']);
    prompt.close();
    prompt.showNotice('Something else.');
    expect(vi.getTimerCount()).toBe(0);
  });
});
