/** Runs agents in this process with the library from its sources and a simulated model. */

import type { ResultMessage, SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import { openSessionWith, type Query, queryWith } from '../../../src/sdk/api/query.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { PROGRAM, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';
import { WATCHDOG } from '../../host/process/processes.js';

export const PROGRAMS = { watchdog: WATCHDOG, skein: [process.execPath, PROGRAM] };
export const query = queryWith(PROGRAMS);
export const openSession = openSessionWith(PROGRAMS);

export interface Program extends Scene {
  /** Options that isolate a run from the machine. */
  readonly options: QueryOptions;
  ask(prompt: string, options?: QueryOptions): Query;
}

export const program = async (rules?: Rules): Promise<Program> => {
  const scene = await setScene(rules);
  const options: QueryOptions = {
    cwd: scene.workspace,
    skeinHome: scene.skeinHome,
    baseUrl: scene.simulator.url,
    apiKey: 'simulated',
    env: { PATH: process.env.PATH, HOME: scene.home, TMPDIR: scene.tmp, IS_SANDBOX: '1' },
  };
  return {
    ...scene,
    options,
    ask: (prompt, more = {}) => query({ prompt, options: { ...options, ...more } }),
  };
};

export const all = async (messages: AsyncIterable<SkeinMessage>): Promise<SkeinMessage[]> => {
  const seen: SkeinMessage[] = [];
  for await (const message of messages) seen.push(message);
  return seen;
};

export const resultOf = async (messages: AsyncIterable<SkeinMessage>): Promise<ResultMessage> => {
  const last = (await all(messages)).at(-1);
  if (last?.type !== 'result') throw new Error(`The last message is of the type ${last?.type}.`);
  return last;
};

/** Returns the types of the messages in order, such as `system/init` and `assistant`. */
export const kinds = (messages: readonly SkeinMessage[]): string[] =>
  messages.map((it) => (it.type === 'system' ? `system/${it.subtype}` : it.type));

/** Returns the tool results that the model saw, as text. */
export const toolTexts = (messages: readonly SkeinMessage[]): string[] =>
  messages.flatMap((it) =>
    it.type === 'user'
      ? it.message.content.map(({ content, is_error }) => {
          const text = typeof content === 'string' ? content : JSON.stringify(content);
          return is_error === true ? `error: ${text}` : text;
        })
      : [],
  );
