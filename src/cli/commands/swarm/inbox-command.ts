/** `skein inbox`: lists the open questions of running swarms. */
import { redact } from '../../../policy/redaction/redact.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { type OpenQuestion, openQuestions } from '../../../sdk/control/open-questions.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import { formatAsker, formatPurpose } from '../../../terminal/format/format-asker.js';
import { questionFacts } from '../../../terminal/format/format-question.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plural } from '../../../terminal/text/format-number.js';
import { formatAge, formatIsoTime } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { displayName } from '../../../views/swarm/swarm-view.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface InboxFlags extends StoreFlags {
  readonly json?: boolean;
}

export const inboxCommand = async (
  query: string | undefined,
  flags: InboxFlags,
  host: TerminalHost,
): Promise<number> => {
  const { questions, leftOut } = await withSessionStore(host, flags, async (store) => {
    const session = query === undefined ? undefined : await findSession(store, query, host.cwd);
    return openQuestions(store, session);
  });
  if (flags.json === true) {
    const document = { questions: questions.map(questionJson), leftOut };
    host.out(`${JSON.stringify(document, null, 2)}\n`);
    return ExitCode.done;
  }
  const { width } = chartStyle(host);
  host.out(questions.map((open) => `${questionText(open, width)}\n`).join('\n'));
  if (questions.length === 0) host.err('No question is open.\n');
  if (leftOut > 0) host.err(`${plural(leftOut, 'question')} could not be read.\n`);
  return ExitCode.done;
};

const questionText = (open: OpenQuestion, columns: number): string => {
  const { question, agent } = open;
  const { id, grant, askedAt } = question;
  const asker = agent === undefined ? 'An agent' : capital(plainText(displayName(agent), 60));
  const scope = grant === undefined ? '' : ' [--for session|project]';
  return [
    `${id}  ${formatAge(Date.now() - askedAt)}  ${formatAsker(open)}`,
    ...questionFacts(question, { asker, columns, ...formatPurpose(open) }, '--json has it'),
    `  skein approve ${id}${scope}`,
    `  skein deny ${id} [--reason "…"]`,
  ].join('\n');
};

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Returns a question as JSON. The keys are a contract. `input` is exactly what an answer is about. */
export const questionJson = ({ question, session, agent, above }: OpenQuestion) => {
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
    /** Ancestors of the asking agent: the lead first, its parent last. */
    for: above.map(({ id: agentId, name, type, kind, description: task }) => {
      return { agent: agentId, name, type, kind, task };
    }),
    tool,
    description: redact(description),
    input,
    inputDigest,
    reason,
    risk,
    cwd,
    blockedPath: question.blockedPath ?? null,
    /** File that a Write call would replace. */
    replaces: question.replaces ?? null,
    /** Rule that `--for session` and `--for project` would add. */
    grant: question.grant ?? null,
    askedAt: formatIsoTime(askedAt),
    ageMs: Math.max(0, Date.now() - askedAt),
  };
};
