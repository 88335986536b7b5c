/**
 * Completes a command line from the command tree itself. A line of output is a value, a tab and its
 * description. `:files` and `:directories` leave the completion to the shell.
 */
import type { Argument, Command, Option } from 'commander';
import { readAgentCatalog } from '../../../config/agents/agent-catalog.js';
import { promptSources } from '../../../config/agents/prompt-file.js';
import { MODEL_ALIASES } from '../../../config/settings/model-aliases.js';
import { resolveSkeinHome } from '../../../config/workspace/state-layout.js';
import { findWorkspace } from '../../../config/workspace/workspace-folders.js';
import { KNOWN_MODELS } from '../../../protocol/model/model-facts.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { openQuestions } from '../../../sdk/control/open-questions.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { liveSwarmViews, newestFirst } from '../../../views/swarm/live-sessions.js';
import { withSessionStore } from '../../session/with-session-store.js';

/** Returns completions. `words` are the words after the program's name; the last word is being typed. */
export const complete = async (
  program: Command,
  words: readonly string[],
  host: TerminalHost,
): Promise<readonly string[]> => {
  const { before, current } = split(words);
  const { command, option, operands } = walk(program, before);
  const glued = /^(--[\w-]+)=(.*)$/s.exec(current);
  if (glued !== null && option === undefined) {
    const [, flag = '', value = ''] = glued;
    const named = findOption(command, flag);
    const values = named === undefined ? [] : await valuesOf(named, host);
    return values
      .filter((candidate) => candidate.startsWith(value))
      .map((candidate) => `${flag}=${candidate}`);
  }
  const found =
    option === undefined
      ? current.startsWith('-')
        ? flagsOf(command)
        : await wordsAfter(command, operands, host)
      : await valuesOf(option, host);
  return found.filter((line) => line.startsWith(':') || line.startsWith(current));
};

/** Joins `--flag=value`, which bash passes as three words. */
const split = (words: readonly string[]) => {
  const joined = words.filter((word, index) => word !== '=' || !words[index - 1]?.startsWith('--'));
  const isOpen = words.at(-1) === '=';
  const current = isOpen ? '' : (joined.at(-1) ?? '');
  return { before: isOpen ? joined : joined.slice(0, -1), current };
};

interface CursorPosition {
  readonly command: Command;
  /** Option whose value comes next. */
  readonly option: Option | undefined;
  readonly operands: number;
}

const walk = (program: Command, words: readonly string[]): CursorPosition => {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  for (const word of words) {
    if (option !== undefined && !word.startsWith('-')) {
      if (!option.variadic) option = undefined;
      continue;
    }
    option = undefined;
    if (word.startsWith('-')) {
      const named = findOption(command, word);
      if (named?.required || named?.optional) option = named;
      continue;
    }
    // The words after `help` are command names again.
    if (word === 'help' && command === program && operands === 0) continue;
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child !== undefined && operands === 0) command = child;
    else operands += 1;
  }
  return { command, option, operands };
};

/** Returns the options of a command and its parents, because flags of a run also work after a command. */
const optionsOf = (command: Command): readonly Option[] => [
  ...command.options,
  ...(command.parent === null ? [] : optionsOf(command.parent)),
];

const findOption = (command: Command, flag: string): Option | undefined =>
  optionsOf(command).find(({ long, short }) => flag === long || flag === short);

const flagsOf = (command: Command): readonly string[] => [
  ...command.createHelp().visibleOptions(command).flatMap(lineOfOption),
];

const lineOfOption = ({ long, description }: Option): readonly string[] =>
  long ? [`${long}\t${description}`] : [];

const wordsAfter = async (
  command: Command,
  operands: number,
  host: TerminalHost,
): Promise<readonly string[]> => {
  const children = operands > 0 ? [] : command.createHelp().visibleCommands(command);
  const argument = command.registeredArguments[operands];
  return [
    ...children.map((child) => `${child.name()}\t${child.description()}`),
    ...(argument === undefined ? [] : await valuesOf(argument, host)),
  ];
};

/** Returns values by the choices, or by the name of the value: `--cwd <dir>` takes directories. */
const valuesOf = async (
  argument: Option | Argument,
  host: TerminalHost,
): Promise<readonly string[]> => {
  if (argument.argChoices !== undefined) return argument.argChoices;
  const name =
    'flags' in argument ? (/[<[]([\w-]+)/.exec(argument.flags)?.[1] ?? '') : argument.name();
  switch (name) {
    case 'model':
      return [...Object.keys(MODEL_ALIASES), ...KNOWN_MODELS];
    case 'session':
      return sessionIds(host);
    case 'agent':
      // A flag names an agent definition, an argument names a running agent.
      return 'flags' in argument ? agentNames(host) : liveAgents(host);
    case 'session-or-agent':
      return [...(await liveAgents(host)), ...(await sessionIds(host))];
    case 'question':
      return questionIds(host);
    case 'dir':
    case 'dirs':
      return [':directories'];
    case 'file':
    case 'file-or-json':
    case 'script':
      return [':files'];
    default:
      return [];
  }
};

const agentNames = async (host: TerminalHost): Promise<readonly string[]> => {
  const { cwd, home } = host;
  const workspace = findWorkspace(cwd, home);
  const settings = { workspace, skeinHome: resolveSkeinHome(host), trust: 'untrusted' as const };
  const { agents } = await readAgentCatalog(promptSources(settings, host.home));
  return agents.map(({ name, description }) => `${name}\t${plainText(description, 60)}`);
};

/** Returns running agents by name, or by id if they have no name. */
const liveAgents = async (host: TerminalHost): Promise<readonly string[]> => {
  const swarms = await queryStore(host, [], (store) => liveSwarmViews(store, () => {}));
  return swarms.flatMap(({ session, agents }) =>
    agents.map(({ id, name, type, state, description, kind }) => {
      const role = kind === 'lead' ? `lead of ${session.id}` : `${type ?? 'fork'}: ${description}`;
      return `${name ?? id}\t${plainText(`${role} (${state})`, 60)}`;
    }),
  );
};

const questionIds = async (host: TerminalHost): Promise<readonly string[]> => {
  const { questions } = await queryStore(host, { questions: [], leftOut: 0 }, (store) =>
    openQuestions(store),
  );
  return questions.map(
    ({ question: { id, description } }) => `${id}\t${plainText(description, 60)}`,
  );
};

const MAX_SESSIONS = 50;

const sessionIds = async (host: TerminalHost): Promise<readonly string[]> => {
  const all = await queryStore(host, [], (store) => store.list());
  const sessions = newestFirst(all).slice(0, MAX_SESSIONS);
  return sessions.map(({ id, title }) => `${id}\t${plainText(title, 60)}`);
};

/** Maximum time that completion waits for an unreachable store, in milliseconds. */
const STORE_LIMIT_MS = 2_000;

const queryStore = async <Result>(
  host: TerminalHost,
  fallback: Result,
  query: (store: SessionStore) => Promise<Result>,
): Promise<Result> => {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<Result>((resolve) => {
    limit = setTimeout(() => resolve(fallback), STORE_LIMIT_MS);
  });
  try {
    return await Promise.race([withSessionStore({ ...host, err: () => {} }, {}, query), late]);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return fallback;
  } finally {
    clearTimeout(limit);
  }
};
