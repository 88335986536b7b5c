/** Raw client: sends arbitrary bytes to a simulator and returns the response. */
import { afterEach } from 'vitest';
import type { ScriptInput } from '../../src/simulator/script.js';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/start-simulator.js';

const running: Simulator[] = [];
afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.close();
});

export const HEADERS = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' };

export const ASK = {
  model: 'claude-opus-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hello' }],
};

/** Starts a simulator that closes with the test. */
export const simulate = async (
  rules: ScriptInput['rules'],
  options: Omit<SimulatorOptions, 'script'> = {},
): Promise<Simulator> => {
  const simulator = await startSimulator({ script: { rules }, ...options });
  running.push(simulator);
  return simulator;
};

export const post = (
  { url }: Simulator,
  body: unknown,
  { path = '/v1/messages', headers = HEADERS as Record<string, string> } = {},
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Received part of a body, and whether the connection broke. */
export const drain = async (response: Response): Promise<{ text: string; broke: boolean }> => {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, broke: false };
  } catch {
    return { text, broke: true };
  }
};

export const eventNames = (text: string): string[] =>
  [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name ?? '');
