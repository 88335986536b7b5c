/** What an agent has said and done, piece by piece, as a screen shows it. */
import type { CallOutcome } from '../../protocol/session/journal.js';

/** Nothing in it is harmless yet: models, files and strangers wrote it. */
export interface TranscriptItem {
  readonly kind: 'prompt' | 'text' | 'thinking' | 'call' | 'result' | 'note';
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of a prompt: `user` for a person, else an agent, a hook or a job. */
  readonly from?: string;
  /** Of a call or a result. */
  readonly call?: string;
  readonly tool?: string;
  readonly outcome?: CallOutcome;
  /** Of a result that does not follow its call: what that was. */
  readonly about?: string;
  /** Of a call that writes a file. */
  readonly edits?: readonly TextEdit[];
  /** Of a result that is none (denied, failed, interrupted), and of what did not go well. */
  readonly isTrouble?: boolean;
  /** It is still being said, and may be taken back. */
  readonly isUnfinished?: boolean;
}

export interface TextEdit {
  readonly before: string;
  readonly after: string;
}

export interface OpenTranscript {
  /** Oldest first; of a long one only the end. Those are the same objects as before that have not changed. */
  readonly items: readonly TranscriptItem[];
  /** How many came before those. */
  readonly left: number;
  watch(listener: () => void): () => void;
  close(): void;
}

/** Longer texts are cut: nobody reads so much on a screen, and many are kept. */
export const LONGEST_TEXT = 64_000;

export const shortened = (text: string, longest = LONGEST_TEXT): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, longest).toWellFormed()}… (${text.length - longest} more characters)`;
