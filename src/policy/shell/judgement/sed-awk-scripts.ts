/** Scripts of sed and awk that only print: what is not surely harmless is not. */
import { argumentsOf, hasOption, operandsOf, type ShellPart } from '../shell-part.js';

export const isHarmlessSed = (part: ShellPart): boolean => {
  const options = argumentsOf(part).filter(({ text }) => /^-./.test(text));
  const isKnown = options.every(({ text }) =>
    /^-[nErsuz]*e?$|^--(?:quiet|silent|regexp-extended|posix|separate|expression|sandbox)$/.test(
      text,
    ),
  );
  if (!isKnown) return false;
  return sedScripts(part).every((script) => script.split(/[;\n]/).every(isHarmlessSedCommand));
};

/** With `-e` every operand may be one; the names of files would have to look like scripts too. */
const sedScripts = (part: ShellPart): readonly string[] => {
  const operands = operandsOf(part).map(({ text }) => text);
  if (!hasOption(part, 'e', 'expression')) return operands.slice(0, 1);
  const words = argumentsOf(part).map(({ text }) => text);
  return words.filter((_, index) => /^(?:-[nErsuz]*e|--expression)$/.test(words[index - 1] ?? ''));
};

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?)`;
const SED_COMMAND = new RegExp(
  String.raw`^\s*(?:${ADDRESS}(?:\s*,\s*(?:[+~]?\d+|${ADDRESS}))?)?\s*!?\s*(?:[pdqlnNDPgGhHx=]|q\d+|s([/|#,@!:%])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gpiI\d]*)?\s*$`,
);

/** Some take a mark between brackets for a letter: then the command ends elsewhere. */
const hidesMark = (command: string): boolean => {
  const mark = /s([/|#,@!:%])/.exec(command)?.[1] ?? '/';
  return new RegExp(`\\[\\^?\\]?[^\\]]*[/\\${mark}]`).test(command);
};

const isHarmlessSedCommand = (command: string): boolean =>
  command.length < 300 && SED_COMMAND.test(command) && !hidesMark(command);

/** No programs, no files but those that are named, and no extensions. */
export const isHarmlessAwk = (part: ShellPart): boolean => {
  const [script] = operandsOf(part);
  const words = argumentsOf(part).map(({ text }) => text);
  const isKnown = words.every((text) => !/^-/.test(text) || /^-F.+$|^-v\w+=.*$|^--?$/s.test(text));
  return (
    isKnown &&
    script !== undefined &&
    !/system|getline|close|ARG[VCI]|ENVIRON|PROCINFO|[|>@]/.test(script.text)
  );
};
