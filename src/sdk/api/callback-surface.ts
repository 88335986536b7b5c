/** Callback surface: asks a program's callbacks, and checks their answers. */
import { z } from 'zod';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
  Surface,
} from '../../protocol/permission/permission-question.js';

/** A question to a program, with the rules that a lasting answer would add. */
export interface ToolQuestion extends PermissionQuestion {
  /** Rules that a lasting answer would add. Empty if such calls need a new answer each time. */
  readonly suggestions: readonly {
    readonly scope: 'session' | 'project';
    readonly rule: string;
  }[];
}

/** Decides a call that no rule and no mode decides. If it throws, the call is denied. */
export type CanUseTool = (
  question: ToolQuestion,
  options: { readonly signal: AbortSignal },
) => PermissionAnswer | Promise<PermissionAnswer>;

/** Answers a question that the agent asks a person. If it throws, the question stays unanswered. */
export type OnQuestion = (
  question: PersonQuestion,
  options: { readonly signal: AbortSignal },
) => PersonAnswer | Promise<PersonAnswer>;

export interface Callbacks {
  readonly canUseTool?: CanUseTool | undefined;
  readonly onQuestion?: OnQuestion | undefined;
}

/** Returns the program's surface by its name. Empty if there are no callbacks. */
export const callbackSurface = ({
  canUseTool,
  onQuestion,
}: Callbacks): Readonly<Record<string, Surface>> => {
  if (canUseTool === undefined && onQuestion === undefined) return {};
  const sdk: Surface = {
    async ask(question, signal) {
      if (canUseTool === undefined) throw new Error(NO_CALLBACK);
      return checkAnswer(await canUseTool(withSuggestions(question), { signal }));
    },
    ...(onQuestion !== undefined && {
      choose: async (question, signal) => checkChoice(await onQuestion(question, { signal })),
    }),
  };
  return { sdk };
};

const withSuggestions = (question: PermissionQuestion): ToolQuestion => {
  const { grant: rule } = question;
  const scopes = ['session', 'project'] as const;
  return {
    ...question,
    suggestions: rule === undefined ? [] : scopes.map((scope) => ({ scope, rule })),
  };
};

const NO_CALLBACK = 'No canUseTool callback was given, so this call could not be allowed.';

const answer = z.discriminatedUnion('behavior', [
  z.object({
    behavior: z.literal('allow'),
    scope: z.enum(['once', 'session', 'project']).optional(),
    updatedInput: z.unknown().optional(),
  }),
  z.object({
    behavior: z.literal('deny'),
    reason: z.string().default('The call was denied.'),
    interrupt: z.boolean().optional(),
  }),
]);

/** Denies the call if the answer is not valid. */
const checkAnswer = (input: unknown): PermissionAnswer => {
  const parsed = answer.safeParse(input);
  if (parsed.success) return withoutUndefined(parsed.data);
  return {
    behavior: 'deny',
    reason: 'canUseTool returned neither { behavior: "allow" } nor { behavior: "deny", reason }.',
  };
};

/** Removes fields that the program has set to undefined. */
const withoutUndefined = (parsed: z.infer<typeof answer>): PermissionAnswer =>
  Object.fromEntries(
    Object.entries(parsed).filter(([, value]) => value !== undefined),
  ) as PermissionAnswer;

const choice = z.object({ chosen: z.array(z.string()), text: z.string().exactOptional() });

const checkChoice = (input: unknown): PersonAnswer => {
  const parsed = choice.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Error('onQuestion returned no { chosen: [labels], text? }.');
};
