/**
 * A rough reading of a shell command: its words, and the commands it may be made of.
 *
 * This is no shell parser. It only has to err on the safe side: where it splits too much a deny or ask rule catches too much, and an allow rule too little.
 */

export interface CommandReading {
  /** Without quotes and backslashes. */
  readonly words: readonly string[];
  /** The shell would put something else in a word's place: `$HOME`, a substitution. */
  readonly dynamic: boolean;
  /** Chains, pipes, substitutions or redirections: more than one plain command. */
  readonly compound: boolean;
}

export const readCommand = (command: string): CommandReading => {
  const text = command.trim();
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  let dynamic = false;
  let compound = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (quote !== "'" && (char === '`' || (char === '$' && EXPANDS.test(next)))) {
      dynamic = true;
      compound ||= char === '`' || next === '(';
    }
    if (quote === '' && BREAK.test(char)) {
      compound ||= OPERATOR.test(char);
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === '\\' && quote !== "'") word = (word ?? '') + text.charAt(++at);
    else word = (word ?? '') + char;
  }
  if (word !== undefined) words.push(word);
  return { words, dynamic, compound };
};

/** More than one plain command; output that is merged or thrown away does not count. */
export const isCompound = (command: string): boolean =>
  readCommand(command.replaceAll(HARMLESS_REDIRECTION, ' ')).compound;

/** The command and every part of it that could be a command, with wrappers such as sudo removed. */
export const commandPieces = (command: string): readonly string[] => {
  const pieces = new Set<string>([command.trim()]);
  // To the shell `\rm` and `r''m` are `rm`: the text is read once as it stands and once without.
  const bare = command.replaceAll(/["'\\]/g, '');
  for (const part of [...command.split(SEAM), ...bare.split(SEAM)]) {
    let piece = part.trim().replaceAll(/\s+/g, ' ');
    for (let bare = unwrap(piece); bare !== piece; bare = unwrap(piece)) {
      pieces.add(piece);
      piece = bare;
    }
    if (piece !== '') pieces.add(piece);
  }
  return [...pieces];
};

const SEAM = /[;|&\n`(){}"']/;
const EXPANDS = /[\w{(@*#'"]/;
const BREAK = /[\s;|&<>()]/;
const OPERATOR = /[;|&<>\n]/;
const HARMLESS_REDIRECTION = /\d?>&\d|[\d&]?>{1,2} ?\/dev\/null(?![\w./-])/g;

const WRAPPER =
  /^(?:sudo|doas|env|command|builtin|exec|nohup|nice|time|timeout|stdbuf|setsid|xargs|then|do|else|if|while|!) (?:-\S+ |\d\S* )*/;
const ASSIGNMENT = /^[A-Za-z_]\w*=\S* /;
const FOLDER = /^[^\s/]*\/(?=\S)/;

const unwrap = (piece: string) =>
  piece.replace(WRAPPER, '').replace(ASSIGNMENT, '').replace(FOLDER, '');
