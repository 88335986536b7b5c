/** What the tests of compaction share: a small window, answers that count, and what was sent. */
import { type Answer, ends, says } from '../../fakes/agents/scripted-model.js';

/** A window of 10,000 tokens: compacted above 8,350, worth a word above 7,350. */
export const WINDOW = 10_000;

export interface Body {
  readonly messages: { role: string; content: { type: string; text?: string }[] }[];
}

/** An answer whose request the server counted as `input` tokens. */
export const answers = (text: string, input = 100): Answer => [
  says(text),
  ends('end_turn', { input, output: 0 }),
];

export const unmarked = (text: string): string =>
  text.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
