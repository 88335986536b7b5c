/** A program that runs agents, in this very process: the library from its sources, a simulator as the model. */

import type { ResultMessage, SkeinMessage } from '../../../src/sdk/api/messages/messages.js';
import { openSessionWith, type Query, queryWith } from '../../../src/sdk/api/query.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { PROGRAM, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';
import { WATCHDOG } from '../../host/process/processes.js';

export const PROGRAMS = { watchdog: WATCHDOG, skein: [process.execPath, PROGRAM] };
export const query = queryWith(PROGRAMS);
export const openSession = openSessionWith(PROGRAMS);

export interface Program extends Scene {
  /** Everything that keeps a run away from the machine it runs on. */
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

/** `system/init`, `assistant`, …: what came, in order. */
export const kinds = (messages: readonly SkeinMessage[]): string[] =>
  messages.map((it) => (it.type === 'system' ? `system/${it.subtype}` : it.type));

/** The results that the model was shown, as text. */
export const toolTexts = (messages: readonly SkeinMessage[]): string[] =>
  messages.flatMap((it) =>
    it.type === 'user'
      ? it.message.content.map(({ content, is_error }) => {
          const text = typeof content === 'string' ? content : JSON.stringify(content);
          return is_error === true ? `error: ${text}` : text;
        })
      : [],
  );
