/** `skein inbox`: the questions of all running swarms that wait for an answer. */
import { redact } from '../../../policy/redaction/redaction.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { type OpenQuestion, openQuestions } from '../../../sdk/control/open-questions.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import { askerOf, purposeOf } from '../../../terminal/format/format-asker.js';
import { questionFacts } from '../../../terminal/format/format-question.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { plural } from '../../../terminal/text/format-numbers.js';
import { isoTime, shortAge } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { calledOf } from '../../../views/swarm/swarm-view.js';
import { EXIT } from '../../run/exit-code.js';
import { withSessions } from '../inspect/with-session-store.js';

export interface InboxFlags extends StoreFlags {
  readonly json?: boolean;
}

export const showInbox = async (
  wanted: string | undefined,
  flags: InboxFlags,
  machine: TerminalHost,
): Promise<number> => {
  const { questions, leftOut } = await withSessions(machine, flags, async (store) => {
    const session =
      wanted === undefined ? undefined : await sessionNamed(store, wanted, machine.cwd);
    return openQuestions(store, session);
  });
  if (flags.json === true) {
    const document = { questions: questions.map(questionForPrograms), leftOut };
    machine.out(`${JSON.stringify(document, null, 2)}\n`);
    return EXIT.done;
  }
  const { width } = chartStyle(machine);
  machine.out(questions.map((open) => `${questionText(open, width)}\n`).join('\n'));
  if (questions.length === 0) machine.err('No question is open.\n');
  if (leftOut > 0) machine.err(`${plural(leftOut, 'question')} could not be read.\n`);
  return EXIT.done;
};

const questionText = (open: OpenQuestion, columns: number): string => {
  const { question, agent } = open;
  const { id, grant, askedAt } = question;
  const asker = agent === undefined ? 'An agent' : capital(plainText(calledOf(agent), 60));
  const scope = grant === undefined ? '' : ' [--for session|project]';
  return [
    `${id}  ${shortAge(Date.now() - askedAt)}  ${askerOf(open)}`,
    ...questionFacts(question, { asker, columns, ...purposeOf(open) }, '--json has it'),
    `  skein approve ${id}${scope}`,
    `  skein deny ${id} [--reason "…"]`,
  ].join('\n');
};

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** The keys are a contract: programs read them. The input is what an answer would be about, to the byte. */
export const questionForPrograms = ({ question, session, agent, above }: OpenQuestion) => {
  const { id, call, tool, description, input, inputDigest, reason, risk, cwd, askedAt } = question;
  return {
    id,
    session: session.id,
    agent: question.agent,
    call,
    name: agent?.name ?? null,
    type: agent?.type ?? null,
    kind: agent?.kind ?? null,
    task: agent?.description ?? null,
    parent: above.at(-1)?.id ?? null,
    /** For whom it asks: the lead first, its parent last. */
    for: above.map(({ id: one, name, type, kind, description: task }) => {
      return { agent: one, name, type, kind, task };
    }),
    tool,
    description: redact(description),
    input,
    inputDigest,
    reason,
    risk,
    cwd,
    blockedPath: question.blockedPath ?? null,
    /** The file that a Write would replace. */
    replaces: question.replaces ?? null,
    /** The rule that --for session and --for project would keep. */
    grant: question.grant ?? null,
    askedAt: isoTime(askedAt),
    ageMs: Math.max(0, Date.now() - askedAt),
  };
};
