/** `skein approve` and `skein deny`: the person's answer to a question, from any terminal. */
import { UsageError } from '../../../protocol/errors.js';
import type { AnswerScope, PermissionAnswer } from '../../../protocol/permission/permission.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import {
  answerQuestion,
  openQuestions,
  questionNamed,
} from '../../../sdk/control/open-questions.js';
import { questionFate } from '../../../sdk/control/question-outcome.js';
import { askerOf, purposeOf } from '../../../terminal/format/format-asker.js';
import { denialOf, questionFacts } from '../../../terminal/format/format-question.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import { withSessions } from '../inspect/with-session-store.js';
import { questionForPrograms } from './inbox-command.js';

export interface ApproveFlags extends StoreFlags {
  readonly for?: AnswerScope;
  readonly json?: boolean;
}

export interface DenyFlags extends StoreFlags {
  readonly reason?: string;
  readonly json?: boolean;
}

export const approve = (
  wanted: string,
  flags: ApproveFlags,
  machine: TerminalHost,
): Promise<number> =>
  answer(wanted, { behavior: 'allow', scope: flags.for ?? 'once' }, flags, machine);

const LONGEST_REASON = 4_000;

export const deny = (wanted: string, flags: DenyFlags, machine: TerminalHost): Promise<number> => {
  const reason = flags.reason?.trim() ?? '';
  if (reason.length > LONGEST_REASON) {
    throw new UsageError(`A reason has ${LONGEST_REASON} characters at most.`);
  }
  return answer(wanted, { behavior: 'deny', reason: denialOf(reason) }, flags, machine);
};

const answer = async (
  wanted: string,
  given: PermissionAnswer,
  flags: StoreFlags & { readonly json?: boolean },
  machine: TerminalHost,
): Promise<number> => {
  const { open, reply } = await withSessions(machine, flags, async (store) => {
    const { questions } = await openQuestions(store);
    const isOpen = questions.some(({ question }) => question.id.startsWith(wanted));
    const fate = isOpen ? undefined : await questionFate(store, wanted);
    if (fate !== undefined) throw new UsageError(fate);
    const found = questionNamed(questions, wanted);
    return { open: found, reply: await answerQuestion(machine, store, found, given) };
  });
  if (flags.json === true) {
    const document = { ...reply, question: questionForPrograms(open) };
    machine.out(`${JSON.stringify(document, null, 2)}\n`);
  } else if (reply.ok) {
    const { width: columns } = chartStyle(machine);
    const deed = given.behavior === 'allow' ? `Allowed (${given.scope ?? 'once'})` : 'Denied';
    const view = { asker: '', columns, ...purposeOf(open) };
    const [, ...facts] = questionFacts(open.question, view, '--json has it');
    const head = `${deed}: ${plainText(open.question.tool, 60)} for ${askerOf(open)}`;
    machine.out(`${[head, ...facts].join('\n')}\n`);
  } else machine.err(`skein: ${plainText(reply.sentence, 500)}\n`);
  return reply.ok ? EXIT.done : EXIT.failed;
};
