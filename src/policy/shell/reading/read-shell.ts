/**
 * Splits a command line into all its simple commands.
 *
 * They may be in pipelines, lists, loops, functions, substitutions, here-documents, and behind wrappers. Text that
 * only the running shell knows is a doubt. The command line is then read again with the values that its own text
 * gives to variables, descriptors and substitutions, to find the unknown text.
 */
import type { ShellEnvironment, ShellPart, ShellReading } from '../shell-part.js';
import { MAX_TEXTS } from '../values/shell-values.js';
import { ShellReader } from './shell-reader.js';
import { LimitExceeded } from './word-reader.js';

/** Never throws. */
export const readShell = (
  source: string,
  cwd: string,
  environment: ShellEnvironment,
): ShellReading => {
  const reader = new ShellReader(cwd, environment);
  let failure = readWith(reader, source, cwd);
  let certain = reader;
  if (failure === undefined && reader.needsSecondReading) {
    // A loop or a function can use values that are assigned later in the text.
    certain = new ShellReader(cwd, environment, { earlier: reader });
    failure = readWith(certain, source, cwd);
  }
  const { parts, isBomb } = certain;
  const problem = failure ?? certain.syntaxError;
  return {
    source,
    parts,
    doubts: problem === undefined ? [...certain.doubts] : [problem, ...certain.doubts],
    isFailed: problem !== undefined,
    isBomb,
    rebuilt: certain.isUncertain ? rebuild(source, cwd, environment, certain) : [],
  };
};

/** Returns the parts of the command line for each value that its variables may have. */
const rebuild = (
  source: string,
  cwd: string,
  environment: ShellEnvironment,
  earlier: ShellReader,
): readonly ShellPart[] => {
  const parts: ShellPart[] = [];
  let { variants } = earlier.values;
  for (let variant = 0; variant < variants; variant++) {
    const reader = new ShellReader(cwd, environment, { earlier, variant });
    readWith(reader, source, cwd);
    parts.push(...reader.parts);
    // A rebuilt reading knows more values.
    variants = Math.min(Math.max(variants, reader.values.variants), MAX_TEXTS);
  }
  return parts;
};

/** Returns why the analysis stopped, as a sentence. Undefined if it is complete. */
const readWith = (reader: ShellReader, source: string, cwd: string): string | undefined => {
  try {
    reader.source(source, {
      dirs: { paths: [cwd], isIncomplete: false },
      wrappers: [],
      depth: 0,
      pipedFrom: [],
      stdin: undefined,
    });
    return undefined;
  } catch (error) {
    // Any other error is a defect of the parser or a stack overflow.
    return error instanceof LimitExceeded ? error.message : 'The command line cannot be analysed.';
  }
};
