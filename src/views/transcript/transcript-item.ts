/** Item of an agent's transcript, as a screen shows it. */
import type { CallOutcome } from '../../protocol/session/journal-record.js';

/** Texts are not sanitised for terminals. */
export interface TranscriptItem {
  readonly kind: 'prompt' | 'text' | 'thinking' | 'call' | 'result' | 'note';
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Sender of a prompt: `user` for a person, else an agent, a hook or a job. */
  readonly from?: string;
  /** Id of the call. Calls and results only. */
  readonly call?: string;
  readonly tool?: string;
  readonly outcome?: CallOutcome;
  /** Text of the call, if the result does not directly follow it. */
  readonly callText?: string;
  /** Edits of a call that writes a file. */
  readonly edits?: readonly ShownEdit[];
  /** True for denied, failed or interrupted calls, and for failures. */
  readonly isProblem?: boolean;
  /** True while the item is being streamed. It may be discarded. */
  readonly isUnfinished?: boolean;
}

export interface ShownEdit {
  readonly before: string;
  readonly after: string;
}

export interface OpenTranscript {
  /** Oldest first. Only the end of a long transcript. Unchanged items are the same objects as before. */
  readonly items: readonly TranscriptItem[];
  /** Number of earlier items that are not in `items`. */
  readonly left: number;
  watch(listener: () => void): () => void;
  close(): void;
}

/** Maximum characters of a text in a transcript. */
export const MAX_TEXT_LENGTH = 64_000;

/** Cuts the text and appends the number of missing characters. */
export const shortened = (text: string, maxLength = MAX_TEXT_LENGTH): string =>
  text.length <= maxLength
    ? text
    : `${text.slice(0, maxLength).toWellFormed()}… (${text.length - maxLength} more characters)`;
