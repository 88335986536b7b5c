/** `skein approve`: allows the call of a question. */
import type { AnswerScope } from '../../../protocol/permission/permission-question.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { answerOpenQuestion } from './answer-open-question.js';

export interface ApproveFlags extends StoreFlags {
  readonly for?: AnswerScope;
  readonly json?: boolean;
}

export const approveCommand = (
  query: string,
  flags: ApproveFlags,
  host: TerminalHost,
): Promise<number> =>
  answerOpenQuestion(query, { behavior: 'allow', scope: flags.for ?? 'once' }, flags, host);
