/** `skein deny`: denies the call of a question. */
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { denialText } from '../../../terminal/format/format-question.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { answerOpenQuestion } from './answer-open-question.js';

export interface DenyFlags extends StoreFlags {
  readonly reason?: string;
  readonly json?: boolean;
}

const MAX_REASON_LENGTH = 4_000;

export const denyCommand = (
  query: string,
  flags: DenyFlags,
  host: TerminalHost,
): Promise<number> => {
  const reason = flags.reason?.trim() ?? '';
  if (reason.length > MAX_REASON_LENGTH) {
    throw new UsageError(`--reason is limited to ${MAX_REASON_LENGTH} characters.`);
  }
  return answerOpenQuestion(query, { behavior: 'deny', reason: denialText(reason) }, flags, host);
};
