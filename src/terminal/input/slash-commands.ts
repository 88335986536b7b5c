/** Lines that begin with a slash: what they are called, what they say they do, how they are read. */

export const COMMANDS = [
  { name: 'help', arguments: '', help: 'what you can do here' },
  { name: 'clear', arguments: '', help: 'begin the conversation anew' },
  { name: 'compact', arguments: '[what to keep]', help: 'summarise the older messages now' },
  {
    name: 'mode',
    arguments: '[mode]',
    help: 'what needs no question: default, plan, acceptEdits …',
  },
  { name: 'resume', arguments: '[number or id]', help: 'go on with a former session' },
  { name: 'rewind', arguments: '[number or undo]', help: 'take files and conversation back' },
  { name: 'cost', arguments: '', help: 'what this session has used so far' },
  { name: 'context', arguments: '', help: 'what fills the context window' },
  { name: 'exit', arguments: '', help: 'leave; /quit does the same' },
] as const;

export type CommandName = (typeof COMMANDS)[number]['name'];

export type TypedLine =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'command'; readonly name: CommandName; readonly rest: string }
  | { readonly kind: 'unknown'; readonly name: string };

/** `//` at the start stands for a prompt that begins with one slash. */
export const readLine = (line: string): TypedLine => {
  const text = line.trim();
  if (text.startsWith('//')) return { kind: 'prompt', text: text.slice(1) };
  if (!text.startsWith('/')) return { kind: 'prompt', text };
  const [word = ''] = text.slice(1).split(/\s/, 1);
  const rest = text.slice(1 + word.length).trim();
  const wanted = word.toLowerCase() === 'quit' ? 'exit' : word.toLowerCase();
  const known = COMMANDS.find(({ name }) => name === wanted);
  return known === undefined
    ? { kind: 'unknown', name: word }
    : { kind: 'command', name: known.name, rest };
};

export const explainUnknown = (name: string): string =>
  `There is no /${name}. There is ${COMMANDS.map((command) => `/${command.name}`).join(', ')}; a prompt that begins with a slash is typed with two.`;

const KEYS = `
Enter sends. A line that ends with a backslash, or Alt-Enter, goes on with another line.
Up and down bring back earlier prompts, Ctrl-R searches them.
Esc or Ctrl-C interrupts the agent. Ctrl-D, or Ctrl-C twice, leaves.
What you send while the agent works reaches it with its next step.`;

const SCREEN = `${KEYS}
Tab takes a suggestion, or turns to a question that waits; Ctrl-Y does that while you type.
Ctrl-O shows what calls did, Ctrl-S the swarm, Shift-Tab changes the permission mode.
@ names a file, and the path of an image shows it to the model.`;

const LINES = `
Each line is sent when it ends. """ on a line of its own begins and ends a prompt of several lines;
a line that ends with a backslash goes on with the next.
Ctrl-C interrupts the agent, and twice leaves; Ctrl-D leaves.`;

const WAYS = { lines: LINES, keys: KEYS, screen: SCREEN };

/** How a person types here. */
export type Typing = keyof typeof WAYS;

export const helpText = (typing: Typing): string => {
  const name = (command: (typeof COMMANDS)[number]) => `/${command.name} ${command.arguments}`;
  const width = Math.max(...COMMANDS.map((command) => name(command).length));
  const table = COMMANDS.map((command) => `  ${name(command).padEnd(width)}  ${command.help}`);
  return `${table.join('\n')}\n${WAYS[typing]}\n`;
};
