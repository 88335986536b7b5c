/** Proves that a script of sed or awk only prints. */
import { argumentsOf, hasOption, operandsOf, programOf, type ShellPart } from '../shell-part.js';

/** True if the script certainly only prints. The program must be sed or a kind of awk. */
export const isHarmlessScript = (part: ShellPart): boolean =>
  programOf(part) === 'sed' ? isHarmlessSed(part) : isHarmlessAwk(part);

const isHarmlessSed = (part: ShellPart): boolean => {
  const options = argumentsOf(part).filter(({ text }) => /^-./.test(text));
  const areKnown = options.every(({ text }) =>
    /^-[nErsuz]*e?$|^--(?:quiet|silent|regexp-extended|posix|separate|expression|sandbox)$/.test(
      text,
    ),
  );
  if (!areKnown) return false;
  return sedScripts(part).every((script) => script.split(/[;\n]/).every(isHarmlessSedCommand));
};

/** Returns the scripts: the values of `-e`, else the first operand. */
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

/** True if the delimiter stands in brackets, which some versions of sed read as a letter. */
const hidesDelimiter = (command: string): boolean => {
  const delimiter = /s([/|#,@!:%])/.exec(command)?.[1] ?? '/';
  return new RegExp(`\\[\\^?\\]?[^\\]]*[/\\${delimiter}]`).test(command);
};

const isHarmlessSedCommand = (command: string): boolean =>
  command.length < 300 && SED_COMMAND.test(command) && !hidesDelimiter(command);

/** True if the script starts no programs, opens only files that the command names, and loads no extensions. */
const isHarmlessAwk = (part: ShellPart): boolean => {
  const [script] = operandsOf(part);
  const words = argumentsOf(part).map(({ text }) => text);
  const areKnown = words.every((text) => !/^-/.test(text) || /^-F.+$|^-v\w+=.*$|^--?$/s.test(text));
  return (
    areKnown &&
    script !== undefined &&
    !/system|getline|close|ARG[VCI]|ENVIRON|PROCINFO|[|>@]/.test(script.text)
  );
};
