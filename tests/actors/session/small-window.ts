/** Shared parts of the compaction tests: a small window, counted answers, and the sent requests. */
import { type Answer, ends, says } from '../../fakes/agents/scripted-model.js';

/** Window of 10,000 tokens: compacted above 8,350, with a notice above 7,350. */
export const WINDOW = 10_000;

export interface Body {
  readonly messages: { role: string; content: { type: string; text?: string }[] }[];
}

/** Answer to a request that the server counted as `input` tokens. */
export const answers = (text: string, input = 100): Answer => [
  says(text),
  ends('end_turn', { input, output: 0 }),
];

export const unmarked = (text: string): string =>
  text.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
