/** Answers a permission question from any terminal. */
import type { PermissionAnswer } from '../../../protocol/permission/permission-question.js';
import { UsageError } from '../../../protocol/skein-error.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import {
  answerQuestion,
  openQuestions,
  questionNamed,
} from '../../../sdk/control/open-questions.js';
import { questionOutcome } from '../../../sdk/control/question-outcome.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import { formatAsker, formatPurpose } from '../../../terminal/format/format-asker.js';
import { questionFacts } from '../../../terminal/format/format-question.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { questionJson } from './inbox-command.js';

/** Answers the open question that `query` names, and prints the answer. Rejects with UsageError. */
export const answerOpenQuestion = async (
  query: string,
  decision: PermissionAnswer,
  flags: StoreFlags & { readonly json?: boolean },
  host: TerminalHost,
): Promise<number> => {
  const { open, reply } = await withSessionStore(host, flags, async (store) => {
    const { questions } = await openQuestions(store);
    const isOpen = questions.some(({ question }) => question.id.startsWith(query));
    const fate = isOpen ? undefined : await questionOutcome(store, query);
    if (fate !== undefined) throw new UsageError(fate);
    const found = questionNamed(questions, query);
    return { open: found, reply: await answerQuestion(host, store, found, decision) };
  });
  if (flags.json === true) {
    const document = { ...reply, question: questionJson(open) };
    host.out(`${JSON.stringify(document, null, 2)}\n`);
  } else if (reply.ok) {
    const { width: columns } = chartStyle(host);
    const decisionText =
      decision.behavior === 'allow' ? `Allowed (${decision.scope ?? 'once'})` : 'Denied';
    const view = { asker: '', columns, ...formatPurpose(open) };
    const [, ...facts] = questionFacts(open.question, view, '--json has it');
    const head = `${decisionText}: ${plainText(open.question.tool, 60)} for ${formatAsker(open)}`;
    host.out(`${[head, ...facts].join('\n')}\n`);
  } else host.err(`skein: ${plainText(reply.sentence, 500)}\n`);
  return reply.ok ? ExitCode.done : ExitCode.failed;
};
