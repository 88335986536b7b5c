/** A program's callbacks as the surface that the house asks. Their answers are checked. */
import { z } from 'zod';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
  Surface,
} from '../../protocol/permission/permission.js';

/** A question to a program, with what a lasting answer would come to. */
export interface ToolQuestion extends PermissionQuestion {
  /** Empty where such calls are asked about each time. */
  readonly suggestions: readonly {
    readonly scope: 'session' | 'project';
    /** The rule that is added. */
    readonly rule: string;
  }[];
}

/** Decides a call that no rule and no mode decides. One that throws has denied. */
export type CanUseTool = (
  question: ToolQuestion,
  options: { readonly signal: AbortSignal },
) => PermissionAnswer | Promise<PermissionAnswer>;

/** Answers a question that the agent puts to a person. One that throws does not want to. */
export type OnQuestion = (
  question: PersonQuestion,
  options: { readonly signal: AbortSignal },
) => PersonAnswer | Promise<PersonAnswer>;

export interface Callbacks {
  readonly canUseTool?: CanUseTool | undefined;
  readonly onQuestion?: OnQuestion | undefined;
}

/** The program as a surface by its name; none when nobody answers anything. */
export const callbackSurface = ({
  canUseTool,
  onQuestion,
}: Callbacks): Readonly<Record<string, Surface>> => {
  if (canUseTool === undefined && onQuestion === undefined) return {};
  const sdk: Surface = {
    async ask(question, signal) {
      if (canUseTool === undefined) throw new Error(NOBODY);
      return checked(await canUseTool(withSuggestions(question), { signal }));
    },
    ...(onQuestion !== undefined && {
      choose: async (question, signal) => chosen(await onQuestion(question, { signal })),
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

const NOBODY = 'No canUseTool callback was given, so nobody could allow this call.';

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

/** Whatever is not clearly a yes is a no. */
const checked = (given: unknown): PermissionAnswer => {
  const parsed = answer.safeParse(given);
  if (parsed.success) return said(parsed.data);
  return {
    behavior: 'deny',
    reason: 'canUseTool gave neither { behavior: "allow" } nor { behavior: "deny", reason }.',
  };
};

/** Options that a program has set to undefined are left out. */
const said = (given: z.infer<typeof answer>): PermissionAnswer =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as PermissionAnswer;

const choice = z.object({ chosen: z.array(z.string()), text: z.string().exactOptional() });

const chosen = (given: unknown): PersonAnswer => {
  const parsed = choice.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Error('onQuestion gave no { chosen: [labels], text? }.');
};
