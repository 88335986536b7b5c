/** Slash commands of the interactive session: names, help texts, and parsing of typed lines. */

export const SLASH_COMMANDS = [
  { name: 'help', arguments: '', help: 'what you can do here' },
  { name: 'clear', arguments: '', help: 'start a new conversation' },
  { name: 'compact', arguments: '[what to keep]', help: 'summarise the older messages now' },
  {
    name: 'mode',
    arguments: '[mode]',
    help: 'what needs no question: default, plan, acceptEdits …',
  },
  { name: 'resume', arguments: '[number or id]', help: 'resume an earlier session' },
  { name: 'rewind', arguments: '[number or undo]', help: 'rewind files and conversation' },
  { name: 'cost', arguments: '', help: 'what this session has used so far' },
  { name: 'context', arguments: '', help: 'what fills the context window' },
  { name: 'exit', arguments: '', help: 'leave; /quit does the same' },
] as const;

type CommandName = (typeof SLASH_COMMANDS)[number]['name'];

export type TypedLine =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'command'; readonly name: CommandName; readonly rest: string }
  | { readonly kind: 'unknown'; readonly name: string };

/** Parses a typed line. `//` at its start stands for a prompt that starts with one slash. */
export const parseTypedLine = (line: string): TypedLine => {
  const text = line.trim();
  if (text.startsWith('//')) return { kind: 'prompt', text: text.slice(1) };
  if (!text.startsWith('/')) return { kind: 'prompt', text };
  const [word = ''] = text.slice(1).split(/\s/, 1);
  const rest = text.slice(1 + word.length).trim();
  const commandName = word.toLowerCase() === 'quit' ? 'exit' : word.toLowerCase();
  const command = SLASH_COMMANDS.find(({ name }) => name === commandName);
  return command === undefined
    ? { kind: 'unknown', name: word }
    : { kind: 'command', name: command.name, rest };
};

export const explainUnknown = (name: string): string =>
  `There is no /${name}. Commands: ${SLASH_COMMANDS.map((command) => `/${command.name}`).join(', ')}. Type two slashes to start a prompt with a slash.`;

const KEYS = `
Enter sends. A backslash at the end of a line, or Alt-Enter, adds a line.
Up and down bring back earlier prompts, Ctrl-R searches them.
Esc or Ctrl-C interrupts the agent. Ctrl-D, or Ctrl-C twice, leaves.
Prompts that you send during a run reach the agent with its next step.`;

const SCREEN = `${KEYS}
Tab takes a suggestion or opens a waiting question; Ctrl-Y opens it while you type.
Ctrl-O shows finished calls, Ctrl-S the swarm, Shift-Tab changes the permission mode.
@ names a file. The path of an image attaches the image.`;

const LINES = `
Enter sends the line. """ on a line of its own starts and ends a prompt of several lines;
a backslash at the end of a line adds the next line.
Ctrl-C interrupts the agent, and twice leaves; Ctrl-D leaves.`;

const HELP_BY_MODE = { lines: LINES, keys: KEYS, screen: SCREEN };

/** How input is read: whole lines, single keys, or keys on a screen. */
export type InputMode = keyof typeof HELP_BY_MODE;

export const helpText = (mode: InputMode): string => {
  const name = (command: (typeof SLASH_COMMANDS)[number]) =>
    `/${command.name} ${command.arguments}`;
  const width = Math.max(...SLASH_COMMANDS.map((command) => name(command).length));
  const table = SLASH_COMMANDS.map(
    (command) => `  ${name(command).padEnd(width)}  ${command.help}`,
  );
  return `${table.join('\n')}\n${HELP_BY_MODE[mode]}\n`;
};
