/** Makes a tool of a program's own function: checked, judged and run like any other tool. */
import { UsageError } from '../../protocol/errors.js';
import {
  defineTool,
  type ResultBlock,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import { checkedAnswer } from './tool-answer.js';
import { checkedInput, type InputOf, type ToolInput } from './tool-input.js';

export interface ToolDefinition<Schema extends ToolInput> {
  /** What the model and permission rules call it. */
  readonly name: string;
  /** The whole text that the model reads about it: what it does, when to use it, what it returns. */
  readonly description: string;
  readonly input: Schema;
  /**
   * Does the work. What it throws is told to the model. It should stop when the signal aborts; the
   * run does not wait for one that does not.
   */
  run(
    input: InputOf<Schema>,
    context: CustomToolContext,
  ): CustomToolAnswer | Promise<CustomToolAnswer>;
  /**
   * Has no effect on anything: may run before the message has ended, and again after a crash. Agents
   * that list no tools have it too; one with effects they have only if they list it.
   */
  readonly readOnly?: boolean;
  /** May run beside other calls. By default only what is read-only does. */
  readonly concurrent?: boolean;
  /**
   * Looks at something that changes by itself, such as a deployment: it may be called again and again
   * with the same answer, where any other tool would be taken for an agent that goes in circles.
   */
  readonly polls?: boolean;
  /** What a call is about, for rules such as `Deploy(staging)`. Without it only `Deploy` matches. */
  subject?(input: InputOf<Schema>): string;
  /** The call as one short line for people. By default the name. */
  describe?(input: InputOf<Schema>): string;
}

export interface CustomToolContext {
  /** The agent's working directory. */
  readonly cwd: string;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Tells people how far it is; never reaches the model. */
  progress(note: string): void;
}

/** `isError`: it ran, but what it did failed. */
export type CustomToolAnswer =
  | string
  | readonly ResultBlock[]
  | { readonly content: string | readonly ResultBlock[]; readonly isError?: boolean };

/** Throws a UsageError when the definition cannot be used. */
export const tool = <const Schema extends ToolInput>(definition: ToolDefinition<Schema>): Tool => {
  const { name, description, readOnly = false, concurrent = readOnly, polls = false } = definition;
  checkDefinition(definition);
  const own = definition as unknown as ToolDefinition<ToolInput>;
  const about = (input: unknown) => guarded(() => own.subject?.(input as never) ?? '');
  return defineTool({
    name,
    kind: 'sdk',
    prompt: description,
    ...checkedInput(name, definition.input),
    describe: (input) => guarded(() => own.describe?.(input as never) ?? name) ?? name,
    isReadOnly: () => readOnly,
    ...(readOnly && { onlyReads: true }),
    isConcurrencySafe: () => concurrent,
    polls: () => polls,
    subject: (input) => ({ action: 'host', target: about(input) ?? '' }),
    // A rule might have been about what cannot be told now.
    checkPermissions: (input) =>
      about(input) === undefined
        ? { behavior: 'deny', reason: `What this call of ${name} is about could not be told.` }
        : undefined,
    interruptBehavior: 'cancel',
    async call(input, { cwd, signal, progress }) {
      const work = attempt(async () =>
        checkedAnswer(name, await own.run(input as never, { cwd, signal, progress })),
      );
      const { value, thrown } = await Promise.race([work, aborted(name, signal)]);
      if (value !== undefined) return value;
      throw thrown instanceof ToolFailure
        ? thrown
        : new ToolFailure(`${name} failed: ${wordsOf(thrown)}`, { cause: thrown });
    },
  });
};

/** What the API takes and permission rules can be written for. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const checkDefinition = ({ name, description, run }: ToolDefinition<ToolInput>): void => {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new UsageError(
      `"${String(name)}" cannot be the name of a tool: use up to 64 letters, digits, "_" and "-", and begin with a letter.`,
    );
  }
  if (name.startsWith('mcp__')) {
    throw new UsageError(`"${name}": names that begin with mcp__ are those of MCP servers.`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new UsageError(`The tool "${name}" needs a description, which is what the model reads.`);
  }
  if (typeof run !== 'function') throw new UsageError(`The tool "${name}" needs a function "run".`);
};

/** Undefined when the program's function failed or gave something else than text. */
const guarded = (make: () => string): string | undefined => {
  try {
    const text: unknown = make();
    return typeof text === 'string' ? text.toWellFormed() : undefined;
  } catch {
    return undefined;
  }
};

interface Attempt {
  readonly value?: ToolOutcome;
  readonly thrown?: unknown;
}

const attempt = async (work: () => Promise<ToolOutcome>): Promise<Attempt> => {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { thrown };
  }
};

const aborted = (name: string, signal: AbortSignal): Promise<Attempt> =>
  new Promise((resolve) => {
    const give = () => resolve({ thrown: new ToolFailure(`${name} was interrupted.`) });
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });

/** A program can throw anything, also what cannot be made into text. */
const wordsOf = (thrown: unknown): string => {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'it threw something that has no text';
  }
};
