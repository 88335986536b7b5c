/** Makes a tool from a program's function. Its calls are checked and judged like all others. */
import { z } from 'zod';
import { UsageError } from '../../protocol/skein-error.js';
import {
  defineTool,
  type ResultBlock,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import { checkedInput, type InputOf, type ToolInput } from './tool-input.js';

export interface ToolDefinition<Schema extends ToolInput> {
  /** Name of the tool for the model and for permission rules. */
  readonly name: string;
  /** Description for the model: what the tool does, when to use it, and what it returns. */
  readonly description: string;
  readonly input: Schema;
  /**
   * Carries out a call. The model is told what it throws. It should stop when the signal aborts, because the
   * run does not wait for it then.
   */
  run(
    input: InputOf<Schema>,
    context: CustomToolContext,
  ): CustomToolAnswer | Promise<CustomToolAnswer>;
  /**
   * True if the tool has no effects. Such a call may run before the model's message has ended, and again after
   * a crash. Agents that list no tools get read-only tools only. Default: false.
   */
  readonly readOnly?: boolean;
  /** True if a call may run beside other calls. Default: the value of `readOnly`. */
  readonly concurrent?: boolean;
  /**
   * True if the tool polls a state that changes by itself, such as a deployment. Repeated calls with the same
   * answer then do not count as a loop. Default: false.
   */
  readonly polls?: boolean;
  /** Returns the subject of a call for rules such as `Deploy(staging)`. Default: only `Deploy` matches. */
  subject?(input: InputOf<Schema>): string;
  /** Returns one short line about the call for people. Default: the name. */
  describe?(input: InputOf<Schema>): string;
}

export interface CustomToolContext {
  /** The agent's working directory. */
  readonly cwd: string;
  /** Aborts if the run is interrupted. */
  readonly signal: AbortSignal;
  /** Shows progress to people. The model does not see it. */
  progress(note: string): void;
}

/** `isError` is true if the tool ran but its work failed. */
export type CustomToolAnswer =
  | string
  | readonly ResultBlock[]
  | { readonly content: string | readonly ResultBlock[]; readonly isError?: boolean };

/** Throws UsageError if the definition is not valid. */
export const customTool = <const Schema extends ToolInput>(
  definition: ToolDefinition<Schema>,
): Tool => {
  const { name, description, readOnly = false, concurrent = readOnly, polls = false } = definition;
  checkDefinition(definition);
  const own = definition as unknown as ToolDefinition<ToolInput>;
  const subjectOf = (input: unknown) => guarded(() => own.subject?.(input as never) ?? '');
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
    ...(definition.subject !== undefined && { hasSubject: true }),
    subject: (input) => ({ action: 'host', target: subjectOf(input) ?? '' }),
    // Denied because a deny rule for the unknown subject may exist.
    checkPermissions: (input) =>
      subjectOf(input) === undefined
        ? {
            behavior: 'deny',
            reason: `The subject of this call of ${name} could not be determined.`,
          }
        : undefined,
    interruptBehavior: 'cancel',
    async call(input, { cwd, signal, progress }) {
      const work = attempt(async () =>
        checkToolAnswer(name, await own.run(input as never, { cwd, signal, progress })),
      );
      const { value, thrown } = await Promise.race([work, aborted(name, signal)]);
      if (value !== undefined) return value;
      throw thrown instanceof ToolFailure
        ? thrown
        : new ToolFailure(`${name} failed: ${textOfThrown(thrown)}`, { cause: thrown });
    },
  });
};

/** Names that the API accepts and that permission rules can contain. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const checkDefinition = ({ name, description, run }: ToolDefinition<ToolInput>): void => {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new UsageError(
      `"${String(name)}" cannot be the name of a tool: use up to 64 letters, digits, "_" and "-", and begin with a letter.`,
    );
  }
  if (name.startsWith('mcp__')) {
    throw new UsageError(`"${name}": names that begin with mcp__ are reserved for MCP servers.`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new UsageError(`The tool "${name}" needs a description for the model.`);
  }
  if (typeof run !== 'function') throw new UsageError(`The tool "${name}" needs a function "run".`);
};

/** Returns undefined if the program's function throws or does not return text. */
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

/** Returns the text of a thrown value, which may be of any type and have no text. */
const textOfThrown = (thrown: unknown): string => {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'it threw a value without a message';
  }
};

/** Maximum base64 characters of an image or document. Servers refuse more. */
const MAX_DATA = 32 * 1024 * 1024;
const MAX_BLOCKS = 100;

const data = z
  .string()
  .min(1)
  .max(MAX_DATA)
  .refine((text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text), { error: 'it is not base64' });

const source = <Media extends z.ZodType>(media_type: Media) =>
  z.object({ type: z.literal('base64'), media_type, data });

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: source(z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])),
  }),
  z.object({ type: z.literal('document'), source: source(z.literal('application/pdf')) }),
]);

const content = z.union([z.string(), z.array(block).max(MAX_BLOCKS)]);
const outcome = z.object({ content, isError: z.boolean().optional() });

/** Throws ToolFailure for blocks that servers refuse, because the history could never be sent again. */
const checkToolAnswer = (tool: string, answer: unknown): ToolOutcome => {
  const normalized =
    typeof answer === 'string' || Array.isArray(answer) ? { content: answer } : answer;
  const parsed = outcome.safeParse(normalized);
  if (!parsed.success) {
    throw new ToolFailure(
      `${tool} ran, but its return value is not valid: it must be text, or a list of text, image and document blocks. Its effect may have happened.`,
    );
  }
  const { content: answered, isError } = parsed.data;
  return {
    content: typeof answered === 'string' ? answered : answered.filter(isNotEmpty),
    ...(isError === true && { isError }),
  };
};

/** False for a text block without text, which servers refuse. */
const isNotEmpty = (content: z.infer<typeof block>): boolean =>
  content.type !== 'text' || content.text !== '';
